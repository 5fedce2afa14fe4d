#!/usr/bin/env python3
"""Writes whose work a built program is, and under which licences: Debian's file `copyright`.

Usage: copyright.py SCRATCH        SCRATCH: the directory of SwiftPM in which the program was built"""
import sys

import components

HEAD = """\
Throng, a group-messaging server

Copyright: the authors of Throng
License: Apache-2.0

The complete text of the Apache License, version 2.0, can be found in
/usr/share/common-licenses/Apache-2.0 on Debian systems, and at
https://www.apache.org/licenses/LICENSE-2.0.

The program has these in it:

Swift's runtime, Foundation and Dispatch (https://www.swift.org)
Copyright: Apple Inc. and the Swift project authors
License: Apache-2.0 with the Runtime Library Exception of Swift; Foundation has ICU in it
(Copyright: Unicode, Inc.; the Unicode license, https://www.unicode.org/license.txt)
"""
EXCEPTION = "Runtime Library Exception of Swift: https://www.swift.org/LICENSE.txt"


def paragraph(package):
    lines = [f"{package.name} {package.version} ({package.location})"]
    text = components.text_of(package, "LICENSE")
    if text is None:
        raise ValueError(f"{package.checkout} has no LICENSE")
    if package.license == "MIT":
        return "\n".join([*lines, "License: MIT", "", *("    " + line if line else "" for line in text.strip().splitlines())])
    lines.append(f"License: {package.license}")
    if "exception" in package.license:
        lines.append(EXCEPTION)
    if notice := components.text_of(package, "NOTICE"):
        lines += ["", *("    " + line if line.strip() else "" for line in notice.strip().splitlines())]
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: copyright.py SCRATCH")
    print("\n\n".join([HEAD.rstrip(), *map(paragraph, components.swift_packages(sys.argv[1]))]))
