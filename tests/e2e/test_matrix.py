# SPDX-License-Identifier: Apache-2.0
"""
Every kind of verdict on every kind of path: IPv4 and IPv6, TCP, UDP and ICMP, opened through the port
from its far side (`from`) and towards it (`to`), on both hooks, routed and bridged. The guarded port is
the client's; the number of packets that a rule counts is compared with a packet socket beside it.
"""

import pytest
import struct

import traffic
from lab import Lab, Path, eventually

OTHER = {"from": "to", "to": "from"}
NUMBER = {"tcp": {4: 6, 6: 6}, "udp": {4: 17, 6: 17}, "icmp": {4: 1, 6: 58}}
ANSWERED = {"tcp": "established", "udp": "two_way", "icmp": "two_way"}


class Site:
    def __init__(self, lab, hook, topology):
        self.hook = hook
        self.path = Path(lab, topology == "bridged")
        self.daemon = lab.daemon(self.path.host)
        # Neighbours are known before the first verdict is measured.
        for family in (4, 6):
            traffic.icmp(self.path.client, self.path.server, self.path.server_addr[family], family).close()

    def apply(self, acls, **lists):
        self.daemon.apply({"acls": acls, "ports": {"p": {"interface": "h0", "hook": self.hook, **lists}}})
        self.daemon.api.delete("/v1/sessions?all=1")
        port = self.daemon.port("p")
        assert (port["state"], port["hook"]) == ("guarded", self.hook), port
        assert port["mode"] == ("native" if self.hook == "xdp" else "tcx"), port

    def ends(self, direction, family):
        """opener, its address, answerer, its address"""
        ends = [(self.path.client, self.path.client_addr[family]), (self.path.server, self.path.server_addr[family])]
        if direction == "to":
            ends.reverse()
        return (*ends[0], *ends[1])


@pytest.fixture(scope="module", params=[(hook, topology) for hook in ("xdp", "tc") for topology in ("routed", "bridged")],
                ids="-".join)
def site(request):
    with Lab() as lab:
        yield Site(lab, *request.param)


def forward(case, port):
    _, source, _, destination = case.ends
    match = {"src": [source], "dst": [destination], "protocol": case.protocol}
    match |= {"icmp_type": "echo-request"} if case.kind == "icmp" else {"dst_ports": [port]}
    return match


def backward(case, port):
    _, source, _, destination = case.ends
    match = {"src": [destination], "dst": [source], "protocol": case.protocol}
    match |= {"icmp_type": "echo-reply"} if case.kind == "icmp" else {"src_ports": [port]}
    return match


class Case:
    def __init__(self, site, family, kind, direction):
        self.site, self.daemon = site, site.daemon
        self.family, self.kind, self.direction = family, kind, direction
        self.protocol = "icmpv6" if (kind, family) == ("icmp", 6) else kind
        self.ends = site.ends(direction, family)
        self.port = traffic.new_port()

    def exchange(self, port=None):
        opener, _, answerer, address = self.ends
        return traffic.SEND[self.kind](opener, answerer, address, self.family, port or self.port)

    def apply(self, rules, back=()):
        self.site.apply({"web": {"rules": rules}, "back": {"rules": list(back)}},
                        **{self.direction: ["web"], OTHER[self.direction]: ["back"]})
        self.before = self.daemon.stats("p")

    def reasons(self):
        now = self.daemon.stats("p")["reasons"]
        was = self.before["reasons"]
        return {name: n - was.get(name, 0) for name, n in now.items() if n != was.get(name, 0)}

    def rule_packets(self, rule):
        """Since the policy was applied; counters outlive a replacement."""
        return (self.daemon.stats("p")["rules"].get(rule, {}).get("packets", 0)
                - self.before["rules"].get(rule, {}).get("packets", 0))

    def dropped(self, direction):
        now = self.daemon.stats("p")["ports"]["p"][direction]["dropped"]
        return now - self.before["ports"]["p"][direction]["dropped"]

    def frames_of(self, frames, port):
        return sum(1 for frame in frames if self.is_flow(frame, port))

    def is_flow(self, frame, port):
        if frame[12:14] != (b"\x08\x00" if self.family == 4 else b"\x86\xdd"):
            return False
        protocol, head = (frame[23], 34) if self.family == 4 else (frame[20], 54)
        if protocol != NUMBER[self.kind][self.family] or len(frame) < head + 8:
            return False
        words = struct.unpack("!4H", frame[head:head + 8])
        return words[2] == port if self.kind == "icmp" else port in words[:2]


