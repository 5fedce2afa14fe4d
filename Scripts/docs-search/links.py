#!/usr/bin/env python3
"""Checks what the pages of a built site point to, and prints each that leads nowhere; exit status 1 then.

Usage: links.py SITE VERSION        in the repository's directory

Of each page: links to other pages, with the heading behind #; pictures, for light and dark; files of the repository
that stand in backticks, such as `Scripts/run`; and that an address of the web is one. Of README.md: files and headings.
Docc checks links of pages that it knows; files, pictures and README.md it does not."""
import json
import re
import sys
import urllib.parse
from pathlib import Path

CATALOGUE = Path("Sources/ThrongServer/Documentation.docc")
# Of the program that a page has its readers make.
THEIRS = {"Sources/say/main.swift"}
OURS = re.compile(r"`((?:Scripts|Tests|Sources)/[A-Za-z0-9_./+@-]+)(?:[` ])")


def blocks_of(page):
    """All objects of a page's data."""
    waiting = [page.get("abstract", []), page.get("primaryContentSections", []), page.get("topicSections", [])]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            yield one
            waiting += one.values()


def anchors_of(page):
    return {one["anchor"] for one in blocks_of(page) if one.get("type") == "heading" and "anchor" in one}


def address_is_right(address):
    parts = urllib.parse.urlsplit(address)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and " " not in address


def of_site(site):
    """The faults of the site's pages."""
    data = site / "data"
    pages = {"/" + file.relative_to(data).with_suffix("").as_posix(): json.loads(file.read_text())
             for file in sorted((data / "documentation").rglob("*.json"))}
    anchors = {path: {anchor.lower() for anchor in anchors_of(page)} for path, page in pages.items()}
    if not pages:
        yield f"{site} has no pages"
    for path, page in pages.items():
        for reference in page.get("references", {}).values():
            kind = reference.get("type")
            if kind in ("topic", "section"):
                target, _, anchor = reference["url"].partition("#")
                if target.lower() not in pages:
                    yield f"{path}: {reference['url']}: there is no such page"
                elif anchor and urllib.parse.unquote(anchor).lower() not in anchors[target.lower()]:
                    yield f"{path}: {reference['url']}: the page has no such heading"
            elif kind == "link":
                if not address_is_right(reference["url"]):
                    yield f"{path}: {reference['url']} is no address"
            elif kind == "image":
                for variant in reference["variants"]:
                    if not (site / variant["url"].lstrip("/")).exists():
                        yield f"{path}: the picture {variant['url']} is not there"
                if not reference.get("alt"):
                    yield f"{path}: the picture {reference['identifier']} says nothing to who does not see it"


def exists(name):
    """Whether the repository has a file, a directory, or several of that name."""
    return Path(name.rstrip("/.")).exists() or any(Path().glob(name.rstrip("/.") + ".*"))


def of_files():
    """The faults of files that pages name."""
    for page in [*sorted(CATALOGUE.rglob("*.md")), Path("README.md")]:
        for name in OURS.findall(page.read_text()):
            if name not in THEIRS and not exists(name):
                yield f"{page}: there is no {name}"


def slug(heading):
    """The anchor of a heading in Markdown, as hosts of repositories make it."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").strip().lower()).replace(" ", "-")


def of_readme(text, root=Path()):
    """The faults of the links of README.md."""
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://")):
            if not address_is_right(target):
                yield f"README.md: {target} is no address"
            continue
        file, _, anchor = target.partition("#")
        if file and not (root / file).exists():
            yield f"README.md: there is no {file}"
        elif anchor:
            page = (root / file).read_text() if file else text
            page = re.sub(r"^```.*?^```", "", page, flags=re.M | re.S)
            if anchor not in {slug(heading) for heading in re.findall(r"^#+ (.*)$", page, re.M)}:
                yield f"README.md: {target}: there is no such heading"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: links.py SITE VERSION")
    faults = [*of_site(Path(sys.argv[1]) / sys.argv[2]), *of_files(), *of_readme(Path("README.md").read_text())]
    for fault in faults:
        print(f"docs: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)
