"""The pages with commands besides the tutorials: what SignIn.md, Backend.md and Moderation.md show is run by
`harness/tutorial.py`, and the commands of the others are there."""
import re

import pytest

from harness.driven import has_node
from harness.server import REPOSITORY, run_throng
from harness.tutorial import CATALOGUE, FILES, blocks


@pytest.mark.one_process("the pages show the output of one process")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", ["SignIn", "Backend", "Moderation"])
async def test_a_page_does_what_it_shows(reader, page):
    text = (CATALOGUE / f"{page}.md").read_text()
    if "```javascript\n" in text and not has_node():
        pytest.skip("there is no Node")
    await reader.read(text, is_whole=False)
    assert reader.shown_by_git() == []


def test_git_passes_over_the_files_of_all_pages():
    """Also of those that other tests run in directories of their own."""
    ignored = set((REPOSITORY / ".gitignore").read_text().splitlines())
    made = {
        block.file for page in CATALOGUE.rglob("*.md") for block in blocks(page.read_text(), is_whole=False)
        if block.language in FILES and re.match(r"(?://|#|<!--) [\w.-]+\.\w+\n", block.text)}
    assert len(made) > 20 and sorted(name for name in made if f"/{name}" not in ignored) == []


@pytest.mark.parametrize("page, least", [("Limits", 1), ("Sizing", 4), ("Troubleshooting", 2)])
def test_the_commands_of_a_page_are_there(page, least):
    commands = re.findall(r"^    throng ([^#|\n]+)", (CATALOGUE / f"{page}.md").read_text(), re.MULTILINE)
    assert len(commands) >= least
    for command in commands:
        words = command.split()
        options = [word for word in words if word.startswith("--")]
        verb = words[:words.index(options[0])] if options else words
        done = run_throng(*verb, "--help")
        assert done.returncode == 0 and [one for one in options if one not in done.stdout] == [], (command, done)


def test_the_metrics_of_a_page_are_those_of_the_server():
    name = re.compile(r"\bthrong_[a-z_]+\b")
    known = set(name.findall((CATALOGUE / "Operations.md").read_text().split("\n## Metrics\n")[1]))
    for page in ("Sizing", "Troubleshooting"):
        named = set(name.findall((CATALOGUE / f"{page}.md").read_text()))
        assert named and named <= known, page
