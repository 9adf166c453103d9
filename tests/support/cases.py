#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
`make check-cases`: every row of tests/cases.txt must have a test that passes now, and that fails once the
code is broken in the one place that the row names. Prints `acl/NN → test` for each; ends non-zero when a
row is red: its test failed, was skipped or is not there, the mutant does not build or load, its pattern
is gone, or the test did not notice it.

  cases.py [--jobs N] [--no-mutants] [ROW…]        BUILD names the folder of what is built
"""

import argparse
import concurrent.futures
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("BUILD") or os.path.join(ROOT, "build"))
LIST = os.path.join(ROOT, "tests", "cases.txt")
SECONDS = 600  # for one program; one that hangs has failed
COUNT = {"acl": 50}
# Rows that are scenarios of another project's suite: so many lines below each, acl/45.1 and so on.
SCENARIOS = {"acl/45": 8, "acl/46": 5, "acl/47": 4, "acl/48": 5, "acl/49": 11, "acl/50": 6}
CMOCKA = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\w+)$", re.MULTILINE)


class Check:
    """One test of a row and the change of the code that must turn it red."""

    def __init__(self, row, kind, program, name):
        self.row, self.kind, self.program, self.name = row, kind, program, name
        self.file = self.script = None

    def __str__(self):
        return f"{self.kind}/{self.program}::{self.name}"


class Row:
    def __init__(self, identifier, text):
        self.identifier, self.text, self.checks = identifier, text, []


def read_list():
    rows = []
    with open(LIST, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            words = line.split(None, 1)
            if not words or words[0].startswith("#"):
                continue
            rest = words[1].strip() if len(words) > 1 else ""
            if not line[0].isspace():
                rows.append(Row(words[0], rest))
            elif words[0] == "test":
                kind, program, name = rest.split()
                rows[-1].checks.append(Check(rows[-1], kind, program, name))
            elif words[0] == "mutant":
                rows[-1].checks[-1].file, rows[-1].checks[-1].script = rest.split(None, 1)
            else:
                sys.exit(f"{LIST}:{number}: neither a row nor `test` nor `mutant`")
    return rows


def wanted_rows():
    for kind, count in COUNT.items():
        for number in range(1, count + 1):
            row = f"{kind}/{number:02}"
            yield from (f"{row}.{i}" for i in range(1, SCENARIOS[row] + 1)) if row in SCENARIOS else [row]


def missing_rows(rows):
    """Numbers without a row, rows that no number asks for, rows without a test, tests without a mutant."""
    names = [row.identifier for row in rows]
    wanted = list(wanted_rows())
    yield from (f"{name}: has no row" for name in wanted if name not in names)
    yield from (f"{name}: is no row, or twice there" for name in sorted(set(names))
                if name not in wanted or names.count(name) > 1)
    for row in rows:
        if not row.checks:
            yield f"{row.identifier}: has no test"
        for check in row.checks:
            if not check.script:
                yield f"{row.identifier}: {check} has no mutant"


# ── running tests ─────────────────────────────────────────────────────────────────────────────────


def run(command, **options):
    """The exit status and all output; a status of None after too long a time."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=SECONDS, check=False, **options)
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace") + f"\nnot within {SECONDS} s"
    return done.returncode, done.stdout


def run_cmocka(build, kind, program, names):
    """{test: "passed" | "failed" | "skipped"} of one program, the worst where it runs twice; and its output."""
    words = {"OK": "passed", "SKIPPED": "skipped", "FAILED": "failed"}
    outcomes = {}
    only = {"ONLY": min(names)} if len(names) == 1 else {}
    _, output = run([os.path.join(build, "tests", kind, program)], env={**os.environ, **only})
    for word, name in CMOCKA.findall(output):
        outcomes[name] = max(outcomes.get(name, "passed"), words[word], key=list(words.values()).index)
    return outcomes, output


def run_pytest(root, build, program, names, options):
    """{"test_file.py::name": …} of the named tests, those with parameters under their plain name."""
    outcomes = {}
    path = os.path.join(root, "tests", "e2e", program)
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        _, output = run(["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short",
                         f"--junitxml={report.name}", *options, *(f"{path}::{name}" for name in names)],
                        cwd=root, env={"SWAPS": "200", **os.environ, "BUILD": build})
        try:
            cases = list(ElementTree.parse(report.name).iter("testcase"))
        except ElementTree.ParseError:
            cases = []
    for case in cases:
        name = f"{program}::{case.get('name').split('[')[0]}"
        word = "passed"
        for child, text in (("skipped", "skipped"), ("error", "did not start"), ("failure", "failed")):
            if case.find(child) is not None:
                word = text
        worst = ("passed", "skipped", "did not start", "failed")
        outcomes[name] = max(outcomes.get(name, "passed"), word, key=worst.index)
    return outcomes, output


