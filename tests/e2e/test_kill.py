# SPDX-License-Identifier: Apache-2.0
"""
Live frames through a guarded port into the host's stack while the daemon is killed over and over: no frame
passes that must not, none is lost without a counter that says so.
"""

import random
import subprocess
import time

import pytest

import counters
from lab import Path
from numbered import PORTS, RULES, Receiver, end_senders, passed_by_rules, ring_losses, start_senders

KILLS = 20
RATE = 15000  # frames a second, of each family


def kill_and_start(daemon):
    """Half of the kills hit a daemon that serves, half one that is somewhere on its way up."""
    for i in range(KILLS):
        if i % 2:
            daemon.process = subprocess.Popen(
                daemon.command(*daemon.args), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0, 0.2))
        else:
            if not daemon.is_running():
                daemon.start()
            time.sleep(random.uniform(0, 0.1))
        daemon.kill()
        time.sleep(random.uniform(0, 0.1))
    daemon.start()


@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_nothing_is_lost_or_let_through(fresh_lab, capsys, hook):
    path = Path(fresh_lab, is_bridged=False)
    # A veth takes redirected frames only while its peer polls.
    path.host.run("ethtool", "-K", "h0", "gro", "on")
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"acls": {"in": {"rules": RULES}},
                  "ports": {"p": {"interface": "h0", "hook": hook, "from": ["in"], "to": []}}})
    daemon.wait_port("p")
    before = daemon.stats("p")
    receiver = Receiver(path.host)
    receiver.start()
    try:
        senders = start_senders(fresh_lab, path, RATE)
        started = time.monotonic()
        kill_and_start(daemon)
        sent = sum(end_senders(senders))
        seconds = time.monotonic() - started
    finally:
        receiver.finish()
    after = daemon.stats("p")
    reasons = {name: count - before["reasons"].get(name, 0) for name, count in after["reasons"].items()
               if count != before["reasons"].get(name, 0)}
    ring = ring_losses(path)
    stack = counters.udp(path.host)
    with capsys.disabled():
        print(f"\nhook {hook}: {KILLS} kills in {seconds:.1f} s: sent {sent} = delivered {receiver.count}"
              + "".join(f" + {name} {count}" for name, count in reasons.items())
              + f" + ring losses {ring} + socket drops {stack['InErrors']}")
    assert sent > 4 * KILLS * PORTS
    assert not receiver.strays
    assert stack["NoPorts"] == 0, "refused frames reached the stack"
    assert set(reasons) == {"default", "rule_drop"}
    assert sent == receiver.count + sum(reasons.values()) + ring + stack["InErrors"]
    # And the rules counted what each of them let through or dropped.
    passed = passed_by_rules(after) - passed_by_rules(before)
    assert passed == receiver.count + stack["InErrors"]
    assert after["rules"]["in/tracked"]["packets"] + after["rules"]["in/stateless"]["packets"] == passed
    assert after["rules"]["in/dropped"]["packets"] == reasons["rule_drop"]
