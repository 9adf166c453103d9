# SPDX-License-Identifier: Apache-2.0
"""
A rejected packet is answered at once: a reset for TCP, an ICMP error for the rest, whichever side of the
port its sender is on, routed and bridged; nothing that is itself an answer is answered. acl/42, acl/49
"""

import errno
import fcntl
import os
import select
import socket
import struct
import time

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether

import traffic
from lab import Lab, Path, eventually

FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}
# What a connected UDP socket makes of "administratively prohibited".
PROHIBITED = {4: errno.EHOSTUNREACH, 6: errno.EACCES}
REJECT = {"no": {"rules": [{"id": "r", "action": "reject"}]}}
WAIT_S = 3  # an answer comes at once; without one TCP would ask again after a second, and get none


def connect(ns, family, address, port=7001):
    """The errno of a connection that is tried once; None: no answer in time."""
    with ns.entered():
        sock = socket.socket(FAMILY[family], socket.SOCK_STREAM)
    with sock:
        sock.settimeout(WAIT_S)
        try:
            return sock.connect_ex((address, port))
        except TimeoutError:
            return None


def send_udp(ns, family, address, port=7001):
    with ns.entered():
        sock = socket.socket(FAMILY[family], socket.SOCK_DGRAM)
    with sock:
        sock.settimeout(WAIT_S)
        sock.connect((address, port))
        sock.send(b"hello")
        try:
            sock.recv(64)
        except TimeoutError:
            return None
        except OSError as error:
            return error.errno
    return 0


def answers(daemon):
    lines = daemon.api.request("GET", "/metrics").raw.decode().splitlines()
    return {line.split('"')[1]: int(line.split()[-1]) for line in lines if line.startswith("secg_answers_total{")}


@pytest.fixture(scope="module", params=["routed", "bridged"])
def way(request):
    with Lab() as lab:
        path = Path(lab, is_bridged=request.param == "bridged")
        yield path, lab.daemon(path.host)


def guard(daemon, interface, direction, hook="tc", **more):
    daemon.apply({"acls": REJECT, "ports": {"p": {"interface": interface, "hook": hook, direction: "no", **more}}})
    assert daemon.port("p")["state"] == "guarded", daemon.port("p")
    daemon.api.delete("/v1/sessions?all=1")


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("interface, direction, hook", [
    ("h0", "from", "tc"), ("h0", "from", "xdp"), ("h1", "to", "tc")])
def test_the_sender_is_told_at_once(way, family, interface, direction, hook):
    path, daemon = way
    guard(daemon, interface, direction, hook)
    assert connect(path.client, family, path.server_addr[family]) == errno.ECONNREFUSED, answers(daemon)
    assert send_udp(path.client, family, path.server_addr[family]) == PROHIBITED[family], answers(daemon)


@pytest.mark.parametrize("family", [4, 6])
def test_the_host_itself_is_told(way, family):
    path, daemon = way
    guard(daemon, "h1", "to")
    assert connect(path.host, family, path.server_addr[family]) == errno.ECONNREFUSED, answers(daemon)
    assert send_udp(path.host, family, path.server_addr[family]) == PROHIBITED[family], answers(daemon)


@pytest.mark.parametrize("family", [4, 6])
def test_who_asks_the_host_is_told(way, family):
    path, daemon = way
    guard(daemon, "h0", "from")
    host = {4: "10.1.0.254", 6: "fd01::fe"}[family]
    assert connect(path.client, family, host) == errno.ECONNREFUSED, answers(daemon)


def test_a_default_rejects_too(way):
    path, daemon = way
    daemon.apply({"ports": {"p": {"interface": "h0", "from": [], "default": {"from": {"action": "reject"}}}}})
    assert connect(path.client, 4, path.server_addr[4]) == errno.ECONNREFUSED


def test_both_ports_may_be_guarded(way):
    """The answer crosses the sender's own port as part of what it has opened there."""
    path, daemon = way
    daemon.apply({"acls": REJECT | {"open": {"rules": [{"id": "all", "action": "allow"}]}}, "ports": {
        "in": {"interface": "h0", "from": "open", "to": []}, "out": {"interface": "h1", "from": [], "to": "no"}}})
    for family in (4, 6):
        assert connect(path.client, family, path.server_addr[family]) == errno.ECONNREFUSED
        assert send_udp(path.client, family, path.server_addr[family]) == PROHIBITED[family]


