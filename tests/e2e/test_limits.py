# SPDX-License-Identifier: Apache-2.0
"""
Limits of a port: as many sessions, half-open ones and sessions of one source as it says, no fewer; what is
over is dropped under the limit's own name, and room that falls free is there again within two seconds.
"""

import json
import os

import pytest

import traffic
from lab import BUILD, eventually, run

SOURCES = {4: ("10.1.0.1", "10.1.0.77"), 6: ("fd01::1", "fd01::77")}
PORT = 7900


@pytest.fixture(scope="module")
def host(daemon, path):
    path.client.address("c0", "10.1.0.77/24", "fd01::77/64")
    return daemon


def apply(host, **limits):
    host.api.delete("/v1/sessions?all=1")
    rules = [{"id": "all", "action": "allow", "protocol": ["udp", "tcp"], "dst_ports": [PORT]}]
    host.apply({"acls": {"a": {"rules": rules}},
                "ports": {"p": {"interface": "h0", "from": ["a"], "to": [], "limits": limits}}})
    before = host.stats("p")["reasons"]

    def dropped(reason):
        return host.stats("p")["reasons"].get(reason, 0) - before.get(reason, 0)

    return dropped


def opens(host, path, family, source=0, first=30000, count=1):
    """How many of `count` flows, from one source port each, opened a session."""
    def judged():
        counter = host.stats("p")["ports"]["p"]["from"]
        return counter["packets"] + counter["dropped"]

    before, start = len(host.sessions()), judged()
    sockets = []
    for i in range(count):
        sock = traffic.make_socket(path.client, family, traffic.socket.SOCK_DGRAM)
        sock.bind((SOURCES[family][source], first + i))
        sock.sendto(b"x", (path.server_addr[family], PORT))
        sockets.append(sock)
    eventually(lambda: judged() - start >= count, what="packets judged")
    for sock in sockets:
        sock.close()
    return len(host.sessions()) - before


@pytest.mark.parametrize("family", [4, 6])
def test_port(host, path, family):
    dropped = apply(host, sessions=20)
    assert opens(host, path, family, count=19) == 19
    assert dropped("limit_port") == 0, "refused below the limit"
    assert opens(host, path, family, first=31000, count=5) == 1
    assert dropped("limit_port") == 4
    # A session that is there already goes on.
    assert opens(host, path, family, count=19) == 0 and dropped("limit_port") == 4
    host.api.delete("/v1/sessions?sport=30000")
    eventually(lambda: opens(host, path, family, first=32000) == 1, what="the free place is there again")


@pytest.mark.parametrize("family", [4, 6])
def test_source(host, path, family):
    dropped = apply(host, sessions_per_source=5)
    assert opens(host, path, family, source=0, count=8) == 5
    assert dropped("limit_source") == 3
    assert opens(host, path, family, source=1, count=5) == 5, "another source has its own limit"
    assert dropped("limit_source") == 3
    host.api.delete(f"/v1/sessions?src={SOURCES[family][1]}")
    eventually(lambda: opens(host, path, family, source=1, first=33000) == 1, what="the source may again")
    assert opens(host, path, family, source=0, first=34000) == 0


def test_limit_lifted_and_set_again(host, path):
    apply(host, sessions=3)
    assert opens(host, path, 4, count=5) == 3
    host.api.patch("/v1/config", {"ports": {"p": {"limits": None}}})
    assert opens(host, path, 4, first=35000, count=5) == 5
    host.api.patch("/v1/config", {"ports": {"p": {"limits": {"sessions": 3}}}})
    eventually(lambda: opens(host, path, 4, first=36000) == 0, what="those from before count")


def told(host):
    """All events of the kind so far."""
    done = run("timeout", "1", os.path.join(BUILD, "sgctl"), "--socket", host.socket, "monitor", "--types", "session_80",
               "--after", "0", "-o", "json", check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_told_at_80_percent(host, path):
    apply(host, sessions=10)
    assert opens(host, path, 4, count=7) == 7
    assert ("p", 10) not in [(event.get("port"), event["max"]) for event in told(host)]
    assert opens(host, path, 4, first=37000) == 1
    eventually(lambda: ("p", 8, 10) in [(event.get("port"), event["used"], event["max"]) for event in told(host)],
               what="told")
