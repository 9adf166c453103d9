# SPDX-License-Identifier: Apache-2.0
"""
Who may send through a port, bridged and routed, on both hooks: MACs that are named exactly, by their first
bytes or not at all, with addresses of each kind; lists that are replaced under traffic; pairs that are
added to a port and taken from it.
"""

import itertools

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether

import traffic
from legs import WITNESS_PORT, Witness, sites

ALL = {"a": {"rules": [{"id": "all", "action": "allow-stateless"}]}}
MACS = {"exact": "02:aa:00:00:00:01", "oui": "02:bb:00:00:00:00/ff:ff:ff:00:00:00",
        "wild": "02:00:00:00:00:00/03:00:00:00:00:00"}
SENT_MAC = {"exact": "02:aa:00:00:00:01", "oui": "02:bb:00:77:66:55", "wild": "02:cc:12:34:56:78"}
OTHER_MAC = {"exact": "02:aa:00:00:00:02", "oui": "02:bb:01:77:66:55", "wild": "00:cc:12:34:56:78"}
PREFIXES = {"exact": ["10.1.0.77", "fd01::77"], "subnet": ["10.1.0.64/28", "fd01::70/124"],
            "wild": ["0.0.0.0/0", "::/0"]}
OTHER_ADDRESS = {"exact": {4: "10.1.0.78", 6: "fd01::78"}, "subnet": {4: "10.1.0.80", 6: "fd01::80"}}
ADDRESS = {4: "10.1.0.77", 6: "fd01::77"}
SWAPS = 30

site = sites()


def frame(site, mac, family, source, mark, tags=()):
    ip = IP if family == 4 else IPv6
    made = Ether(src=mac, dst=site.ends["dst"])
    for tag in tags:
        made /= Dot1Q(vlan=tag)
    return made / ip(src=source, dst=site.address("server", family)) / UDP(sport=1, dport=2) / mark


def guard(site, entries):
    """Port h0 with a shared list, in which the client's own stack is, too: it speaks when it likes."""
    entries = [{"mac": site.ends["src"], "prefixes": ["10.1.0.1", "fd01::1"]}] + entries
    site.daemon.apply({"acls": ALL, "macip": {"m": {"entries": entries}},
                       "ports": {"p": {**site.port("near", ["a"]), "macip": "m"}}})
    assert site.daemon.port("p")["state"] == "guarded", site.daemon.port("p")


def reasons(site, before):
    """Of senders: the server's own answers are dropped on their way back."""
    now = site.daemon.stats("p")["reasons"]
    return {name: count - before.get(name, 0) for name, count in now.items()
            if count != before.get(name, 0) and name.startswith("spoof")}


@pytest.mark.parametrize("prefixes", PREFIXES)
@pytest.mark.parametrize("mac", MACS)
def test_kinds_of_entries(site, mac, prefixes):
    """acl/48.2: exact, OUI and wild MAC × exact, subnet and wild address."""
    guard(site, [{"mac": MACS[mac], "prefixes": PREFIXES[prefixes]}])
    before = site.daemon.stats("p")["reasons"]
    sent, expected, wrong = {}, set(), {}
    for family in (4, 6):
        good, bad = f"good-{family};".encode(), f"mac-{family};".encode()
        sent[good] = frame(site, SENT_MAC[mac], family, ADDRESS[family], good)
        sent[bad] = frame(site, OTHER_MAC[mac], family, ADDRESS[family], bad)
        expected.add(good)
        wrong["spoof_mac"] = wrong.get("spoof_mac", 0) + 1
        if prefixes in OTHER_ADDRESS:
            bad = f"address-{family};".encode()
            sent[bad] = frame(site, SENT_MAC[mac], family, OTHER_ADDRESS[prefixes][family], bad)
            wrong["spoof_ip"] = wrong.get("spoof_ip", 0) + 1
    assert site.arrivals(sent) == expected
    assert reasons(site, before) == wrong


def test_tags(site):
    """acl/48.5: behind tags the same holds. (Only a bridge carries them on.)"""
    guard(site, [{"mac": MACS["exact"], "prefixes": PREFIXES["exact"]}])
    before = site.daemon.stats("p")["reasons"]
    sent, expected = {}, set()
    for family, tags in itertools.product((4, 6), ([5], [5, 6])):
        good, bad = (f"{word}-{family}-{len(tags)};".encode() for word in ("good", "bad"))
        sent[good] = frame(site, SENT_MAC["exact"], family, ADDRESS[family], good, tags)
        sent[bad] = frame(site, SENT_MAC["exact"], family, OTHER_ADDRESS["exact"][family], bad, tags)
        expected |= {good} if site.is_bridged else set()
    assert site.arrivals(sent) == expected
    assert reasons(site, before) == {"spoof_ip": 4}


