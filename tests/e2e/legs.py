# SPDX-License-Identifier: Apache-2.0
"""
A way through a host, bridged or routed, one of whose legs is guarded: frames that are put in at one end
and seen at the other, and a flow that must never be disturbed.
"""

import socket
import threading
import time

import pytest
from scapy.layers.l2 import Ether

import traffic
from lab import Lab, Path

WITNESS_PORT = 7300
LEGS = {"near": ("h0", "from"), "far": ("h1", "to")}
OTHER = {"from": "to", "to": "from"}
LAST = b"last of the row"


class Site:
    """Frames enter at c0 and, where the guarded leg lets them, come out at s0."""

    def __init__(self, lab, hook, topology):
        self.hook, self.is_bridged = hook, topology == "bridged"
        self.path = Path(lab, self.is_bridged)
        self.daemon = lab.daemon(self.path.host)
        for family in (4, 6):  # neighbours are known
            traffic.icmp(self.path.client, self.path.server, self.path.server_addr[family], family).close()
        gateway = (self.path.server, "s0") if self.is_bridged else (self.path.host, "h0")
        self.ends = {"src": self.path.client.link("c0")["address"], "dst": gateway[0].link(gateway[1])["address"]}
        self.enter, self.leave = traffic.Tap(self.path.client, "c0"), traffic.Tap(self.path.server, "s0")

    def close(self):
        self.enter.close()
        self.leave.close()

    def legs(self):
        """Those on which the hook makes a difference: what leaves is always judged by TC."""
        return LEGS if self.hook == "tc" else ["near"]

    def port(self, leg, names):
        interface, direction = LEGS[leg]
        return {"interface": interface, "hook": self.hook, direction: names, OTHER[direction]: []}

    def apply(self, leg, rules):
        self.daemon.apply({"acls": {"a": {"rules": rules}}, "ports": {"p": self.port(leg, ["a"])}})
        assert self.daemon.port("p")["state"] == "guarded", self.daemon.port("p")
        self.daemon.api.delete("/v1/sessions?all=1")

    def arrivals(self, frames, last=None):
        """Of {mark: frame} the marks that come out, when all frames are sent in that order. `last`, sent
        behind them, always comes out: what has not come soon after it does not come."""
        frames = {mark: bytes(layers if isinstance(layers, Ether) else Ether(**self.ends) / layers)
                  for mark, layers in frames.items()}
        self.leave.read()
        self.enter.send(*frames.values())
        if last:
            self.enter.send(Ether(**self.ends) / last / LAST)
        found, until = set(), time.monotonic() + (2 if last else traffic.WAIT_S)
        while (left := until - time.monotonic()) > 0 and (last or found != set(frames)):
            for data in self.leave.read(left, is_incoming=True):
                found |= {mark for mark in frames if mark in data}
                if last and LAST in data:
                    last, until = None, time.monotonic() + 0.03
        assert not last, "the last frame has not come"
        return found

    def address(self, name, family):
        return (self.path.client_addr if name == "client" else self.path.server_addr)[family]


class Witness(threading.Thread):
    """A flow that every list admits: none of its datagrams may be missing."""

    def __init__(self, path):
        super().__init__()
        self.ears = traffic.make_socket(path.server, 4, socket.SOCK_DGRAM)
        self.ears.setsockopt(socket.SOL_SOCKET, 33, 16 << 20)  # SO_RCVBUFFORCE
        self.ears.bind((path.server_addr[4], WITNESS_PORT))
        self.sender = traffic.make_socket(path.client, 4, socket.SOCK_DGRAM)
        self.sender.connect((path.server_addr[4], WITNESS_PORT))
        self.sent = 0
        self.is_ended = False

    def run(self):
        while not self.is_ended:
            self.sender.send(b"witness")
            self.sent += 1
            time.sleep(0.0005)

    def finish(self):
        """How many were sent, and how many came."""
        self.is_ended = True
        self.join()
        self.ears.settimeout(traffic.WAIT_S)
        count = 0
        try:
            while count < self.sent:
                count += self.ears.recv(64) == b"witness"
        except TimeoutError:
            pass
        self.ears.close()
        self.sender.close()
        return self.sent, count


def sites():
    """The fixture `site`: both hooks, both topologies."""

    @pytest.fixture(scope="module", params=[(hook, topology) for hook in ("xdp", "tc")
                                            for topology in ("routed", "bridged")], ids="-".join)
    def site(request):
        with Lab() as lab:
            made = Site(lab, *request.param)
            yield made
            made.close()

    return site
