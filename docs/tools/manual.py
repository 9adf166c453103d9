#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the policies of docs/examples into secg-policy(5): `make docs` writes the page anew from the one on
standard input to standard output."""
import os
import sys

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples")
NAMES = ("three-tier", "container-host", "gateway")
BEGIN = '.\\" The policies of docs/examples, written by make docs.\n'
END = '.\\" End of what make docs writes.\n'


def literal(text):
    """Lines of a file as mdoc takes them."""
    for line in text.splitlines():
        if line.startswith("#") and "SPDX-License-Identifier" in line:
            continue
        line = line.replace("\\", "\\e").replace("-", "\\-")
        yield ("\\&" if line[:1] in (".", "'") else "") + line + "\n"


def section():
    yield ".Sh COMPLETE POLICIES\n"
    yield "These files come with secg; every promise in their comments is tested with real traffic.\n"
    for name in NAMES:
        with open(os.path.join(EXAMPLES, name + ".yaml"), encoding="utf-8") as file:
            yield f".Ss {name}.yaml\n.Bd \\-literal\n".replace("\\-", "-")
            yield from literal(file.read())
            yield ".Ed\n"


def main():
    page = sys.stdin.read()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    sys.stdout.write(before + BEGIN + "".join(section()) + END + after)


if __name__ == "__main__":
    main()