def run_checks(root, build, checks, jobs=1, is_broken=False):
    """
    The outcome of each check by its text, each program run once; and all output. Where the code is broken
    one failure of a test says enough.
    """
    runs = {}
    for check in checks:
        runs.setdefault((check.kind, check.program), set()).add(check.name)
    if is_broken:
        runs = {(kind, program, name): {name} for (kind, program), names in runs.items() for name in names}

    def one(item):
        (kind, program, *_), names = item
        if kind != "e2e":
            found, output = run_cmocka(build, kind, program, names)
        else:
            found, output = run_pytest(root, build, program, sorted(names), ["-x"] if is_broken else [])
        return {f"{kind}/" + (name if kind == "e2e" else f"{program}::{name}"): word
                for name, word in found.items()}, output

    outcomes, outputs = {}, []
    # The longest first, so that none is left alone at the end.
    order = sorted(runs.items(), key=lambda item: item[0][0] != "e2e")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for found, output in pool.map(one, order):
            outcomes |= found
            outputs.append(output)
    return outcomes, "\n".join(outputs)


# ── breaking the code ─────────────────────────────────────────────────────────────────────────────


def copy_tree(folder):
    """Sources, and what is built of them, so that only what depends on a mutant is built again."""
    shutil.copytree(ROOT, folder, symlinks=True, ignore=lambda at, names: [
        n for n in names if at == ROOT and (n == ".git" or os.path.join(at, n) == BUILD or n == "build")])
    subprocess.run(["cp", "-a", BUILD, os.path.join(folder, "build")], check=True)
    subprocess.run(["find", os.path.join(folder, "build"), "-name", "*.d", "-exec", "sed", "-i",
                    f"s|{BUILD}/|build/|g", "{}", "+"], check=True)


# A mutant may leave something unused: warnings are none here.
def targets(checks):
    programs = {f"build/tests/{c.kind}/{c.program}" for c in checks if c.kind != "e2e"}
    return sorted(programs) + (["all"] if any(c.kind == "e2e" for c in checks) else [])


def tail(output, lines=12):
    return "".join(f"\n        | {line}" for line in output.splitlines()[-lines:])


def try_mutant(folder, checks):
    """{check: None where it turned red as it should, else what is wrong}."""
    path = os.path.join(folder, checks[0].file)
    with open(path, "rb") as file:
        original = file.read()
    status, output = run(["sed", "-i", checks[0].script, path])
    try:
        with open(path, "rb") as file:
            if status or file.read() == original:
                return dict.fromkeys(checks, f"the mutant's pattern is not in {checks[0].file}" + tail(output))
        status, output = run(["make", "-s", "-C", folder, "BUILD=build", "WERROR=", *targets(checks)])
        if status:
            return dict.fromkeys(checks, "the mutant does not build" + tail(output))
        outcomes, output = run_checks(folder, os.path.join(folder, "build"), checks, is_broken=True)
    finally:
        with open(path, "wb") as file:
            file.write(original)
    wrong = {}
    for check in checks:
        word = outcomes.get(str(check), "not there")
        wrong[check] = None if word == "failed" else f"with the mutant: {word}" + tail(output)
    return wrong


def try_all(checks, jobs):
    """Yields (check, what is wrong or None), as the mutants end."""
    mutants = {}
    for check in checks:
        mutants.setdefault((check.file, check.script), []).append(check)
    folders = queue.SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="secg-cases-") as work:
        for number in range(jobs):
            copy_tree(os.path.join(work, str(number)))
            folders.put(os.path.join(work, str(number)))

        def one(group):
            folder = folders.get()
            try:
                return try_mutant(folder, group)
            finally:
                folders.put(folder)

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for done in concurrent.futures.as_completed([pool.submit(one, g) for g in mutants.values()]):
                yield from done.result().items()


# ── the whole list ────────────────────────────────────────────────────────────────────────────────


def main():
    parser = argparse.ArgumentParser(description="every case of the list has a test that can fail")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-mutants", action="store_true", help="run the tests only")
    parser.add_argument("rows", nargs="*", help="acl/07 …; without any: all")
    arguments = parser.parse_args()

    rows = read_list()
    red = [] if arguments.rows else list(missing_rows(rows))
    if arguments.rows:
        rows = [row for row in rows if row.identifier in arguments.rows
                or row.identifier.split(".")[0] in arguments.rows]
    checks = [check for row in rows for check in row.checks]
    wrong = {}

    def tell(check, text):
        """As soon as it is known."""
        if text:
            wrong[check] = text
        print(f"{'RED  ' if text else ''}{check.row.identifier} → {check}" + (f": {text}" if text else ""),
              flush=True)

    outcomes, output = run_checks(ROOT, BUILD, checks, arguments.jobs)
    if any(outcomes.get(str(check)) != "passed" for check in checks):
        print(output)
    sound = []
    for check in checks:
        word = outcomes.get(str(check), "not there")
        if word == "passed" and check.script and not arguments.no_mutants:
            sound.append(check)
        else:
            tell(check, None if word == "passed" else word)
    for check, text in try_all(sound, arguments.jobs):
        tell(check, text)
    red += [f"{check.row.identifier}: {check}" for check in wrong]
    for line in red:
        print(f"RED  {line}")
    print(f"cases: {len(rows)} rows, {len(checks)} tests, {len(red)} red")
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
