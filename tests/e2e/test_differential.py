# SPDX-License-Identifier: Apache-2.0
"""
Random policies and packets: the attached programs against the reference matcher ($BUILD/tests/diff).

Also a program of its own, for `make check-mutants`: python3 test_differential.py [arguments of diff].
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lab import BUILD, Lab  # noqa: E402

BROKEN = 2  # exit code of diff: it could not run


def run_differential(lab, *args):
    ns, far = lab.namespace("host"), lab.namespace("far")
    # Nothing but the test's own packets may be counted; what the daemon answers to rejected ones ends far away.
    for each in (ns, far):
        each.sysctl("net.ipv6.conf.default.disable_ipv6", 1)
    lab.veth(ns, "x0", far, "x1")
    lab.veth(ns, "t0", far, "t1")
    daemon = lab.daemon(ns)
    return ns.run(os.path.join(BUILD, "tests", "diff"), "--socket", daemon.socket, "--xdp", "x0", "--tc", "t0",
                  *args, check=False)


def test_programs_agree_with_the_reference(fresh_lab, capsys):
    done = run_differential(fresh_lab)
    with capsys.disabled():
        print("\n" + done.stdout, end="")
    assert done.returncode == 0, done.stdout + done.stderr


def main():
    try:
        with Lab() as lab:
            done = run_differential(lab, *sys.argv[1:])
    except (AssertionError, RuntimeError, OSError) as error:
        print(error, file=sys.stderr)
        return BROKEN
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
