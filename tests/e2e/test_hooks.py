# SPDX-License-Identifier: Apache-2.0
"""Which hook a port gets, what it shares the interface with, and that every one of them filters."""

import fcntl
import os
import select
import socket
import struct

import pytest

import foreign as others
import traffic
from lab import Path, eventually

PORT = 7000
ACLS = {"web": {"rules": [{"id": "udp", "action": "allow", "protocol": "udp", "dst_ports": [PORT]}]}}


@pytest.fixture
def path(fresh_lab):
    return Path(fresh_lab, is_bridged=False)


@pytest.fixture
def foreign(fresh_lab):
    made = others.Foreign(fresh_lab.folder)
    yield made
    made.close()


def policy(**fields):
    return {"acls": ACLS, "ports": {"p": {"interface": "h0", "from": ["web"], "to": [], **fields}}}


def assert_filters(path):
    for family in (4, 6):
        result = traffic.udp(path.client, path.server, path.server_addr[family], family, PORT)
        result.close()
        assert result.has_request and result.has_reply
        result = traffic.udp(path.client, path.server, path.server_addr[family], family, PORT + 1)
        result.close()
        assert not result.has_request
        result = traffic.udp(path.server, path.client, path.client_addr[family], family, PORT)
        result.close()
        assert not result.has_request


@pytest.mark.parametrize("hook, expected", [
    ("auto", ("tc", "tcx", "tcx")), ("tc", ("tc", "tcx", "tcx")), ("xdp", ("xdp", "native", "tcx"))])
def test_veth(fresh_lab, path, hook, expected):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy(hook=hook))
    port = daemon.port("p")
    assert port["state"] == "guarded"
    assert (port["hook"], port["mode"], port["mode_to"]) == expected
    assert port["ifindex"] == path.host.link("h0")["ifindex"]
    assert len(port["prog_tag"]) == 16 and len(port["prog_tag_to"]) == 16
    has_xdp = "xdp" in path.host.link("h0")
    assert has_xdp == (hook == "xdp")
    if has_xdp:
        assert path.host.link("h0")["xdp"]["prog"]["tag"] == port["prog_tag"]
    assert_filters(path)


def test_hook_can_be_changed(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    for hook in ("tc", "xdp", "tc"):
        daemon.apply(policy(hook=hook))
        assert daemon.port("p")["hook"] == hook
        assert ("xdp" in path.host.link("h0")) == (hook == "xdp")
        assert_filters(path)


def test_clsact(fresh_lab, path):
    """A kernel below 6.6 has no TCX."""
    daemon = fresh_lab.daemon(path.host, args=["--max-sessions", "16384", "--without", "tcx"])
    daemon.apply(policy(hook="tc"))
    port = daemon.port("p")
    assert (port["state"], port["hook"], port["mode"], port["mode_to"]) == ("guarded", "tc", "clsact", "clsact")
    assert daemon.api.get("/v1/status")["kernel"]["tcx"] is False
    assert_filters(path)
    daemon.kill()
    assert_filters(path)
    daemon.start()
    assert daemon.port("p")["mode"] == "clsact"
    assert_filters(path)
    daemon.stop()
    daemon.detach_all()
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT + 1)
    result.close()
    assert result.has_reply


def test_generic_xdp_is_a_reported_fallback(fresh_lab):
    """A bridge has no native XDP."""
    path = Path(fresh_lab, is_bridged=True)
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"acls": ACLS, "ports": {"p": {"interface": "br0", "hook": "xdp", "from": ["web"], "to": []}}})
    port = daemon.port("p")
    assert (port["hook"], port["mode"], port["state"]) == ("xdp", "generic", "degraded"), port
    assert "generic" in port["message"]
    host = "10.1.0.254"
    result = traffic.udp(path.client, path.host, host, 4, PORT)
    result.close()
    assert result.has_request and result.has_reply
    result = traffic.udp(path.client, path.host, host, 4, PORT + 1)
    result.close()
    assert not result.has_request


def test_bridge_gets_tc_by_itself(fresh_lab):
    path = Path(fresh_lab, is_bridged=True)
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"acls": ACLS, "ports": {"p": {"interface": "br0", "from": ["web"], "to": []}}})
    port = daemon.port("p")
    assert (port["hook"], port["mode"], port["state"]) == ("tc", "tcx", "guarded")


def test_foreign_tc_program_that_was_there_first(fresh_lab, path, foreign):
    """It ends the chain with TC_ACT_OK: behind it ours would never run."""
    foreign.attach(path.host, "h0", "foreign_ok", others.TCX_INGRESS)
    foreign.attach(path.host, "h0", "foreign_ok", others.TCX_EGRESS)
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy(hook="tc"))
    assert daemon.port("p")["state"] == "guarded"
    assert_filters(path)
    before = foreign.seen()
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT)
    result.close()
    assert foreign.seen() == before + 2, "what ours lets through goes on to the next program"
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT + 1)
    result.close()
    assert foreign.seen() == before + 2, "what ours drops does not"


def test_foreign_tc_program_that_comes_later(fresh_lab, path, foreign):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy(hook="tc"))
    foreign.attach(path.host, "h0", "foreign_ok", others.TCX_INGRESS)
    assert_filters(path)
    assert foreign.seen() > 0
    daemon.kill()
    daemon.start()
    assert daemon.port("p")["state"] == "guarded"
    assert_filters(path)


