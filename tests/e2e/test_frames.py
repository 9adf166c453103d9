# SPDX-License-Identifier: Apache-2.0
"""
Frames that sockets do not send: VLAN tags, odd EtherTypes, neighbour discovery. Bridged, both ends'
ports guarded, on both hooks. (Kernels without VLAN devices still carry tagged frames over a bridge.)
"""

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import ICMPv6ND_NS, ICMPv6NDOptSrcLLAddr, IPv6
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether

import traffic
from lab import Lab, Path

UDP_PORT = 5000
ALLOW_UDP = {"open": {"rules": [{"id": "udp", "action": "allow", "protocol": "udp", "dst_ports": [UDP_PORT]}]}}


class Wire:
    """Frames enter at c0 and, where policy lets them, leave at s0."""

    def __init__(self, lab, hook):
        self.hook = hook
        self.path = Path(lab, is_bridged=True)
        self.daemon = lab.daemon(self.path.host)
        self.mac = {name: ns.link(link)["address"] for name, ns, link in
                    (("client", self.path.client, "c0"), ("server", self.path.server, "s0"))}
        self.enter = traffic.Tap(self.path.client, "c0")
        self.leave = traffic.Tap(self.path.server, "s0")

    def close(self):
        self.enter.close()
        self.leave.close()

    def apply(self, acls, **ports):
        """ports: h0={"from": [...]}, h1={...}"""
        self.daemon.apply({"acls": acls, "ports": {
            name: {"interface": name, "hook": self.hook, **fields} for name, fields in ports.items()}})
        for name in ports:
            assert self.daemon.port(name)["state"] == "guarded", self.daemon.port(name)
        self.daemon.api.delete("/v1/sessions?all=1")
        self.before = self.daemon.stats()["reasons"]

    def ether(self, *layers, **fields):
        frame = Ether(src=self.mac["client"], dst=self.mac["server"], **fields)
        for layer in layers:
            frame = frame / layer
        return frame

    def passes(self, frame, mark):
        """Whether a frame that carries `mark` comes out at the other end."""
        self.leave.read()
        self.enter.send(frame)
        return self.leave.wait(lambda data: mark in data, traffic.WAIT_S) is not None

    def reasons(self):
        now = self.daemon.stats()["reasons"]
        news = {name: n - self.before.get(name, 0) for name, n in now.items() if n != self.before.get(name, 0)}
        self.before = now
        return news


@pytest.fixture(scope="module", params=["xdp", "tc"])
def wire(request):
    with Lab() as lab:
        made = Wire(lab, request.param)
        yield made
        made.close()


def udp(mark, port=UDP_PORT):
    return IP(src="10.1.0.1", dst="10.1.0.2") / UDP(sport=1111, dport=port) / mark


def udp6(mark, port=UDP_PORT):
    return IPv6(src="fd01::1", dst="fd01::2") / UDP(sport=1111, dport=port) / mark


TAGS = {
    "untagged": [],
    "vlan": [Dot1Q(vlan=100)],
    "priority": [Dot1Q(vlan=0, prio=5)],
    "service": [Dot1AD(vlan=200)],
    "qinq": [Dot1AD(vlan=200), Dot1Q(vlan=100)],
    "twice": [Dot1Q(vlan=200), Dot1Q(vlan=100)],
}


