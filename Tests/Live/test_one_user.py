"""The bounds of one ordinary user (Benchmarks.md, "Bounds of one user"), by the table of
amplifications. The tests compare rows, bytes, memory and counts, which do not depend on the
machine's speed."""
import pytest
from amplifications import TABLE

from harness.amplification import measure
from harness.bystander import Bystander

pytestmark = [pytest.mark.files, pytest.mark.one_process("it measures the memory and time of a process")]


def cases():
    for one in TABLE.values():
        marks = [pytest.mark.xfail(strict=False, reason=one.pending)] if one.pending else []
        yield pytest.param(one, marks=marks, id=one.name)


@pytest.fixture(scope="module")
def bystander():
    process = Bystander()
    yield process
    process.close()


def test_the_table_is_long_enough():
    assert len(TABLE) >= 50
    assert all(one.request for one in TABLE.values())


@pytest.mark.campaign
@pytest.mark.parametrize("one", list(cases()))
async def test_one_user_stays_within_the_bounds(one, tmp_path, bystander):
    found = await measure(one, tmp_path / "data", bystander)
    assert found.alive, "the server lives"
    assert not found.failed(), "whatever one user does, others' messages are stored and others can sign in"
    assert one.is_anonymous or found.served > 0.02, f"the attack is one: {found.refused}"
    assert not found.excesses(one.bounds), found.rows_by_table
