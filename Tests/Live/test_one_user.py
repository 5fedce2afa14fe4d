"""Contract 10.7: what one ordinary user can cause, by the table of amplifications. Nothing here is about time: what is compared are
rows, bytes, memory and counts, which a slow machine does not change."""
import pytest
from amplifications import TABLE

from harness.amplification import BURST, RATE, measure
from harness.bystander import Bystander
from harness.footprint import MEBIBYTE

# A commit writes whole pages to the log, and a checkpoint once more: so much is nobody's in particular.
WRITTEN_BY_ITSELF = 4 * MEBIBYTE


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


@pytest.mark.parametrize("one", list(cases()))
async def test_one_user_stays_within_the_bounds(one, tmp_path, bystander):
    found = await measure(one, tmp_path / "data", bystander)
    assert found.alive, "the server lives"
    assert found.sent or found.sign_ins or found.closed, "the attacker came to act"
    assert not found.failed(), "whatever one user does, others' messages are stored and others can sign in"
    bounds, work = one.bounds, found.work
    assert found.accepted + found.sign_ins <= BURST + RATE * found.seconds + 1, "the rate is the user's, over all sessions"
    assert found.rows <= bounds.spare_rows + bounds.rows * work, found.rows_by_table
    assert found.written <= WRITTEN_BY_ITSELF + bounds.written * work
    assert found.answered <= bounds.answered * max(1, found.sent + found.sign_ins)
    assert found.memory_peak <= bounds.memory