def test_lists_replaced_under_traffic(site):
    """acl/48.3, acl/48.4: hundreds of entries, the whole list replaced again and again: the sender that every
    list has loses nothing, one that no list has gets nothing through."""

    def entries(number):
        return [{"mac": f"02:dd:00:{number % 256:02x}:{i // 256:02x}:{i % 256:02x}",
                 "prefixes": [f"10.1.{8 + i // 200}.{i % 200 + 1}", f"fd01::{number}:{i}"]} for i in range(300)]

    own = {"mac": site.ends["src"], "prefixes": ["10.1.0.1", "fd01::1"]}
    last = IP(src="10.1.0.1", dst=site.address("server", 4)) / UDP(sport=1, dport=WITNESS_PORT)
    guard(site, entries(0))
    witness = Witness(site.path)
    witness.start()
    try:
        for number in range(1, SWAPS + 1):
            assert site.daemon.api.put("/v1/macip/m", {"entries": [own] + entries(number)})["changed"]
            sent = {}
            for i in (0, 150, 299):
                addresses = {4: f"10.1.{8 + i // 200}.{i % 200 + 1}", 6: f"fd01::{number}:{i}"}
                for family, (word, who) in itertools.product((4, 6), (("now", number), ("old", number - 1))):
                    mark = f"{word}-{family}-{i};".encode()
                    mac = f"02:dd:00:{who % 256:02x}:{i // 256:02x}:{i % 256:02x}"
                    sent[mark] = frame(site, mac, family, addresses[family], mark)
            sent[b"spoofed;"] = frame(site, site.ends["src"], 4, "10.1.0.2", b"spoofed;")
            assert site.arrivals(sent, last) == {mark for mark in sent if mark.startswith(b"now")}, number
    finally:
        sent, came = witness.finish()
    assert sent == came > SWAPS


def test_pairs_come_and_go(site):
    """acl/50.1, acl/50.2: a port may send what it was given, more once it is given more, and no longer."""
    mac = site.ends["src"]
    first = {"mac": mac, "ips": ["10.1.0.1", "fd01::1"]}
    second = {"mac": "02:00:5e:00:01:09", "ips": ["10.1.0.99", "fd01::99"]}
    sent = {}
    for family in (4, 6):
        own, extra = {4: ("10.1.0.1", "10.1.0.99"), 6: ("fd01::1", "fd01::99")}[family]
        for word, source_mac, source in (("own", mac, own), ("pair", second["mac"], extra),
                                         ("ip", mac, extra), ("mac", second["mac"], own)):
            mark = f"{word}-{family};".encode()
            sent[mark] = frame(site, source_mac, family, source, mark)

    def arrive():
        return {mark.split(b"-")[0].decode() for mark in site.arrivals(sent)}

    site.daemon.apply({"acls": ALL, "ports": {"p": {**site.port("near", ["a"]), "addresses": [first]}}})
    before = site.daemon.stats("p")["reasons"]
    assert arrive() == {"own"}
    assert reasons(site, before) == {"spoof_mac": 4, "spoof_ip": 2}
    site.daemon.api.patch("/v1/config", {"ports": {"p": {"addresses": [first, second]}}})
    assert arrive() == {"own", "pair"}
    site.daemon.api.patch("/v1/config", {"ports": {"p": {"addresses": [first]}}})
    assert arrive() == {"own"}
    site.daemon.api.patch("/v1/config", {"ports": {"p": {"anti_spoof": False}}})
    assert arrive() == {"own", "pair", "ip", "mac"}


def test_answers_still_come_back(site):
    """A real connection by a guarded sender, and none under another's address."""
    site.daemon.apply({"acls": {"a": {"rules": [{"id": "all", "action": "allow"}]}}, "ports": {"p": {
        **site.port("near", ["a"]), "addresses": [{"mac": site.ends["src"], "ips": ["10.1.0.1", "fd01::1"]}]}}})
    site.path.client.address("c0", "10.1.0.9/24", "fd01::9/64")
    try:
        for family, other in ((4, "10.1.0.9"), (6, "fd01::9")):
            server = site.path.server_addr[family]
            result = traffic.tcp(site.path.client, site.path.server, server, family,
                                 source=site.address("client", family))
            assert result.has_request and result.has_reply
            result.close()
            result = traffic.udp(site.path.client, site.path.server, server, family, source=other)
            assert not result.has_request
            result.close()
    finally:
        site.path.client.ip("addr", "del", "10.1.0.9/24", "dev", "c0")
        site.path.client.ip("addr", "del", "fd01::9/64", "dev", "c0")
