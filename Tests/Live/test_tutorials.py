"""The tutorials, run from their own blocks of code: `harness/tutorial.py` says how."""
import os
import shutil

import pytest

from harness.driven import has_node
from harness.limits import can_start_clusters
from harness.tutorial import CATALOGUE, blocks, lines_of, pattern_of

PAGES = sorted((CATALOGUE / "Tutorials").glob("*.md"))


@pytest.mark.one_process("the pages show the output of one process")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", [
    pytest.param(page, id=page.stem, marks=[pytest.mark.heavy] if "Scripts/cluster" in page.read_text() else [])
    for page in PAGES
])
async def test_a_tutorial_does_what_it_shows(reader, page):
    text = page.read_text()
    if "```javascript" in text and not has_node():
        pytest.skip("there is no Node with a WebSocket")
    programs = f"{os.environ['PATH']}{os.pathsep}/usr/sbin"
    missing = [name for name in ("nats-server", "haproxy", "ss") if not shutil.which(name, path=programs)]
    if "Scripts/cluster" in text and missing:
        pytest.skip(f"not installed: {missing} (Scripts/install-packages cluster)")
    if "Scripts/cluster" in text and not can_start_clusters():
        pytest.skip("PostgreSQL does not work for root, and user namespaces are off")
    await reader.read(text)
    assert reader.shown_by_git() == []


def test_the_tutorials_are_there():
    assert [page.stem for page in PAGES] == [
        "Classroom", "FirstMessage", "MovingFromTencent", "ThreeNodes", "VoiceRoom", "WorkChat"]


# The runner itself: it fails where a page is wrong.

COMMAND = "In terminal 1:\n\n```bash\n{}\n```\n\nIt says\n\n```text\n{}\n```\n"


@pytest.mark.parametrize("command, said", [
    ("echo one; echo two", "one\ntwo"), ("echo one; echo two", "one\n…"), ("echo one; echo two", "…\ntwo"),
    ("echo a1b", "a…b"), ("""echo '{"a": [1,'; echo '  2]}'""", '{"a":\n    [1, 2]}'),
])
async def test_a_page_that_is_right(reader, command, said):
    await reader.read(COMMAND.format(command, said))


@pytest.mark.parametrize("command, said", [
    ("echo one; echo two", "one"), ("echo one", "one\ntwo"), ("echo one; echo two", "two\none"), ("echo ab", "a"),
    ("echo ab", "b"), ("false", ""), ("echo one; false", "one"),
])
async def test_a_page_that_is_wrong(reader, command, said):
    with pytest.raises(AssertionError):
        await reader.read(COMMAND.format(command, said))


@pytest.mark.parametrize("page", ["```\nx\n```\n", "```python\nprint(1)\n```\n", "Then\n\n    throng serve\n", "```bash\nx\n"])
def test_a_page_with_code_that_would_not_be_run(page):
    with pytest.raises(AssertionError):
        assert all(block.file for block in blocks(page))


async def test_git_shows_what_no_page_makes(reader):
    await reader.read(COMMAND.format("mkdir throng-data; touch throng-data/x sign.py other.py", ""))
    assert reader.shown_by_git() == ["other.py"]


async def test_a_second_terminal_and_the_text_of_the_first(reader):
    await reader.read("""In terminal 1, until Ctrl-C:

```bash
mkfifo pipe; echo ready; cat pipe; exec tail -f /dev/null
```
```text
ready
```
In terminal 2

```bash
echo hello > pipe
```
Terminal 1 says

```text
hello
```
""")


def test_white_space_does_not_count():
    assert lines_of("a b\n  c\n\nd\n}") == ["abc", "d}"]
    assert pattern_of("a…\n…\nb").fullmatch("a1\nx\ny\nb\n")