# ── what is not answered ─────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def wire(lab, path):
    """Frames in the client's hands on a routed path."""
    daemon = lab.daemon(path.host, "wire")
    with traffic.tap(path.client, "c0") as tap:
        ends = {"src": path.client.link("c0")["address"], "dst": path.host.link("h0")["address"]}
        yield path, daemon, tap, ends


def answered(tap, frame, wanted, timeout=traffic.WAIT_S):
    tap.read()
    tap.send(frame)
    return tap.wait(lambda data: wanted(Ether(data)), timeout)


def is_answer(packet):
    return TCP in packet and packet[TCP].flags.R or ICMP in packet and packet[ICMP].type == 3


IPV4 = {"src": "10.1.0.1", "dst": "10.2.0.2"}


def test_a_frame_is_answered_with_the_right_numbers(wire):
    """acl/42"""
    _, daemon, tap, ends = wire
    guard(daemon, "h0", "from")
    found = answered(tap, Ether(**ends) / IP(**IPV4) / TCP(sport=1, dport=2, flags="A", seq=7, ack=99), is_answer)
    reset = Ether(found)
    assert (reset.src, reset.dst) == (ends["dst"], ends["src"])
    assert (reset[IP].src, reset[IP].dst) == (IPV4["dst"], IPV4["src"])
    assert (reset[TCP].sport, reset[TCP].dport, reset[TCP].flags, reset[TCP].seq) == (2, 1, "R", 99)
    found = answered(tap, Ether(**ends) / IP(**IPV4) / TCP(sport=1, dport=2, flags="S", seq=7) / b"xyz", is_answer)
    assert (Ether(found)[TCP].flags, Ether(found)[TCP].ack) == ("RA", 7 + 1 + 3)


@pytest.mark.parametrize("name, layers", [
    ("reset", IP(**IPV4) / TCP(flags="R", seq=1)),
    ("reset-ack", IP(**IPV4) / TCP(flags="RA", seq=1, ack=2)),
    ("icmp-error", IP(**IPV4) / ICMP(type=3, code=13) / IP(src="10.2.0.2", dst="10.1.0.1") / UDP()),
    ("time-exceeded", IP(**IPV4) / ICMP(type=11) / IP(src="10.2.0.2", dst="10.1.0.1") / UDP()),
    ("redirect", IP(**IPV4) / ICMP(type=5) / IP(src="10.2.0.2", dst="10.1.0.1") / UDP()),
    ("later-fragment", IP(frag=100, proto=17, **IPV4) / b"later fragment"),
    ("to-a-group", IP(src="10.1.0.1", dst="239.1.2.3") / UDP()),
    ("to-everybody", IP(src="10.1.0.1", dst="255.255.255.255") / UDP()),
    ("from-nobody", IP(src="0.0.0.0", dst="10.2.0.2") / UDP()),
])
def test_an_answer_and_a_group_get_no_answer(wire, name, layers):
    """acl/42, acl/49: no reject of a reject, no ping-pong."""
    del name
    _, daemon, tap, ends = wire
    guard(daemon, "h0", "from")
    before = daemon.stats()["ports"]["p"]["from"]["dropped"]
    assert answered(tap, Ether(**ends) / layers, is_answer) is None
    assert daemon.stats()["ports"]["p"]["from"]["dropped"] > before


def test_a_broadcast_frame_gets_no_answer(wire):
    _, daemon, tap, ends = wire
    guard(daemon, "h0", "from")
    assert answered(tap, Ether(src=ends["src"], dst="ff:ff:ff:ff:ff:ff") / IP(**IPV4) / UDP(), is_answer) is None
    assert answered(tap, Ether(**ends) / IP(**IPV4) / UDP(), is_answer) is not None


TAGS = {
    "one": Dot1Q(vlan=7, prio=3),
    "service": Dot1AD(vlan=7),
    "two": Dot1AD(vlan=100, prio=1) / Dot1Q(vlan=7),
    "priority": Dot1Q(vlan=0, prio=5),
    "priority-and-one": Dot1Q(vlan=0, prio=5) / Dot1Q(vlan=7),
}


