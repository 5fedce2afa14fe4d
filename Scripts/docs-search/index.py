#!/usr/bin/env python3
"""Adds a search to the sites that docc has built: DocC's own filter knows the titles of pages and no more.

Usage: index.py SITE VERSION...        the versions that SITE has directories of, the one that people see first first

Writes SITE/VERSION/search/: a page, its script, and index.json, which has the text of each section of each page. Puts a
search box and the versions at the top of each page, and at the roots, where DocC has no page, one that leads to the first."""
import html
import json
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = "documentation/throng/"
# What readers look for, and the words that these pages use instead.
SYNONYMS = json.loads((HERE / "synonyms.json").read_text())
BOX = """<form id="search-box" role="search" action="/%s/search/">%s<input type="search" name="q" required
 placeholder="Search the text of all pages" aria-label="Search the text of all pages"><button>Search</button></form>
<style>#search-box{color-scheme:light dark;display:flex;justify-content:flex-end;gap:8px;padding:6px 16px;font:14px system-ui,sans-serif}
#search-box input{font:inherit;width:min(20em,60vw);padding:3px 8px}#search-box :is(button,select){font:inherit;padding:3px 10px}
#search-box select{margin-right:auto}</style>"""
# A page of one version need not be there in another, so the choice leads to the first.
CHOICE = """<select aria-label="Version" onchange="location.href='/'+this.value+'/%s'">%s</select>"""


def plain(blocks, references):
    """The words of some blocks of a page, as a reader sees them."""
    parts = []
    for block in blocks:
        kind = block["type"]
        if kind == "text":
            parts.append(block["text"])
        elif kind == "codeVoice":
            parts.append(block["code"])
        elif kind == "codeListing":
            parts.append("\n".join(block["code"]) + "\n")
        elif kind == "reference":
            parts.append(references.get(block["identifier"], {}).get("title", ""))
        elif kind == "image":
            parts.append(references.get(block["identifier"], {}).get("alt") or "")
        elif kind in ("unorderedList", "orderedList"):
            parts += [plain(item["content"], references) + "\n" for item in block["items"]]
        elif kind == "table":
            parts += [" · ".join(plain(cell, references) for cell in row) + "\n" for row in block["rows"]]
        elif kind == "paragraph":
            parts.append(plain(block["inlineContent"], references) + "\n")
        elif "inlineContent" in block:
            parts.append(plain(block["inlineContent"], references))
        elif "content" in block:
            parts.append(plain(block["content"], references))
        else:
            raise ValueError(f"a block of an unknown kind: {kind}")
    return "".join(parts)


def sections(page):
    """The sections of a page of DocC's data, in order: the path of their headings, the anchor and the text."""
    references = page.get("references", {})
    title = page["metadata"]["title"]
    found = [{"path": [title], "anchor": "", "blocks": [{"type": "paragraph", "inlineContent": page.get("abstract", [])}]}]
    headings = {1: title}
    for part in page.get("primaryContentSections", []):
        if part["kind"] != "content":
            continue
        for block in part["content"]:
            # The overview is what the page begins with.
            if block["type"] != "heading" or block["text"] == "Overview":
                found[-1]["blocks"] += [] if block["type"] == "heading" else [block]
                continue
            headings = {level: text for level, text in headings.items() if level < block["level"]}
            headings[block["level"]] = block["text"]
            path = [headings[level] for level in sorted(headings)]
            found.append({"path": path, "anchor": block["anchor"], "blocks": []})
    for section in found:
        text = re.sub(r"\s+", " ", plain(section.pop("blocks"), references)).strip()
        yield {**section, "text": text}


def index(site):
    """The index of a site: its sections, each with its address below the root, and the synonyms."""
    rows = []
    data = site / "data/documentation"
    for file in sorted(data.rglob("*.json")):
        page = json.loads(file.read_text())
        address = "documentation/" + file.relative_to(data).with_suffix("").as_posix() + "/"
        for section in sections(page):
            anchor = f"#{section['anchor']}" if section["anchor"] else ""
            rows.append({"url": address + anchor, "path": section["path"], "text": section["text"]})
    return {"sections": rows, "synonyms": SYNONYMS}


def box(version, versions):
    """The search box of a version's pages, with the choice of another version."""
    options = "".join(f"<option{' selected' if each == version else ''}>{html.escape(each)}</option>" for each in versions)
    return BOX % (version, CHOICE % (ROOT, options))


def with_box(page, made):
    """A page of DocC with the search box before everything else."""
    changed, count = re.subn(r"<body\b[^>]*>", lambda tag: tag[0] + made, page, count=1)
    if count != 1:
        raise ValueError("a page has no body")
    return changed


def lead(file, address):
    """A page that leads to another one."""
    file.write_text(
        f'<!doctype html><meta charset="utf-8"><title>Throng</title><meta http-equiv="refresh" content="0; url={html.escape(address)}">'
        f'<a href="{html.escape(address)}">Throng</a>\n')


def add_search(site, version, versions):
    made = index(site)
    if not made["sections"]:
        raise ValueError(f"{site} has no pages")
    target = site / "search"
    target.mkdir(exist_ok=True)
    (target / "index.json").write_text(json.dumps(made, ensure_ascii=False, separators=(",", ":")))
    for name in ("index.html", "page.mjs", "search.mjs"):
        shutil.copy(HERE / name, target / name)
    for page in (site / "documentation").rglob("index.html"):
        text = page.read_text()
        if 'id="search-box"' not in text:
            page.write_text(with_box(text, box(version, versions)))
    lead(site / "index.html", ROOT)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: index.py SITE VERSION...")
    directory, names = Path(sys.argv[1]), sys.argv[2:]
    for name in names:
        add_search(directory / name, name, names)
    lead(directory / "index.html", f"{names[0]}/{ROOT}")
