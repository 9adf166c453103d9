# SPDX-License-Identifier: Apache-2.0
"""
A flood of SYNs from a million sources that the rules admit, while a thousand connections are open: none
of them is lost, and no table and no process grows.
"""

import resource
import socket

import pytest

import generator
import numbered
import traffic
from lab import Path, eventually

CONNECTIONS = 500  # of each family
SOURCES = 1_000_000  # of each family
PORT = 7800
TARGET = {4: "10.2.9.9", 6: "fd02:9::9"}  # nobody: the host swallows what the port lets through
FIRST_SOURCE = {4: "16.0.0.1", 6: "2001:db8:1::1"}
SLACK_KIB = 8192  # what the daemon may hold more than before
POLICY = {
    "acls": {"a": {"rules": [
        {"id": "flood", "action": "allow", "protocol": "tcp", "dst": list(TARGET.values()), "dst_ports": [80]},
        {"id": "work", "action": "allow", "protocol": "tcp", "dst_ports": [PORT]}]}},
}


class Connections:
    """As many as there are to be, each with both of its ends."""

    def __init__(self, path, count):
        self.pairs, self.listeners = [], []
        for family in (4, 6):
            listener = traffic.make_socket(path.server, family, socket.SOCK_STREAM)
            listener.bind((path.server_addr[family], PORT))
            listener.listen(count)
            listener.settimeout(10)
            self.listeners.append(listener)
            with path.client.entered():
                self.pairs += [self.open(listener, family, path.server_addr[family]) for _ in range(count)]

    @staticmethod
    def open(listener, family, address):
        near = socket.socket(socket.AF_INET if family == 4 else socket.AF_INET6, socket.SOCK_STREAM)
        near.settimeout(10)
        near.connect((address, PORT))
        far, _ = listener.accept()
        far.settimeout(10)
        return near, far

    def talking(self, text):
        """How many carry `text` both ways: all have sent before the first is read."""
        for near, _ in self.pairs:
            near.sendall(text)
        for _, far in self.pairs:
            if far.recv(64) == text:
                far.sendall(text[::-1])
        return sum(near.recv(64) == text[::-1] for near, _ in self.pairs)

    def close(self):
        for sock in [sock for pair in self.pairs for sock in pair] + self.listeners:
            sock.close()


def memory_kib(daemon):
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as lines:
        [anonymous] = [int(line.split()[1]) for line in lines if line.startswith("RssAnon:")]
    return anonymous, sum(daemon.api.get("/v1/status")["memory"].values()) // 1024


@pytest.fixture
def many_files():
    """For both ends of a thousand connections."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], 8192), max(before[1], 8192)))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_established_connections_survive_a_flood(fresh_lab, many_files, capsys, hook):
    """acl/20, acl/21"""
    path = Path(fresh_lab, is_bridged=False)
    generator.gro(path.host, "h0")
    for family, target in TARGET.items():
        path.host.ip(f"-{family}", "route", "add", "blackhole", target)
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(POLICY | {"ports": {"p": {"interface": "h0", "hook": hook, "from": ["a"], "to": []}}})
    daemon.wait_port("p")
    connections = Connections(path, CONNECTIONS)
    try:
        assert connections.talking(b"before") == 2 * CONNECTIONS
        before = memory_kib(daemon)
        sent = sum(generator.generate(
            path.client, "c0", path.host.link("h0")["address"], FIRST_SOURCE[family], TARGET[family],
            "--protocol", "tcp", "--dport", 80, "--srcs", SOURCES, "--count", SOURCES)["sent"] for family in (4, 6))
        eventually(lambda: daemon.packets("a/flood") >= sent - numbered.ring_losses(path), what="all are judged")
        status, judged = daemon.api.get("/v1/status")["sessions"], daemon.packets("a/flood")
        established = status["used"]
        talking = connections.talking(b"after")
    finally:
        connections.close()
    after = memory_kib(daemon)
    with capsys.disabled():
        print(f"\nhook {hook}: {sent} SYNs = {judged} judged + {numbered.ring_losses(path)} lost in rings, "
              f"{status['new_used']} of {status['new_max']} new flows; "
              f"{established} established, {talking} of {2 * CONNECTIONS} still talk; "
              f"daemon {before[0]} KiB → {after[0]} KiB, tables {before[1]} KiB → {after[1]} KiB")
    assert judged + numbered.ring_losses(path) == sent
    assert judged > SOURCES, "the flood reached the port"
    assert established == talking == 2 * CONNECTIONS
    assert status["new_used"] <= status["new_max"] < SOURCES
    assert after[0] <= before[0] + SLACK_KIB and after[1] == before[1]
