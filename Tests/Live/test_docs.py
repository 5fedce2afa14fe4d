"""Scripts/docs: the site of the documentation, its address, its versions, the search of its text and the check of its links
(Scripts/docs-search), and what every page has."""
import importlib.util
import json
import re
import select
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from typing import NamedTuple

import pytest

from harness.server import REPOSITORY

# The site is built once, by the worker of the heavy tests.
pytestmark = pytest.mark.heavy
PATIENCE = 300
SEARCH = REPOSITORY / "Scripts/docs-search"
# The sections that a reader of one of these words is glad to see first, by the page and the heading.
FIRST = {
    "scale": r"How do I scale|(Many nodes|Capacity and sizing).*|Operations › Store › Several nodes",
    "token": r".*\bTokens|Sign-in and tokens.*",
    "reconnect": r"What happens when my client reconnects|Protocol › Delivery guarantees › Reconnecting|(Client libraries|A whole chat page|Troubleshooting) › .*",
    "limit": r"Protocol › Limits|Limits.*",
    "moderation": r"Protocol › Members › Removal and bans|Moderation.*",
    "webhook": r"(Protocol|Operations) › Webhooks.*",
    "ban": r"Protocol › Members › Removal and bans|Moderation.*",
    "docker": r"Getting started › In a container|Operations › Running as a service( › The image)?",
    "tls": r"Operations › Listeners › TLS",
    "backup": r"Operations › Store › Copies",
}
FINDS = """
import { readFileSync } from 'node:fs';
import { excerpt, find, load } from '%s';
const index = load(JSON.parse(readFileSync(process.argv[2], 'utf8')));
console.log(JSON.stringify(process.argv.slice(3).map((query) => find(index, query).map(
  ({url, path, text}) => ({url, path: path.join(' › '), excerpt: excerpt(index, text, query)})))));
"""


class Site(NamedTuple):
    """`directory` is that of the version."""

    directory: object
    address: str
    version: str


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `Scripts/docs --serve` builds it and serves it."""
    if not (shutil.which("docc") or shutil.which("swift")):
        pytest.skip("there is no docc")
    directory = tmp_path_factory.mktemp("docs") / "site"
    process = subprocess.Popen(
        [REPOSITORY / "Scripts/docs", "--serve", "0", "--into", directory], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said, deadline = b"", time.monotonic() + PATIENCE
    while not (address := re.search(rb"^docs: (http://\S+)", said, re.M)):
        assert time.monotonic() < deadline and process.poll() is None, said.decode()
        if select.select([process.stdout], [], [], 0.5)[0]:
            said += process.stdout.read1()
    version = re.search(r"/(\d+\.\d+\.\d+)/documentation/throng/$", address[1].decode())[1]
    yield Site(directory / version, address[1].decode(), version)
    process.terminate()
    assert process.wait(60) == 0
    process.stdout.close()


def get(address):
    """The status and the text of an answer; redirects are followed."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(address, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


def find(directory, tmp_path, *queries):
    """What the search's own script finds for each of these."""
    if not shutil.which("node"):
        pytest.skip("there is no Node")
    script = tmp_path / "find.mjs"
    script.write_text(FINDS % (SEARCH / "search.mjs").as_uri())
    index = directory / "search/index.json"
    done = subprocess.run(["node", script, index, *queries], capture_output=True, text=True, check=True)
    return dict(zip(queries, json.loads(done.stdout)))


def test_the_address_that_it_prints_is_that_of_the_first_page(site):
    status, page = get(site.address)
    assert status == 200 and '<div id="app">' in page and 'id="search-box"' in page
    root = site.address.removesuffix("documentation/throng/")
    assert root != site.address
    status, page = get(root)
    assert status == 200 and 'url=documentation/throng/"' in page, "the root of the version leads there"
    status, page = get(root.removesuffix(f"{site.version}/"))
    assert status == 200 and f'url={site.version}/documentation/throng/"' in page, "the root leads there"
    assert get(f"{root}search/")[0] == get(f"{root}search/page.mjs")[0] == 200


def test_each_of_ten_words_finds_a_page_for_it_first(site, tmp_path):
    found = find(site.directory, tmp_path, *FIRST)
    first = {word: rows[0]["path"] if rows else None for word, rows in found.items()}
    wrong = {word: path for word, path in first.items() if not re.fullmatch(FIRST[word], path or "")}
    assert wrong == {}


