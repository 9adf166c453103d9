# SPDX-License-Identifier: Apache-2.0
"""
Wrong policy files, each kind of mistake once: what `sgctl apply -f` prints is compared with the text beside
the file, to the letter. After a wanted change of a message: `WRITE=1 pytest tests/e2e/test_wrong_files.py`, and read
what git shows.
"""

import os

import pytest

from lab import Lab, BUILD, run

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wrong")
FILES = sorted(name for name in os.listdir(FOLDER) if not name.endswith(".expected"))


@pytest.fixture(scope="module")
def host():
    """A daemon with a policy that no wrong file may change; no traffic, no ports."""
    with Lab() as lab:
        daemon = lab.daemon(lab.namespace("host"))
        daemon.apply({"groups": {"before": {"prefixes": ["192.0.2.9"]}}})
        yield daemon


def test_all_are_there():
    assert [name[:2] for name in FILES] == [f"{i:02}" for i in range(1, 93)]


@pytest.mark.parametrize("name", FILES)
def test_wrong_file(host, name):
    done = run(os.path.join(BUILD, "sgctl"), "--socket", host.socket, "apply", "-f", name, cwd=FOLDER, check=False)
    assert done.returncode == 2 and done.stdout == ""
    expected = os.path.join(FOLDER, os.path.splitext(name)[0] + ".expected")
    if os.environ.get("WRITE"):
        with open(expected, "w", encoding="utf-8") as file:
            file.write(done.stderr)
    with open(expected, encoding="utf-8") as file:
        assert done.stderr == file.read()
    assert host.api.get("/v1/config") == {"groups": {"before": {"prefixes": ["192.0.2.9"]}}}
