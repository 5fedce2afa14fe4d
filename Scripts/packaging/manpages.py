#!/usr/bin/env python3
"""Writes manual pages: of each command from what its argument parser knows, and of the configuration file.

Usage: manpages.py PROGRAM DIRECTORY

Asks PROGRAM (`--experimental-dump-help`, `config example`, `version`) and writes throng.1, throng-COMMAND.1 for each command,
and throng.yaml.5. The date of the pages is SOURCE_DATE_EPOCH."""
import datetime
import json
import os
import re
import subprocess
import sys
from pathlib import Path

STATUSES = """\
0 on success, 1 on failure, of which standard error tells, and 64 on wrong usage. `throng serve` ends with 74 where its
disk fails."""
FILES = [
    ("/etc/throng/throng.yaml", "The configuration of the service. No command reads it unless --config or THRONG_CONFIG names it."),
    ("/var/lib/throng", "The data directory of the service, of the user throng: the database, and the secret for tokens."),
]
ENVIRONMENT = [
    ("THRONG_CONFIG", "The configuration file, where --config does not name one."),
    ("THRONG_…", "Each key of the configuration: limits.connections is THRONG_LIMITS_CONNECTIONS. A variable wins over the file, "
     "and a flag over both."),
]


def escaped(text):
    """A text of which roff takes nothing for itself."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return re.sub(r"^\.", r"\\&.", text, flags=re.M)


def prose(text):
    """Sentences, with what stands between backticks in bold."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(f"\\fB{escaped(part)}\\fR" if index % 2 else escaped(part) for index, part in enumerate(parts))


def paragraphs(text):
    """Lines of roff: indented lines as they are, others filled."""
    lines = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if all(line.startswith("  ") for line in block.splitlines()):
            lines += [".PP", ".EX", *(escaped(line) for line in block.splitlines()), ".EE"]
        else:
            lines += [".PP", prose(" ".join(block.split()))]
    return lines


def tagged(rows):
    """A list of names and what they mean; the names are roff already."""
    return [line for name, meaning in rows for line in (".TP", name, prose(meaning) if meaning else "\\&")]


def flag(name):
    return ("--" if name["kind"] == "long" else "-") + name["name"]


def bold(text):
    return f"\\fB{escaped(text)}\\fR"


def value_of(argument):
    return f"\\fI{escaped(argument.get('valueName') or 'value')}\\fR"


def shown(arguments):
    return [argument for argument in arguments or [] if argument.get("shouldDisplay", True)]


def usage(words, command):
    """The line of the synopsis."""
    parts = [bold(" ".join(words))]
    for argument in shown(command.get("arguments")):
        if argument["kind"] == "positional":
            part = value_of(argument)
        else:
            part = bold(flag(argument.get("preferredName") or argument["names"][0]))
            if argument["kind"] == "option":
                part += " " + value_of(argument)
        if argument["isRepeating"]:
            part += " ..."
        parts.append(f"[{part}]" if argument["isOptional"] else part)
    if commands_of(command):
        parts.append(f"[{value_of({'valueName': 'command'})}]" if command.get("defaultSubcommand") else value_of({"valueName": "command"}))
    return " ".join(parts)


def meaning(argument):
    """What the parser says of an argument, its values and its default."""
    text = " ".join(filter(None, [argument.get("abstract"), argument.get("discussion")]))
    if values := argument.get("allValues"):
        text += f" One of: {', '.join(values)}."
    if (default := argument.get("defaultValue")) is not None and argument["kind"] != "flag":
        text += f" The default is {default}."
    return text.strip()


def options(command):
    rows = []
    for argument in shown(command.get("arguments")):
        if argument["kind"] == "positional":
            name = value_of(argument)
        else:
            name = ", ".join(bold(flag(name)) for name in argument["names"])
            if argument["kind"] == "option":
                name += " " + value_of(argument)
        rows.append((name, meaning(argument)))
    return rows


def commands_of(command):
    return [each for each in command.get("subcommands") or [] if each.get("shouldDisplay", True) and each["commandName"] != "help"]


def head(title, section, version, date):
    manual = {"1": "User Commands", "5": "File Formats"}[section]
    return [f'.TH "{escaped(title)}" "{section}" "{date}" "{escaped(version)}" "{manual}"', ".nh", ".ad l"]


def section(title, lines):
    # Behind a heading roff begins a paragraph by itself.
    return [f'.SH "{title}"', *(lines[1:] if lines[:1] == [".PP"] else lines)] if lines else []