@pytest.mark.parametrize("packet", [udp, udp6], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("tags", TAGS.values(), ids=TAGS.keys())
@pytest.mark.parametrize("guarded", ["h0", "h1"])
def test_tagged_is_filtered_like_untagged(wire, guarded, tags, packet):
    direction = "from" if guarded == "h0" else "to"
    wire.apply(ALLOW_UDP, **{guarded: {direction: ["open"]}})
    assert wire.passes(wire.ether(*tags, packet(b"admitted")), b"admitted")
    assert wire.reasons() == {}
    assert not wire.passes(wire.ether(*tags, packet(b"refused!", UDP_PORT + 1)), b"refused!")
    assert wire.reasons() == {"default": 1}


@pytest.mark.parametrize("tags", [[], [Dot1Q(vlan=7)], [Dot1AD(vlan=7), Dot1Q(vlan=8)]], ids=["none", "one", "two"])
def test_tags_count_wherever_the_hook_finds_them(wire, tags):
    wire.apply(ALLOW_UDP, h0={"from": ["open"]}, h1={"to": ["open"]})
    frame = wire.ether(*tags, IP(src="10.1.0.1", dst="10.1.0.9"), UDP(sport=7000, dport=UDP_PORT), b"counted")
    before = wire.daemon.stats()["rules"]["open/udp"]
    assert wire.passes(frame, b"counted")
    after = wire.daemon.stats()["rules"]["open/udp"]
    assert after["packets"] - before["packets"] == 2
    assert after["bytes"] - before["bytes"] == 2 * len(frame)


@pytest.mark.parametrize("guarded", ["h0", "h1"])
def test_three_tags_are_dropped(wire, guarded):
    direction = "from" if guarded == "h0" else "to"
    wire.apply({"any": {"rules": [{"id": "all", "action": "allow"}]}}, **{guarded: {direction: ["any"]}})
    tags = [Dot1AD(vlan=3), Dot1Q(vlan=2), Dot1Q(vlan=1)]
    assert not wire.passes(wire.ether(*tags, udp(b"deep")), b"deep")
    assert wire.reasons() == {"tag_depth": 1}
    assert wire.passes(wire.ether(*tags[1:], udp(b"shallow")), b"shallow")


@pytest.mark.parametrize("guarded", ["h0", "h1"])
def test_default_deny_covers_every_ethertype(wire, guarded):
    direction = "from" if guarded == "h0" else "to"
    odd = wire.ether(b"experiment", type=0x88b5)
    wire.apply(ALLOW_UDP, **{guarded: {direction: ["open"]}})
    assert not wire.passes(odd, b"experiment")
    assert wire.reasons() == {"default": 1}
    wire.apply({"any": {"rules": [{"id": "all", "action": "allow"}]}}, **{guarded: {direction: ["any"]}})
    assert wire.passes(odd, b"experiment"), "a rule without match fields matches every frame"
    wire.apply({"ip": {"rules": [{"id": "ip", "action": "allow", "src": ["0.0.0.0/0", "::/0"]}]}},
               **{guarded: {direction: ["ip"]}})
    assert not wire.passes(odd, b"experiment"), "a rule with an IP field matches IP only"


def test_neighbours_are_found_under_an_empty_policy(wire):
    wire.apply({}, h0={"from": [], "to": []})
    was = wire.daemon.stats()["infrastructure"]
    for family in (4, 6):
        wire.path.client.ip("neigh", "flush", "dev", "c0")
        address = wire.path.server_addr[family]
        result = traffic.icmp(wire.path.client, wire.path.server, address, family)
        result.close()
        assert not result.has_request
        assert wire.mac["server"] in wire.path.client.ip("neigh", "show", address).stdout
    now = wire.daemon.stats()["infrastructure"]
    assert now["arp"] - was.get("arp", 0) >= 2 and now["nd"] - was.get("nd", 0) >= 2
    assert wire.reasons()["default"] >= 2


def test_infrastructure_can_be_switched_off(wire):
    request = wire.ether(ARP(op=1, hwsrc=wire.mac["client"], psrc="10.1.0.1", pdst="10.1.0.77"))
    target = bytes([10, 1, 0, 77])
    wire.apply({}, h0={"from": [], "to": [], "infrastructure": ["nd"]})
    assert not wire.passes(request, target)
    assert wire.reasons()["default"] >= 1
    wire.apply({}, h0={"from": [], "to": []})
    assert wire.passes(request, target)


@pytest.mark.parametrize("tags", [TAGS["untagged"], TAGS["vlan"]], ids=["untagged", "vlan"])
def test_neighbour_discovery_from_afar_is_dropped(wire, tags):
    """Hop limit 255 shows that no router was passed (RFC 4861 §7.1.1)."""
    wire.apply({}, h0={"from": [], "to": []})

    def solicitation(hop_limit):
        return wire.ether(*tags, IPv6(src="fe80::1", dst="ff02::1:ff00:2", hlim=hop_limit),
                          ICMPv6ND_NS(tgt="fe80::beef"), ICMPv6NDOptSrcLLAddr(lladdr=wire.mac["client"]))

    mark = bytes.fromhex("fe80000000000000000000000000beef")
    assert wire.passes(solicitation(255), mark)
    assert wire.reasons() == {}
    assert not wire.passes(solicitation(254), mark)
    assert wire.reasons() == {"hop_limit": 1}


def test_length_beyond_the_frame_is_malformed(wire):
    wire.apply({"any": {"rules": [{"id": "all", "action": "allow"}]}}, h0={"from": ["any"]})
    packet = udp(b"overlong")
    packet.len = 200
    assert not wire.passes(wire.ether(packet), b"overlong")
    packet = udp6(b"overlong")
    packet.plen = 200
    assert not wire.passes(wire.ether(packet), b"overlong")
    assert wire.reasons() == {"malformed": 2}


def test_two_ports_judge_the_same_packet_each_for_itself(wire):
    """h0 and h1 see one 5-tuple; a session of one is none of the other."""
    wire.apply(ALLOW_UDP, h0={"from": ["open"], "to": []}, h1={"from": [], "to": []})
    assert not wire.passes(wire.ether(udp(b"crossing")), b"crossing")
    assert wire.reasons() == {"default": 1}
    [session] = wire.daemon.sessions()
    assert (session["port"], session["opened"], session["state"]) == ("h0", "from", "one_way")

    wire.apply(ALLOW_UDP, h0={"from": ["open"], "to": []}, h1={"from": [], "to": ["open"]})
    path = wire.path
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, UDP_PORT)
    assert result.has_request and result.has_reply, result
    result.close()
    both = wire.daemon.sessions()
    assert sorted((s["port"], s["opened"], s["state"], s["dport"]) for s in both) == [
        ("h0", "from", "two_way", UDP_PORT), ("h1", "to", "two_way", UDP_PORT)]
    assert both[0]["domain"] != both[1]["domain"]
    assert all(s["orig"]["packets"] == 1 and s["reply"]["packets"] == 1 for s in both)
    # Removing the rule from one port cuts the flow there and nowhere else.
    wire.apply(ALLOW_UDP, h0={"from": [], "to": []}, h1={"from": [], "to": ["open"]})
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, UDP_PORT)
    assert not result.has_request
    result.close()


