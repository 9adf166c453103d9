# SPDX-License-Identifier: Apache-2.0
"""
Bridged and routed, either leg of the way guarded, both hooks: packets with extension headers and
fragments meet the verdict that plain ones meet; lists that come and go at random under traffic decide as
a plain reading of them does.
"""

import itertools
import random

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, PadN

import traffic
from legs import LEGS, WITNESS_PORT as PORT, Witness, sites

ROUNDS = 20
site = sites()


def rows(site, port):
    """{mark: layers}: one datagram of each shape; of fragments the mark is in each."""
    ipv4 = {"src": site.address("client", 4), "dst": site.address("server", 4)}
    ipv6 = {"src": site.address("client", 6), "dst": site.address("server", 6)}
    udp = {"sport": 1111, "dport": port}

    def options(header):
        return header(options=[PadN(optdata=b"\0" * 4)])

    marks = {
        b"plain-4": IP(**ipv4) / UDP(**udp) / b"plain-4",
        b"options-4": IP(options=[b"\1" * 8], **ipv4) / UDP(**udp) / b"options-4",
        b"plain-6": IPv6(**ipv6) / UDP(**udp) / b"plain-6",
        b"hop-by-hop": IPv6(**ipv6) / options(IPv6ExtHdrHopByHop) / UDP(**udp) / b"hop-by-hop",
        b"destination": IPv6(**ipv6) / options(IPv6ExtHdrDestOpt) / UDP(**udp) / b"destination",
        b"chain": IPv6(**ipv6) / options(IPv6ExtHdrHopByHop) / options(IPv6ExtHdrDestOpt) / UDP(**udp) / b"chain",
        b"atomic": IPv6(**ipv6) / IPv6ExtHdrFragment(id=7) / UDP(**udp) / b"atomic",
    }
    # The length and checksum of the whole; nobody puts it together on this way.
    marks |= {
        b"first-4": IP(id=9, flags="MF", **ipv4) / UDP(len=48, chksum=1, **udp) / b"first-4 ".ljust(24),
        b"later-4": IP(id=9, frag=4, proto=17, **ipv4) / b"later-4 ".ljust(16),
        b"first-6": IPv6(**ipv6) / IPv6ExtHdrFragment(id=9, m=1) / UDP(len=48, chksum=1, **udp) / b"first-6 ".ljust(24),
        b"later-6": IPv6(**ipv6) / IPv6ExtHdrFragment(id=9, offset=4, nh=17) / b"later-6 ".ljust(16),
    }
    return marks


RULES = {
    "reflect": {"id": "r", "action": "allow"},
    "stateless": {"id": "r", "action": "allow-stateless"},
    "deny": {"id": "r", "action": "drop"},
    "by-port": {"id": "r", "action": "allow", "protocol": "udp", "dst_ports": [PORT]},
    "other-port": {"id": "r", "action": "allow", "protocol": "udp", "dst_ports": [PORT + 1]},
}


@pytest.mark.parametrize("name", RULES)
def test_shapes_of_packets(site, name):
    """acl/47.2, acl/47.3: what a rule says of a datagram holds with extension headers and in fragments."""
    for leg in site.legs():
        site.apply(leg, [RULES[name]])
        sent = rows(site, PORT)
        assert site.arrivals(sent) == (set() if name in ("deny", "other-port") else set(sent)), leg


@pytest.mark.parametrize("family", [4, 6])
def test_reflect_and_deny(site, family):
    """acl/47.1: through the leg that is guarded answers come back by themselves, or nothing passes at all."""
    server = site.path.server_addr[family]
    for leg, (kind, send) in itertools.product(site.legs(), traffic.SEND.items()):
        site.apply(leg, [{"id": "r", "action": "allow", "dst": [server]}])
        result = send(site.path.client, site.path.server, server, family)
        assert result.has_request and result.has_reply, (leg, kind, result)
        result.close()
        assert [session["opened"] for session in site.daemon.sessions()] == [LEGS[leg][1]]
        site.apply(leg, [{"id": "r", "action": "drop", "dst": [server]}, {"id": "rest", "action": "allow"}])
        result = send(site.path.client, site.path.server, server, family)
        assert not result.has_request, (leg, kind, result)
        result.close()


# ── lists at random ──────────────────────────────────────────────────────────────────────────────────


def random_rules(random_source):
    rules = [{"id": "witness", "action": "allow", "protocol": "udp", "dst_ports": [PORT]}]
    for number in range(random_source.randrange(12)):
        low = random_source.randrange(8000, 8010)
        rules.append({"id": f"r{number}", "action": random_source.choice(["allow", "allow-stateless", "drop"]),
                      "protocol": "udp", "src_ports": [random_source.choice(["1-4000", "2000-2001", 2002])],
                      "dst_ports": [f"{low}-{low + random_source.randrange(4)}"]}
                     | random_source.choice([{}, {"family": "ipv4"}, {"family": "ipv6"}]))
    return rules


def is_in(value, word):
    low, _, high = str(word).partition("-")
    return int(low) <= value <= int(high or low)


def is_admitted(rules, family, sport, dport):
    """The plain reading: the first rule that matches decides, and none is a drop."""
    for rule in rules:
        if (rule.get("family", f"ipv{family}") == f"ipv{family}" and is_in(dport, rule["dst_ports"][0])
                and all(is_in(sport, word) for word in rule.get("src_ports", []))):
            return rule["action"] != "drop"
    return False


def probes(site):
    for family, sport, dport in itertools.product((4, 6), (2000, 2001, 2002), range(8000, 8012)):
        ip = IP if family == 4 else IPv6
        mark = f"probe-{family}-{sport}-{dport};".encode()
        yield mark, (family, sport, dport), (ip(src=site.address("client", family), dst=site.address("server", family))
                                             / UDP(sport=sport, dport=dport) / mark)


def test_random_lists_under_traffic(site):
    """acl/47.4: applied, replaced and taken away while packets pass."""
    random_source = random.Random(47)
    all_probes = list(probes(site))
    frames = {mark: layers for mark, _, layers in all_probes}
    last = IP(src=site.address("client", 4), dst=site.address("server", 4)) / UDP(sport=1, dport=PORT)
    witness = Witness(site.path)
    witness.start()
    try:
        for number, leg in itertools.product(range(ROUNDS), site.legs()):
            rules = random_rules(random_source)
            if number % 5 == 4:  # nothing is guarded
                site.daemon.apply({})
                expected = set(frames)
            else:
                site.daemon.apply({"acls": {"a": {"rules": rules}}, "ports": {leg: site.port(leg, ["a"])}})
                expected = {mark for mark, probe, _ in all_probes if is_admitted(rules, *probe)}
            found = site.arrivals(frames, last)
            assert found == expected, (number, leg, rules, found ^ expected)
    finally:
        sent, came = witness.finish()
    assert sent == came > ROUNDS, "a flow that every list admits was disturbed"