def pages(words, command, version, date, others=()):
    """The names of the pages, and their text: that of a command, and those of the commands below it."""
    name = "-".join(words)
    below = commands_of(command)
    abstract = (command.get("abstract") or "").rstrip(".")
    page = head(name.upper(), "1", version, date)
    page += ['.SH "NAME"', f"{escaped(name)} \\- {escaped(abstract[:1].lower() + abstract[1:])}"]
    page += section("SYNOPSIS", [usage(words, command)])
    page += section("DESCRIPTION", paragraphs(command.get("discussion") or command.get("abstract") or ""))
    page += section("COMMANDS", tagged([
        (f"\\fB{escaped('-'.join([*words, each['commandName']]))}\\fR(1)", each.get("abstract") or "") for each in below]))
    page += section("OPTIONS", tagged(options(command)))
    page += section("EXIT STATUS", paragraphs(STATUSES))
    page += section("FILES", tagged([(f"\\fI{escaped(file)}\\fR", text) for file, text in FILES]))
    page += section("ENVIRONMENT", tagged([(bold(name), text) for name, text in ENVIRONMENT]))
    related = [*others, *("-".join([*words, each["commandName"]]) + "(1)" for each in below), "throng.yaml(5)"]
    page += section("SEE ALSO", [", ".join(re.sub(r"^(.*)(\(\d\))$", lambda found: bold(found[1]) + found[2], name) for name in related)])
    yield f"{name}.1", "\n".join(page) + "\n"
    for each in below:
        yield from pages([*words, each["commandName"]], each, version, date, [f"{name}(1)"])


def configuration_page(example, version, date):
    """throng.yaml(5), from the example file: prose behind two signs, keys behind one."""
    page = head("THRONG.YAML", "5", version, date)
    page += ['.SH "NAME"', "throng.yaml \\- the configuration of the Throng group\\-messaging server"]
    page += section("DESCRIPTION", paragraphs(
        "YAML (or JSON). Every key has a default, and none has to be set. A key stands by its full path (`log.level: debug`) or in "
        "sections. Each can be a variable of the environment, too: `log.level` is `THRONG_LOG_LEVEL`; and a flag: "
        "`--set log.level=debug`. The variables win over the file, and the flags over both.\n\n`throng config example` prints a file "
        "with every key, `throng config check` says what is wrong with one, and `throng config show` prints each value and its "
        "source."))
    # The head of the file tells how to use it, which stands above.
    blocks = [block for block in re.split(r"\n\n+", example.strip())][1:]
    keys = 0
    for block in blocks:
        lines = block.splitlines()
        if found := re.fullmatch(r"## --- (.*) ---", lines[0]):
            page.append(f'.SH "{escaped(found[1].upper())}"')
            lines = lines[1:]
        text = " ".join(line[2:].strip() for line in lines if line.startswith("##"))
        setting = [line[2:] for line in lines if line.startswith("# ")]
        if setting:
            page += [".TP", bold(setting[0]), prose(text)]
            page += [".br", bold(" ".join(line.strip() for line in setting[1:]))] if setting[1:] else []
            keys += 1
        elif text:
            page += [".PP", prose(text)]
    if not keys:
        raise ValueError("the example file has no keys")
    page += section("FILES", tagged([(f"\\fI{escaped(file)}\\fR", text) for file, text in FILES]))
    page += section("SEE ALSO", ["\\fBthrong\\fR(1), \\fBthrong\\-config\\fR(1), \\fBthrong\\-serve\\fR(1)"])
    return "\n".join(page) + "\n"


def main(program, directory):
    def ask(*words):
        return subprocess.run([program, *words], capture_output=True, text=True, check=True, timeout=60).stdout
    described = json.loads(ask("--experimental-dump-help"))
    if described["serializationVersion"] != 0:
        raise ValueError(f"the argument parser describes itself in version {described['serializationVersion']}, not 0")
    version = ask("version").strip()
    date = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc).date().isoformat()
    directory.mkdir(parents=True, exist_ok=True)
    command = described["command"]
    for name, text in [*pages([command["commandName"]], command, version, date),
                       ("throng.yaml.5", configuration_page(ask("config", "example"), version, date))]:
        (directory / name).write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: manpages.py PROGRAM DIRECTORY")
    main(sys.argv[1], Path(sys.argv[2]))