def test_a_query_has_to_match_as_a_whole_and_shows_where(site, tmp_path):
    found = find(site.directory, tmp_path, "auth.jwksFile", "zzzz", "backup zzzz", "", "COPIES")
    assert found["auth.jwksFile"][0]["path"] == "Configuration › Configuration keys › Credentials"
    assert found["zzzz"] == found["backup zzzz"] == found[""] == []
    (copies,) = [row for row in found["COPIES"] if row["path"] == "Operations › Store › Copies"]
    assert any(part.lower() in ("copy", "copies") for part in copies["excerpt"][1::2])


def test_a_message_finds_the_section_that_quotes_it(site, tmp_path):
    quoted = {
        "no server answers, or it refuses the  connection": "The WebSocket does not open",
        "The lease of this node cannot be renewed": "It runs and is not ready",
        "a webhook was given up": "Lines of the log › The log of webhooks", "not signed in in time": "A connection closes"}
    found = find(site.directory, tmp_path, *quoted)
    assert {words: rows[0]["path"] for words, rows in found.items()} == {
        words: f"Troubleshooting › {heading}" for words, heading in quoted.items()}


def test_every_result_leads_to_a_section_that_is_there(site):
    rows = json.loads((site.directory / "search/index.json").read_text())["sections"]
    assert len(rows) > 300
    assert {row["path"][0] for row in rows} >= {"Throng", "Operations", "Protocol", "Many nodes", "First message in a minute"}
    anchors = {}
    for file in (site.directory / "data/documentation").rglob("*.json"):
        parts = json.loads(file.read_text()).get("primaryContentSections", [])
        page = file.relative_to(site.directory / "data").with_suffix("").as_posix() + "/"
        anchors[page] = {block.get("anchor", "") for part in parts for block in part["content"]} | {""}
    for row in rows:
        page, _, anchor = row["url"].partition("#")
        assert (site.directory / page / "index.html").exists() and anchor in anchors[page], row["url"]


async def test_a_reader_finds_a_section_from_any_page(site, browser):
    page = await browser.open(f"{site.address}protocol/")
    await page.write("#search-box input", "backup")
    await page.press("Enter", 13)
    await page.sees("Operations › Store › Copies", "ol")
    assert await page.run("document.querySelector('input').value") == "backup"
    await page.demand_usable()
    await page.write("input", "zzzz")
    await page.sees("No page has all of these words.", "[role=status]")
    await page.write("input", "tls")
    await page.until("document.querySelector('ol a')?.innerText === 'Operations › Listeners › TLS'")
    assert await page.run("location.search") == "?q=tls"
    await page.click("ol a")
    await page.until(f"location.pathname.startsWith('/{site.version}/documentation/throng/operations') && location.hash === '#TLS'")
    await page.sees("turn the public listener to wss://")


