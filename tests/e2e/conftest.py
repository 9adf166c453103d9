# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the end-to-end tests: a lab a module, a routed path with a daemon on its host."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lab import BUILD, Lab, Path  # noqa: E402


def pytest_configure(config):
    del config
    if os.geteuid() != 0:
        pytest.exit("the end-to-end tests make network namespaces: run them as root", returncode=3)
    for name in ("secgd", "sgctl"):
        if not os.access(os.path.join(BUILD, name), os.X_OK):
            pytest.exit(f"{BUILD}/{name} is missing: run `make all` first", returncode=3)


@pytest.fixture(scope="module")
def lab():
    with Lab() as made:
        yield made


@pytest.fixture
def fresh_lab():
    """For tests that break what others would share."""
    with Lab() as made:
        yield made


@pytest.fixture(scope="module")
def path(lab):
    """client – host – server, routed."""
    return Path(lab, is_bridged=False)


@pytest.fixture(scope="module")
def daemon(lab, path):
    return lab.daemon(path.host)