def frame_with_tags(data, beside):
    """The frame with the tag that the kernel took out of it where it was."""
    for _, _, auxiliary in beside:
        status, _, _, _, _, tag, tag_type = struct.unpack("IIIHHHH", auxiliary)
        if status & 0x10:  # TP_STATUS_VLAN_VALID
            return data[:12] + struct.pack(">HH", tag_type, tag) + data[12:]
    return data


@pytest.mark.parametrize("hook", ["tc", "xdp"])
@pytest.mark.parametrize("tags", TAGS)
def test_tags_are_kept(wire, hook, tags):
    """All of them, with type and priority, wherever the hook finds them."""
    path, daemon, _, ends = wire
    guard(daemon, "h0", "from", hook)
    with path.client.entered():
        ears = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    with ears:
        ears.setsockopt(263, 8, 1)  # SOL_PACKET, PACKET_AUXDATA: the tag is beside the frame
        ears.bind(("c0", 0))
        ears.settimeout(WAIT_S)
        asked = bytes(Ether(**ends) / TAGS[tags] / IP(**IPV4) / TCP(flags="S", seq=7))
        ears.send(asked)
        while True:
            data, beside, _, address = ears.recvmsg(2048, 256)
            frame = frame_with_tags(data, beside)
            packet = Ether(frame)
            if address[2] != socket.PACKET_OUTGOING and TCP in packet and packet[TCP].flags.R:
                break
        size = len(TAGS[tags]) + 2
        assert frame[12:12 + size] == asked[12:12 + size]


# ── bounds ───────────────────────────────────────────────────────────────────────────────────────────


def test_answers_are_no_more_than_a_thousand_a_second(wire):
    _, daemon, tap, ends = wire
    guard(daemon, "h0", "from")
    before = answers(daemon)
    start = time.monotonic()
    frame = bytes(Ether(**ends) / IP(**IPV4) / TCP(flags="S", seq=7))
    tap.send(*[frame] * 20000)
    took = time.monotonic() - start
    eventually(lambda: daemon.stats()["reasons"]["rule_reject"] >= 20000, what="all are judged")
    time.sleep(0.2)
    sent = answers(daemon)["sent"] - before["sent"]
    assert 500 <= sent <= 1000 * (took + 2), (sent, took)


def test_without_the_daemon_a_reject_is_a_drop(fresh_lab):
    path = Path(fresh_lab, is_bridged=False)
    daemon = fresh_lab.daemon(path.host)
    guard(daemon, "h0", "from")
    assert connect(path.client, 4, path.server_addr[4]) == errno.ECONNREFUSED
    daemon.stop()
    assert connect(path.client, 4, path.server_addr[4]) in (None, errno.EAGAIN)
    daemon.start()
    assert connect(path.client, 4, path.server_addr[4]) == errno.ECONNREFUSED
    assert daemon.stats()["reasons"]["rule_reject"] >= 3


# ── a device without Ethernet ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("layers", [
    IP(src="10.9.0.2", dst="10.9.0.1") / TCP(flags="S", seq=7),
    IPv6(src="fd09::2", dst="fd09::1") / TCP(flags="S", seq=7)], ids=["ipv4", "ipv6"])
def test_a_tun_gets_its_answer(fresh_lab, layers):
    ns = fresh_lab.namespace("tun")
    with ns.entered():
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(fd, 0x400454CA, struct.pack("16sH22x", b"tun0", 0x1001))  # TUNSETIFF, IFF_TUN | IFF_NO_PI
    try:
        ns.ip("link", "set", "tun0", "up")
        ns.address("tun0", "10.9.0.1/24", "fd09::1/64")
        daemon = fresh_lab.daemon(ns)
        daemon.apply({"acls": REJECT, "ports": {"p": {"interface": "tun0", "from": "no"}}})
        assert daemon.port("p")["state"] == "guarded", daemon.port("p")
        os.write(fd, bytes(layers))
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end and select.select([fd], [], [], 1)[0]:
            data = os.read(fd, 2048)
            packet = (IP if data[0] >> 4 == 4 else IPv6)(data)
            if TCP in packet:
                assert (packet[TCP].flags, packet[TCP].ack) == ("RA", 8)
                return
        raise AssertionError(answers(daemon))
    finally:
        os.close(fd)