async def test_a_reader_chooses_another_version_and_sees_pictures(tmp_path, browser):
    """0.1.0 beside these pages, from the commit whose database the tests keep."""
    if not (shutil.which("docc") or shutil.which("swift")):
        pytest.skip("there is no docc")
    commit = "88a8ca58"
    if subprocess.run(["git", "cat-file", "-e", f"{commit}^{{commit}}"], cwd=REPOSITORY, capture_output=True).returncode:
        pytest.skip("the history is not here")
    process = subprocess.Popen(
        [REPOSITORY / "Scripts/docs", "--serve", "0", "--into", tmp_path / "site", "--with", commit], stdout=subprocess.PIPE, text=True)
    try:
        address = next(line.split()[1] for line in process.stdout if line.startswith("docs: http"))
        page = await browser.open(f"{address}moderation/")
        await page.until("document.querySelector('main img')?.naturalWidth > 0")
        assert await page.run("[...document.querySelectorAll('#search-box option')].map((one) => one.value).at(-1)") == "0.1.0"
        await page.run("(() => { const box = document.querySelector('#search-box select'); box.value = '0.1.0'; box.onchange(); })()")
        await page.until("location.pathname === '/0.1.0/documentation/throng/' && document.querySelector('main h1') !== null")
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def test_another_program_at_the_port_is_told(site):
    port = site.address.split(":")[2].split("/")[0]
    done = subprocess.run([SEARCH / "serve.py", site.directory, port, site.version], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr.startswith(f"docs: 127.0.0.1:{port}: ") and done.stdout == ""


def test_a_directory_of_something_else_is_not_deleted(tmp_path):
    (tmp_path / "mine").write_text("x")
    done = subprocess.run([REPOSITORY / "Scripts/docs", "--into", tmp_path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "holds something else than a site" in done.stderr
    assert (tmp_path / "mine").read_text() == "x"
    assert subprocess.run([REPOSITORY / "Scripts/docs", "--port", "1"], capture_output=True, timeout=60).returncode == 64


# What every page has

# Pages that explain something, and so have a picture. The others are lists, programs to type, or records.
CONCEPTS = [
    "Architecture", "Backend", "Clients", "Cluster", "Configuration", "Limits", "Moderation", "Operations", "Permissions", "PersonalData",
    "Protocol", "SignIn", "Sizing", "ThreatModel", "Throng", "WriteYourOwnClient"]
QUESTIONS = {
    "ClientReconnects": "What happens when my client reconnects", "HowToModerate": "How do I moderate",
    "HowToScale": "How do I scale", "WhatAreTheLimits": "What are the limits"}
CATALOGUE = REPOSITORY / "Sources/ThrongServer/Documentation.docc"


def page_text(name):
    (file,) = CATALOGUE.rglob(f"{name}.md")
    return re.sub(r"^```.*?^```$", "", file.read_text(), flags=re.M | re.S)


@pytest.mark.parametrize("name", [*CONCEPTS, *QUESTIONS])
def test_a_page_that_explains_has_a_picture(name):
    assert re.search(r"!\[[^\]]{40,}\]\([a-z-]+\)", page_text(name))


# As many lines are more than people look through; DocC shows no list of a page's headings.
LONG = 500


@pytest.mark.parametrize("name", sorted(file.stem for file in CATALOGUE.rglob("*.md") if file.read_text().count("\n") >= LONG))
def test_a_long_page_begins_with_its_parts(name):
    """Links to every part, in their order, before the first of them."""
    beginning, *parts = re.split(r"^## (?!Overview$)", page_text(name), flags=re.M)
    anchors = [re.sub(r"[^\w' -]", "", part.split("\n", 1)[0]).replace(" ", "-") for part in parts]
    linked = [anchor for anchor in re.findall(rf"<doc:{name}#([^>]*)>", beginning) if anchor in anchors]
    # Sentences beside the list may name a part, too.
    assert any(linked[first:first + len(anchors)] == anchors for first in range(len(linked))), linked


@pytest.mark.parametrize("name", ["Cluster", "Operations", "Protocol"])
def test_the_longest_pages_say_what_each_part_has(name):
    beginning, *parts = re.split(r"^## (?!Overview$)", page_text(name), flags=re.M)
    assert len(re.findall(rf"^\| <doc:{name}#[^>]*> \| \S", beginning, re.M)) == len(parts) > 10


def test_tutorials_stand_first():
    topics = re.findall(r"^### (.*)$", page_text("Throng").split("## Topics")[1], re.M)
    assert topics[:2] == ["Tutorials", "Questions"]
    listed = set(re.findall(r"^- <doc:(\w+)>$", page_text("Throng"), re.M))
    assert listed == {file.stem for file in CATALOGUE.rglob("*.md")} - {"Throng"}


@pytest.mark.parametrize("name", QUESTIONS)
async def test_a_question_is_answered_on_two_screens(site, browser, name):
    assert page_text(name).startswith(f"# {QUESTIONS[name]}\n")
    page = await browser.open(f"{site.address}{name.lower()}/")
    await page.until("document.querySelector('main table') !== null && document.querySelector('main img')?.naturalWidth > 0")
    # Between the first heading and the links to other pages.
    height = await page.run(
        "(() => { const top = (words) => [...document.querySelectorAll('main h2')].find((one) => one.innerText.trim() === words)"
        ".getBoundingClientRect().top; return top('See Also') - top('Overview'); })()")
    assert 0 < height <= 2 * await page.run("window.innerHeight")


# The check of links


def test_links_that_lead_nowhere_are_found(tmp_path):
    links = module_of("links")
    data = tmp_path / "data/documentation/throng"
    data.mkdir(parents=True)
    (tmp_path / "images").mkdir()
    (tmp_path / "images/there.svg").touch()
    heading = {"type": "heading", "level": 2, "text": "One", "anchor": "One"}
    (data / "other.json").write_text(json.dumps({"primaryContentSections": [{"kind": "content", "content": [heading]}]}))

    def image(name, alt):
        return {"type": "image", "identifier": name, "alt": alt, "variants": [{"url": f"/images/{name}.svg"}]}
    references = [
        {"type": "topic", "url": "/documentation/throng/other#One"}, {"type": "topic", "url": "/documentation/throng/other#Two"},
        {"type": "topic", "url": "/documentation/throng/gone"}, {"type": "link", "url": "https://example.org/"},
        {"type": "link", "url": "https//example.org"}, image("there", "words"), image("missing", "words"), image("there", "")]
    (data / "page.json").write_text(json.dumps({"references": {str(number): one for number, one in enumerate(references)}}))
    found = [fault.partition(": ")[2] for fault in links.of_site(tmp_path)]
    assert found == [
        "/documentation/throng/other#Two: the page has no such heading", "/documentation/throng/gone: there is no such page",
        "https//example.org is no address", "the picture /images/missing.svg is not there",
        "the picture there says nothing to who does not see it"]


def test_links_of_a_readme_lead_to_files_and_headings(tmp_path):
    links = module_of("links")
    (tmp_path / "page.md").write_text("# Page\n\n## Port 443, `listen`\n\n```\n## Not one\n```\n")
    text = ("## Own\n[a](page.md) [b](page.md#port-443-listen) [c](#own) [d](https://example.org) [e](gone.md) [f](page.md#not-one)"
            " [g](#other) [h](http:///x)")
    assert [fault.removeprefix("README.md: ") for fault in links.of_readme(text, tmp_path)] == [
        "there is no gone.md", "page.md#not-one: there is no such heading", "#other: there is no such heading", "http:///x is no address"]


# The index, without a site


def module_of(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", SEARCH / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def index():
    return module_of("index")


def paragraph(*words):
    return {"type": "paragraph", "inlineContent": [{"type": "text", "text": word} for word in words]}


def heading(level, text):
    return {"type": "heading", "level": level, "text": text, "anchor": text.replace(" ", "-")}


def page_of(*content):
    return {"metadata": {"title": "Page"}, "abstract": [{"type": "text", "text": "It begins."}], "references": {
        "doc://other": {"title": "Another page"}}, "primaryContentSections": [{"kind": "content", "content": list(content)}]}


def test_a_section_has_the_path_of_its_headings(index):
    page = page_of(
        heading(2, "Overview"), paragraph("At first."), heading(2, "One"), paragraph("a"), heading(3, "Deep one"), paragraph("b"),
        heading(2, "Two"))
    assert list(index.sections(page)) == [
        {"path": ["Page"], "anchor": "", "text": "It begins. At first."},
        {"path": ["Page", "One"], "anchor": "One", "text": "a"},
        {"path": ["Page", "One", "Deep one"], "anchor": "Deep-one", "text": "b"},
        {"path": ["Page", "Two"], "anchor": "Two", "text": ""}]


def test_the_text_is_what_a_reader_sees(index):
    item = {"content": [paragraph("an item")]}
    blocks = [
        {"type": "unorderedList", "items": [item, item]}, {"type": "codeListing", "syntax": None, "code": ["throng serve", "x"]},
        {"type": "table", "header": "row", "rows": [[[paragraph("key")], [paragraph("value")]]]},
        {"type": "paragraph", "inlineContent": [
            {"type": "codeVoice", "code": "log.level"}, {"type": "text", "text": " "},
            {"type": "reference", "identifier": "doc://other", "isActive": True},
            {"type": "strong", "inlineContent": [{"type": "text", "text": " loud"}]}]}]
    (section,) = index.sections(page_of(*blocks))
    assert section["text"] == "It begins. an item an item throng serve x key · value log.level Another page loud"
    with pytest.raises(ValueError, match="an unknown kind: dance"):
        index.plain([{"type": "dance"}], {})


def test_the_box_stands_first_in_a_page(index):
    box = index.box("0.2.0", ["0.3.0", "0.2.0"])
    assert 'action="/0.2.0/search/"' in box and "<option>0.3.0</option><option selected>0.2.0</option>" in box
    made = index.with_box('<html><body data-color-scheme="auto"><div id="app"></div></body></html>', box)
    assert made.startswith('<html><body data-color-scheme="auto"><form id="search-box"') and made.endswith('<div id="app"></div></body></html>')
    with pytest.raises(ValueError, match="no body"):
        index.with_box("<html></html>", box)
