#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
`make soak T=600`: sessions made and expired by the million on one guarded port, while the policy changes
all the time and interfaces come, go and flap. Every frame of the generator is accounted for:

    sent = passed + dropped, by reason + ring losses

and neither the daemon nor the tables have grown at the end. Each frame is an echo request with a source and
identifier of its own; the host's kernel answers it, so that every one opens a session that is answered,
promoted and, a second later, expired.
"""

import argparse
import itertools
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import generator  # noqa: E402
import numbered  # noqa: E402
from lab import Lab, Path, eventually  # noqa: E402

RATE = 30000  # echo requests a second
ROUND = 10  # seconds between two flaps of the port that carries the traffic
IDS = 60000
HOST = "10.1.0.254"
SLACK_KIB = 8192  # what the daemon may hold more than after the first rounds


def policies():
    """Each admits the echo requests, and is otherwise another."""
    ping = {"id": "ping", "action": "allow", "protocol": "icmp", "icmp_type": "echo-request"}
    for i in itertools.count():
        size = (3, 40, 300)[i % 3]
        rules = [{"id": f"r{k}", "action": "allow-stateless", "src": [f"10.{9 + k % 200}.{i % 250}.0/24"],
                  "dst_ports": [1000 + k], "protocol": "tcp"} for k in range(size)]
        rules.insert(i * 7 % size, ping)
        port = {"from": ["a"], "to": [], "timeouts": {"icmp": 1}}
        yield {"groups": {"g": {"prefixes": [f"192.0.2.{i % 250}"]}},
               "acls": {"a": {"rules": rules + [{"id": "group", "action": "drop", "src": ["@g"]}]}},
               "ports": {"p": {"interface": "h0", **port}, "flapping": {"interface": "flap0", **port}}}


class Turmoil(threading.Thread):
    """Changes the policy and a second interface until it is told to end."""

    def __init__(self, daemon, ns):
        super().__init__()
        self.daemon, self.ns = daemon, ns
        self.documents = policies()
        self.changes = self.flaps = 0
        self.is_ended = False
        self.failure = None

    def run(self):
        try:
            while not self.is_ended:
                self.daemon.api.put("/v1/config", next(self.documents))
                self.changes += 1
                if self.changes % 20 == 0:
                    self.flap()
        except Exception as failure:  # pylint: disable=broad-except
            self.failure = failure

    def flap(self):
        """Made, guarded, down, up, gone."""
        self.ns.ip("link", "add", "flap0", "type", "veth", "peer", "name", "flap1")
        for state in ("up", "down", "up"):
            self.ns.ip("link", "set", "flap0", state)
        self.ns.ip("link", "del", "flap0")
        self.flaps += 1

    def finish(self):
        self.is_ended = True
        self.join()
        if self.failure:
            raise self.failure


def memory_kib(daemon):
    """The daemon's own memory, and that of the tables."""
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as lines:
        [anonymous] = [int(line.split()[1]) for line in lines if line.startswith("RssAnon:")]
    return anonymous, sum(daemon.api.get("/v1/status")["memory"].values()) // 1024


def send_round(path, number, seconds):
    """Frames that no earlier round has sent."""
    count = RATE * seconds
    sources = -(-count // IDS)
    source = f"10.1.{number % 200 + 20}.1"
    return generator.generate(path.client, "c0", path.host.link("h0")["address"], source, HOST,
                              "--protocol", "icmp", "--ids", IDS, "--srcs", sources, "--rate", RATE,
                              "--count", count)["sent"]


def make_route(path):
    """All sources of the frames are behind the client, whose address is known."""
    path.host.ip("neigh", "replace", "10.1.0.1", "lladdr", path.client.link("c0")["address"], "dev", "h0")
    path.host.ip("route", "replace", "10.1.0.0/16", "via", "10.1.0.1", "dev", "h0")


def flap_port(path, daemon):
    path.host.ip("link", "set", "h0", "down")
    path.host.ip("link", "set", "h0", "up")
    make_route(path)
    daemon.wait_port("p")


def soak(lab, seconds, say=print):
    path = Path(lab, is_bridged=False)
    generator.gro(path.host, "h0")
    make_route(path)
    path.client.sysctl("net.ipv6.conf.c0.disable_ipv6", 1)  # only the generator speaks
    daemon = lab.daemon(path.host, args=("--max-sessions", "262144"))
    daemon.apply(next(policies()))
    daemon.wait_port("p")
    turmoil = Turmoil(daemon, path.host)
    turmoil.start()
    started, sent, peak, early = time.monotonic(), 0, 0, None
    number = 0
    try:
        while time.monotonic() - started < seconds:
            sent += send_round(path, number, min(ROUND, seconds))
            peak = max(peak, daemon.api.get("/v1/status")["sessions"]["used"])
            flap_port(path, daemon)
            number += 1
            if number == 2:
                early = memory_kib(daemon)
    finally:
        turmoil.finish()
    eventually(lambda: daemon.sessions() == [], 30, "all sessions have expired")
    return report(path, daemon, turmoil, sent, peak, early, number, say)


def report(path, daemon, turmoil, sent, peak, early, rounds, say):
    stats = daemon.stats("p")
    passed, reasons = stats["rules"]["a/ping"]["packets"], {k: v for k, v in stats["reasons"].items() if v}
    # The rule's count is of requests and answers, as sessions count both.
    answered = stats["ports"]["p"]["to"]["packets"]
    requests = stats["ports"]["p"]["from"]["packets"]
    ring = numbered.ring_losses(path)
    late = memory_kib(daemon)
    early = early or late
    say(f"soak: {rounds} rounds, {turmoil.changes} policies, {turmoil.flaps} interfaces made and removed, "
        f"{requests} sessions made and expired, at most {peak} answered ones at once")
    say(f"soak: sent {sent} = passed {requests}" + "".join(f" + {name} {count}" for name, count in reasons.items())
        + f" + ring losses {ring}; difference {sent - requests - sum(reasons.values()) - ring}")
    say(f"soak: daemon {early[0]} KiB → {late[0]} KiB, tables {early[1]} KiB → {late[1]} KiB; "
        f"rule counted {passed}, answers {answered}")
    return {"sent": sent, "passed": requests, "reasons": reasons, "ring": ring, "early": early, "late": late}


def is_sound(result):
    """The equation holds, and nothing has grown."""
    accounted = result["passed"] + sum(result["reasons"].values()) + result["ring"]
    return (result["sent"] == accounted and result["late"][0] <= result["early"][0] + SLACK_KIB
            and result["late"][1] == result["early"][1])


def main():
    parser = argparse.ArgumentParser(description="sessions by the million, under turmoil")
    parser.add_argument("--seconds", type=int, default=600)
    arguments = parser.parse_args()
    with Lab() as lab:
        result = soak(lab, arguments.seconds)
    print("soak: holds" if is_sound(result) else "soak: DOES NOT HOLD")
    return 0 if is_sound(result) else 1


if __name__ == "__main__":
    sys.exit(main())
