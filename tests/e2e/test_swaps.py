# SPDX-License-Identifier: Apache-2.0
"""
A thousand changes of the policy under numbered frames: every one of them agrees on which frames pass, and
so no frame may get a wrong verdict, neither way, while one policy takes the other's place.
"""

import itertools
import os

import pytest

import counters
from lab import Path
from numbered import FIRST_PORT, PERMITTED, PORTS, RULES, Receiver, end_senders, ring_losses, start_senders

SWAPS = int(os.environ.get("SWAPS", "1000"))
RATE = 15000  # frames a second, of each family


def filler(count):
    """Rules that match none of the frames, so that the tables have other sizes and the rules other places."""
    return [{"id": f"filler-{i}", "action": ("allow", "drop")[i % 2], "protocol": "tcp",
             "src": [f"10.{i % 200}.0.0/16"], "dst_ports": [f"{100 + i}-{200 + 3 * i}"]} for i in range(count)]


def policies():
    """Each says the same about the frames in another way."""
    services = {"web": [{"protocol": "udp", "dst_ports": [FIRST_PORT]}]}
    tracked, stateless, dropped = RULES
    by_service = {"id": "tracked", "action": "allow", "service": ["web"]}
    tier = {"id": "other", "action": "pass", "protocol": "udp", "dst_ports": [f"{FIRST_PORT}-{FIRST_PORT + PORTS}"]}
    lists = [
        ({"in": RULES}, ["in"]),
        ({"in": filler(60) + [dropped, stateless, tracked]}, ["in"]),
        ({"in": [by_service, dropped] + filler(7) + [stateless]}, ["in"]),
        ({"first": [tier], "in": RULES + filler(600)}, ["first", "in"]),
        ({"first": [dropped], "in": filler(3) + [tracked, stateless]}, ["first", "in"]),
    ]
    for acls, names in itertools.cycle(lists):
        yield {"services": services, "acls": {name: {"rules": rules} for name, rules in acls.items()},
               "ports": {"p": {"interface": "h0", "from": names, "to": []}}}


@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_no_wrong_verdict_while_policies_take_turns(fresh_lab, capsys, hook):
    """acl/33, acl/50: no blink."""
    path = Path(fresh_lab, is_bridged=False)
    # A veth takes redirected frames only while its peer polls.
    path.host.run("ethtool", "-K", "h0", "gro", "on")
    daemon = fresh_lab.daemon(path.host)
    documents = policies()

    def swap():
        document = next(documents)
        document["ports"]["p"]["hook"] = hook
        return daemon.api.put("/v1/config", document)

    generation = swap()["generation"]
    daemon.wait_port("p")
    receiver = Receiver(path.host)
    receiver.start()
    try:
        senders = start_senders(fresh_lab, path, RATE)
        for _ in range(SWAPS):
            answer = swap()
            assert answer["changed"] and answer["generation"] > generation
            generation = answer["generation"]
        sent = end_senders(senders)
    finally:
        receiver.finish()
    reasons = {name: count for name, count in daemon.stats("p")["reasons"].items() if count}
    ring, stack = ring_losses(path), counters.udp(path.host)
    with capsys.disabled():
        print(f"\nhook {hook}: {SWAPS} swaps: sent {sum(sent)} = delivered {receiver.count}"
              + "".join(f" + {name} {count}" for name, count in reasons.items())
              + f" + ring losses {ring} + socket drops {stack['InErrors']}")
    permitted = sum(PERMITTED * (count // PORTS) + min(count % PORTS, PERMITTED) for count in sent)
    assert not receiver.strays and stack["NoPorts"] == 0, "refused frames reached the stack"
    assert set(reasons) == {"default", "rule_drop"}
    assert sum(sent) == receiver.count + sum(reasons.values()) + ring + stack["InErrors"]
    assert permitted - ring - stack["InErrors"] <= receiver.count <= permitted, "permitted frames were dropped"