def test_absent_direction_passes_and_tracks(wire):
    """`from` is not given: everything enters, and its answers leave through a `to` that names other things."""
    path = wire.path
    wire.apply(ALLOW_UDP, h0={"to": ["open"]})
    for family in (4, 6):
        for send in traffic.SEND.values():
            result = send(path.client, path.server, path.server_addr[family], family)
            assert result.has_request and result.has_reply, (family, send)
            result.close()
    assert len(wire.daemon.sessions()) == 6
    assert {s["opened"] for s in wire.daemon.sessions()} == {"from"}
    assert {s.get("rule") for s in wire.daemon.sessions()} == {None}
    assert wire.reasons() == {}
    result = traffic.udp(path.server, path.client, path.client_addr[4], 4, UDP_PORT + 1)
    assert not result.has_request, "what opens in the given direction is judged by it"
    result.close()
    assert wire.reasons() == {"default": 1}
    result = traffic.udp(path.server, path.client, path.client_addr[4], 4, UDP_PORT)
    assert result.has_request and result.has_reply
    result.close()


def test_absent_direction_beside_stateless_rules_is_not_tracked(wire):
    path = wire.path
    wire.apply({"open": {"rules": [{"id": "udp", "action": "allow-stateless", "protocol": "udp",
                                    "dst_ports": [UDP_PORT]}]}}, h0={"to": ["open"]})
    result = traffic.udp(path.client, path.server, path.server_addr[4])
    assert result.has_request and not result.has_reply, result
    result.close()
    assert wire.daemon.sessions() == []
    assert wire.reasons() == {"default": 1}


def test_both_directions_absent_only_counts(wire):
    path = wire.path
    wire.apply({}, h0={})
    was = wire.daemon.stats("h0")["ports"]["h0"]
    result = traffic.udp(path.client, path.server, path.server_addr[4])
    result.close()
    assert result.has_reply
    now = wire.daemon.stats("h0")["ports"]["h0"]
    assert now["from"]["packets"] == was["from"]["packets"] + 1
    assert now["to"]["packets"] == was["to"]["packets"] + 1
    assert now["from"]["bytes"] == was["from"]["bytes"] + 14 + 20 + 8 + 5
    assert wire.daemon.sessions() == []
