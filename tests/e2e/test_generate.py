# SPDX-License-Identifier: Apache-2.0
"""The generator sends what it is asked for, and says what it sent: each frame is read back and taken apart."""

import itertools

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import Ether
from scapy.layers.ipsec import ESP

import generator
from traffic import tap

ADDRESSES = {4: ("10.1.0.1", "10.1.0.254"), 6: ("fd01::1", "fd01::fe")}
IP_LAYER = {4: IP, 6: IPv6}
HEADERS = {"udp": 8, "tcp": 20, "icmp": 8, "esp": 8}
END = ["--count", "12"]


@pytest.fixture(scope="module")
def wire(lab):
    """Two ends of a veth; nothing but the tests sends on it."""
    near, far = lab.namespace("near"), lab.namespace("far")
    for ns in (near, far):
        ns.sysctl("net.ipv6.conf.default.disable_ipv6", 1)
    lab.veth(near, "n0", far, "f0")
    generator.gro(far, "f0")
    return near, far


def send(wire, family, *args):
    """What the generator says, and the frames that arrived."""
    near, far = wire
    with tap(far, "f0") as ear:
        said = generator.generate(near, "n0", far.link("f0")["address"], *ADDRESSES[family], *args)
        frames = []
        while len(frames) < said["sent"]:
            more = ear.read(1, is_incoming=True)
            assert more, f"{len(frames)} of {said['sent']} frames arrived"
            frames += more
    return said, frames


def is_checksum_right(frame, layer):
    """Scapy computes anew what is deleted."""
    for each in ([IP] if IP in frame else []) + [layer]:
        again = frame.copy()
        name = "cksum" if each is ICMPv6EchoRequest else "chksum"
        if not hasattr(again[each], name):
            continue
        delattr(again[each], name)
        if getattr(frame[each], name) != getattr(Ether(bytes(again))[each], name):
            return False
    return True


def number(payload):
    return int.from_bytes(payload[:8], "big")