@pytest.fixture(params=["from", "to"])
def direction(request):
    return request.param


@pytest.fixture(params=["tcp", "udp", "icmp"])
def kind(request):
    return request.param


@pytest.fixture(params=[4, 6], ids=["ipv4", "ipv6"])
def family(request):
    return request.param


@pytest.fixture
def case(site, family, kind, direction):
    return Case(site, family, kind, direction)


def test_allow(case):
    """Replies come back by themselves through a direction that admits nothing; all packets of the flow
    count for the rule; there is one session."""
    case.apply([{"id": "open", "action": "allow", **forward(case, case.port)}])
    with traffic.tap(case.site.path.client, "c0") as tap:
        result = case.exchange()
        assert result.has_request and result.has_reply, result
        seen = 0

        def is_counted():
            nonlocal seen
            seen += case.frames_of(tap.read(), result.port)
            return case.rule_packets("web/open") == seen

        eventually(is_counted, 2, "the rule counts what the wire carries")
        assert seen >= (7 if case.kind == "tcp" else 2)

    [session] = case.daemon.sessions()
    _, source, _, destination = case.ends
    assert session["port"] == "p" and session["opened"] == case.direction
    assert (session["src"], session["dst"]) == (source, destination)
    assert session["state"] == ANSWERED[case.kind]
    assert (session["acl"], session["rule"]) == ("web", "web/open")
    assert session["orig"]["packets"] + session["reply"]["packets"] == seen
    if case.kind == "icmp":
        assert session["icmp_id"] == result.port
    else:
        assert (session["sport"], session["dport"]) == (result.source_port, result.port)
    assert case.reasons() == {}
    result.close()
    if case.kind == "tcp":
        eventually(lambda: case.daemon.sessions()[0]["state"] == "closing", 2, "both FINs seen")


def test_default_drop(case):
    """What no rule names is dropped, in the direction it came from, and opens nothing."""
    case.apply([{"id": "open", "action": "allow", **forward(case, case.port), "src": ["192.0.2.1", "2001:db8::1"]}]
               if case.kind == "icmp" else
               [{"id": "open", "action": "allow", **forward(case, traffic.new_port())}])
    result = case.exchange()
    result.close()
    assert not result.has_request, result
    assert case.reasons() == {"default": 1}
    assert case.dropped(case.direction) == 1 and case.dropped(OTHER[case.direction]) == 0
    assert case.rule_packets("web/open") == 0
    assert case.daemon.sessions() == []


def test_stateless(case):
    """One way only; the way back needs its own rule; nothing is tracked."""
    rule = {"id": "open", "action": "allow-stateless", **forward(case, case.port)}
    case.apply([rule])
    result = case.exchange()
    result.close()
    assert result.has_request and not result.has_reply, result
    assert case.rule_packets("web/open") == 1
    assert set(case.reasons()) == {"default"}
    assert case.dropped(OTHER[case.direction]) >= 1 and case.dropped(case.direction) == 0
    assert case.daemon.sessions() == []

    port = case.port = traffic.new_port()
    case.apply([rule | forward(case, port)],
               [{"id": "return", "action": "allow-stateless", **backward(case, port)}])
    result = case.exchange()
    assert result.has_request and result.has_reply, result
    assert case.daemon.sessions() == []
    assert case.rule_packets("web/open") >= 1 and case.rule_packets("back/return") >= 1
    result.close()


def test_drop(case):
    """The first rule that matches decides, although a later one would allow."""
    case.apply([{"id": "no", "action": "drop", **forward(case, case.port)},
                {"id": "rest", "action": "allow"}])
    result = case.exchange()
    result.close()
    assert not result.has_request, result
    assert case.reasons() == {"rule_drop": 1}
    assert case.rule_packets("web/no") == 1 and case.rule_packets("web/rest") == 0
    assert case.dropped(case.direction) == 1
    assert case.daemon.sessions() == []