def test_foreign_tc_program_before_ours_is_reported(fresh_lab, path, foreign):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy(hook="tc"))
    foreign.attach(path.host, "h0", "foreign_next", others.TCX_INGRESS, others.BEFORE)
    assert_filters(path)
    port = daemon.wait_port("p", "degraded")
    assert str(foreign.number("foreign_next")) in port["message"] and "before" in port["message"]
    assert_filters(path)
    daemon.kill()
    daemon.start()
    assert daemon.port("p")["state"] == "degraded"
    foreign.detach()
    daemon.wait_port("p")


@pytest.mark.parametrize("hook, args, take", [
    ("tc", [], ["bpftool", "link", "detach", "pinned", "{bpffs}/v{layout}/links/1_from"]),
    ("tc", [], ["bpftool", "link", "detach", "pinned", "{bpffs}/v{layout}/links/1_to"]),
    ("xdp", [], ["bpftool", "link", "detach", "pinned", "{bpffs}/v{layout}/links/1_from"]),
    ("tc", ["--without", "tcx"], ["tc", "qdisc", "del", "dev", "h0", "clsact"])])
def test_hook_taken_away_is_put_back(fresh_lab, path, hook, args, take):
    """Never silently open: within about a second, and at once when the policy is applied again."""
    daemon = fresh_lab.daemon(path.host, args=["--max-sessions", "16384", *args])
    daemon.apply(policy(hook=hook))
    layout = next(name[1:] for name in os.listdir(daemon.bpffs))
    command = [word.format(bpffs=daemon.bpffs, layout=layout) for word in take]
    assert_filters(path)
    path.host.run(*command)
    eventually(lambda: "put back" in daemon.port("p")["message"], 2.5, "the hook is back")
    assert daemon.port("p")["state"] == "guarded"
    assert_filters(path)
    assert "taken hooks of port p off interface h0" in daemon.log()
    path.host.run(*command)
    daemon.apply(policy(hook=hook))
    assert_filters(path)
    assert daemon.api.request("GET", "/healthz").status == 200


def test_foreign_xdp_program(fresh_lab, path, foreign):
    foreign.attach(path.host, "h0", "foreign_xdp", others.XDP)
    daemon = fresh_lab.daemon(path.host)
    answer = daemon.apply(policy(hook="xdp"))
    assert answer["ports"]["failed"] == ["p"]
    port = daemon.port("p")
    assert port["state"] == "failed"
    # By its number: the name of another's program would take CAP_SYS_ADMIN, which secgd gives up.
    assert f"bpftool prog show id {foreign.number('foreign_xdp')}" in port["message"]
    daemon.apply(policy(hook="auto"))
    port = daemon.port("p")
    assert (port["state"], port["hook"], port["mode"]) == ("guarded", "tc", "tcx")
    assert_filters(path)
    # Once it is gone, the port that insists on XDP is guarded without being asked again.
    daemon.apply(policy(hook="xdp"))
    foreign.detach()
    assert daemon.wait_port("p")["hook"] == "xdp"
    assert_filters(path)


class Tun:
    """An L3 device: packets without Ethernet header, written and read by the test."""

    def __init__(self, ns, name):
        with ns.entered():
            self.fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(self.fd, 0x400454ca, struct.pack("16sH14x", name.encode(), 0x0001 | 0x1000))  # TUNSETIFF

    def read(self, timeout):
        while select.select([self.fd], [], [], timeout)[0]:
            packet = os.read(self.fd, 65536)
            if packet[0] >> 4 == 4:  # the kernel's own IPv6 messages are of no interest
                return packet
        return None


def test_tun(fresh_lab):
    host = fresh_lab.namespace("host")
    tun = Tun(host, "t0")
    host.address("t0", "10.9.0.1/24")
    host.ip("link", "set", "t0", "up")
    daemon = fresh_lab.daemon(host)
    daemon.apply({"acls": ACLS, "ports": {"p": {"interface": "t0", "from": ["web"], "to": []}}})
    port = daemon.port("p")
    assert (port["state"], port["hook"], port["mode"]) == ("guarded", "tc", "tcx"), port

    def request(port):
        udp = struct.pack("!HHHH", 1234, port, 8 + 5, 0) + b"hello"
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0,
                           socket.inet_aton("10.9.0.2"), socket.inet_aton("10.9.0.1"))
        return head[:10] + struct.pack("!H", traffic.checksum(head)) + head[12:] + udp

    for number, is_allowed in ((PORT, True), (PORT + 1, False)):
        with traffic.make_socket(host, 4, socket.SOCK_DGRAM) as listener:
            listener.bind(("10.9.0.1", number))
            os.write(tun.fd, request(number))
            if not is_allowed:
                with pytest.raises(TimeoutError):
                    listener.recv(64)
                continue
            data, peer = listener.recvfrom(64)
            assert data == b"hello"
            listener.sendto(b"answer", peer)
            assert tun.read(1)[28:] == b"answer"
    with traffic.make_socket(host, 4, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"unasked", ("10.9.0.2", PORT))
        assert tun.read(traffic.WAIT_S) is None
    stats = daemon.stats("p")
    assert stats["ports"]["p"]["from"]["dropped"] == 1
    assert stats["rules"]["web/udp"]["packets"] == 2
    os.close(tun.fd)