@pytest.mark.parametrize("family", [4, 6], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("protocol", ["udp", "tcp", "icmp", "esp"])
def test_frames(wire, protocol, family):
    """Addresses, lengths and checksums of several flows and sizes; numbered without a gap."""
    layer = {"udp": UDP, "tcp": TCP, "icmp": ICMP if family == 4 else ICMPv6EchoRequest, "esp": ESP}[protocol]
    said, raw = send(wire, family, "--protocol", protocol, "--srcs", 2, "--dsts", 3, "--sports", 2,
                     "--payload", "8,9x2,100", "--count", 96)
    frames = [Ether(frame) for frame in raw]
    assert said["sent"] == len(frames) == 96
    assert said["flows"] == 12
    assert said["bytes"] == sum(map(len, raw))
    near, far = wire
    flows, sizes = {}, {}
    for i, frame in enumerate(frames):
        ip = frame[IP_LAYER[family]]
        assert (frame.src, frame.dst) == (near.link("n0")["address"], far.link("f0")["address"])
        assert is_checksum_right(frame, layer), frame.show(dump=True)
        size = (ip.len - 20 if family == 4 else ip.plen) - HEADERS[protocol]
        payload = raw[i][-size:]
        assert number(payload) == i
        assert payload[8:] == bytes(range(8, size))
        sizes[size] = sizes.get(size, 0) + 1
        ident = {"udp": lambda: ip[UDP].sport, "tcp": lambda: ip[TCP].sport, "esp": lambda: ip[ESP].spi,
                 "icmp": lambda: ip[layer].id}[protocol]()
        flows.setdefault((ip.src, ip.dst, ident), []).append(i)
        if protocol == "esp":
            assert ip[ESP].seq == i + 1
        if protocol == "icmp":
            assert ip[layer].seq == i
    assert sizes == {8: 24, 9: 48, 100: 24}
    assert len(flows) == 12
    assert {src for src, _, _ in flows} == set(ADDRESSES[family][:1]) | {{4: "10.1.0.2", 6: "fd01::2"}[family]}
    first = {"udp": 4000, "tcp": 4000, "icmp": 1, "esp": 256}[protocol]
    assert {ident for _, _, ident in flows} == {first, first + 1}
    for places in flows.values():  # in turn
        assert all(b - a == 12 for a, b in itertools.pairwise(places))


def test_destination_ports_vary_fastest(wire):
    _, raw = send(wire, 4, "--dport", 7000, "--dports", 3, "--sport", 9, "--sports", 2, *END)
    assert [(f[UDP].sport, f[UDP].dport) for f in map(Ether, raw)] == \
        [(sport, dport) for _ in range(2) for sport in (9, 10) for dport in (7000, 7001, 7002)]


def test_random_order_is_the_seed_s(wire):
    def ports(seed):
        _, raw = send(wire, 4, "--dports", 1000, "--order", "random", "--seed", seed, "--count", 200)
        assert all(is_checksum_right(frame, UDP) for frame in map(Ether, raw))
        return [Ether(frame)[UDP].dport for frame in raw]

    one, again, other = ports(1), ports(1), ports(2)
    assert one == again != other
    assert len(set(one)) > 150 and min(one) >= 4000 and max(one) < 5000
    assert one != sorted(one)


@pytest.mark.parametrize("flags, expected", [("syn", "S"), ("syn,ack", "SA"), ("none", ""), ("fin,psh,ack", "FPA")])
def test_tcp_flags(wire, flags, expected):
    _, raw = send(wire, 6, "--protocol", "tcp", "--flags", flags, *END)
    assert {str(Ether(frame)[TCP].flags) for frame in raw} == {expected}


@pytest.mark.parametrize("vids", [[100], [7, 4000]])
def test_vlan_tags(wire, vids):
    """The kernel takes the outer tag out of the packet before a packet socket sees it."""
    near, far = wire
    with tap(far, "f0") as ear:
        ear.socket.setsockopt(263, 8, 1)  # SOL_PACKET, PACKET_AUXDATA
        generator.generate(near, "n0", far.link("f0")["address"], *ADDRESSES[4], "--vlan",
                           ",".join(map(str, vids)), *END)
        data, extra, _, _ = ear.socket.recvmsg(2000, 200)
    [aux] = [value for level, kind, value in extra if (level, kind) == (263, 8)]
    outer, tpid = (int.from_bytes(aux[at:at + 2], "little") for at in (16, 18))
    assert outer == vids[0]
    assert tpid == (0x88a8 if len(vids) == 2 else 0x8100)
    inner = Ether(data)
    assert ([inner.payload.vlan] if len(vids) == 2 else []) == vids[1:]
    assert is_checksum_right(inner, UDP)


def test_frame_sizes_and_imix(wire):
    said, raw = send(wire, 4, "--frame", "imix", *END)
    assert sorted(map(len, raw)) == [64] * 7 + [590] * 4 + [1514]
    assert said["bytes"] == 7 * 64 + 4 * 590 + 1514
    _, raw = send(wire, 6, "--protocol", "tcp", "--frame", 20, *END)
    assert {len(frame) for frame in raw} == {14 + 40 + 20}


def test_pages_that_a_receiver_changed(lab, wire):
    """The kernel hands a page again with what its last receiver wrote into it: a forwarding host's TTL."""
    near, far = wire
    lab.veth(far, "out", near, "in")
    far.sysctl("net.ipv4.ip_forward", 1)
    far.address("f0", "10.1.0.254/24")
    far.address("out", "10.8.0.1/24")
    far.ip("neigh", "add", "10.8.0.2", "lladdr", "02:00:00:00:00:01", "dev", "out")
    with tap(near, "in") as ear:
        said = generator.generate(near, "n0", far.link("f0")["address"], "10.1.0.1", "10.8.0.2",
                                  "--count", 2000, "--rate", 4000)
        frames = [Ether(frame) for frame in ear.read(1)]
    assert said["sent"] == 2000
    assert len(frames) == 2000
    assert {frame[IP].ttl for frame in frames} == {63}


def test_rate_and_duration(wire):
    near, far = wire
    said = generator.generate(near, "n0", far.link("f0")["address"], *ADDRESSES[4], "--rate", 3000, "--duration", 2)
    assert 2 <= said["seconds"] < 2.3
    assert len(said["per_second"]) in (2, 3)
    assert sum(said["per_second"]) == said["sent"]
    assert all(abs(frames - 3000) < 300 for frames in said["per_second"][:2]), said
    assert abs(said["sent"] - 6000) < 600
    assert abs(said["pps"] - said["sent"] / said["seconds"]) < 5
    # Whichever end comes first.
    said = generator.generate(near, "n0", far.link("f0")["address"], *ADDRESSES[4], "--count", 100, "--duration", 60)
    assert said["sent"] == 100 and said["seconds"] < 5


def test_refusals(wire):
    """It has an end, and says what is wrong."""
    base = ["--device", "n0", "--dst-mac", "02:00:00:00:00:01", "--src", "10.1.0.1", "--dst", "10.1.0.2"]
    assert "--count" in generator.refusal(wire[0], *base)
    for args, word in (
            (["--count", "0"], "out of range"), (["--count", "-1"], "not a number"),
            (["--duration", "86401"], "out of range"), ([*END, "--protocol", "sctp"], "choices"),
            ([*END, "--dport", "65535", "--dports", "2"], "last port"),
            ([*END, "--protocol", "esp", "--dports", "2"], "no ports"),
            ([*END, "--payload", "3400"], "3400"), ([*END, "--payload", "8x257"], "out of range"),
            ([*END, "--vlan", "1,2,3"], "two tags"), ([*END, "--flags", "syn,xmas"], "choices"),
            ([*END, "--dst", "fd01::1"], "family"), ([*END, "--dst", "10.0.0.0/8"], "not an address"),
            ([*END, "--srcs", "70000", "--sports", "61000", "--dsts", "70000"], "too many"),
            ([*END, "--src", "255.255.255.255", "--srcs", "2"], "last address"),
            ([*END, "--device", "nothere0"], "nothere0"), ([*END, "more"], "not an option")):
        assert word in generator.refusal(wire[0], *base, *args), args
    assert "must be given" in generator.refusal(wire[0], *END)
