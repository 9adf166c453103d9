# SPDX-License-Identifier: Apache-2.0
"""Traces: held against the attached programs ($BUILD/tests/trace), and what they say to people."""

import json
import os
import socket
import struct

import pytest

from lab import BUILD, eventually

POLICY = {
    "acls": {
        "web": {"rules": [
            {"id": "https", "action": "allow", "protocol": "tcp", "dst_ports": 443},
            {"id": "no", "action": "drop", "protocol": "udp"},
            {"id": "ping", "action": "allow", "protocol": "ping"},
        ]},
    },
    "ports": {
        "x": {"interface": "x0", "hook": "xdp", "from": ["web"], "to": []},
        "t": {"interface": "t0", "hook": "tc", "from": [], "to": ["web"]},
        "u": {"interface": "tun0", "from": ["web"]},
        "w": {"interface": "nowhere", "from": []},
    },
}
TCP = {"proto": "tcp", "src": "10.0.0.1", "sport": 1234, "dst": "10.0.0.2", "dport": 443}
UDP = {"proto": "udp", "src": "10.0.0.1", "dst": "10.0.0.2", "dport": 53}


def test_traces_equal_the_attached_programs(fresh_lab, capsys):
    ns = fresh_lab.namespace("host")
    # Nothing but the test's own packets may be counted.
    ns.sysctl("net.ipv6.conf.default.disable_ipv6", 1)
    # Answers to rejected packets leave by a port for its peer, so neither is the other's.
    fresh_lab.veth(ns, "x0", ns, "x1")
    fresh_lab.veth(ns, "t0", ns, "t1")
    daemon = fresh_lab.daemon(ns)
    done = ns.run(os.path.join(BUILD, "tests", "trace"), "--socket", daemon.socket, "--xdp", "x0", "--tc", "t0",
                  check=False)
    with capsys.disabled():
        print("\n" + done.stdout, end="")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(name="daemon", scope="module")
def guarded(lab):
    ns = lab.namespace("trace")
    lab.veth(ns, "x0", ns, "t0")
    ns.ip("tuntap", "add", "tun0", "mode", "tun")
    ns.ip("link", "set", "tun0", "up")
    daemon = lab.daemon(ns, "trace")
    daemon.apply(POLICY)
    return daemon


def trace(daemon, port, direction, status=200, **packet):
    reply = daemon.api.request("POST", "/v1/trace", {"port": port, "direction": direction, **packet})
    assert reply.status == status, reply.raw
    return json.loads(reply.raw)


@pytest.mark.parametrize("port,direction", [("x", "from"), ("t", "to"), ("u", "from")])
def test_answer(daemon, port, direction):
    status = daemon.port(port)
    tag = status["prog_tag"] if direction == "from" else status["prog_tag_to"]
    common = {"antispoof": "off", "generation": daemon.api.get("/v1/status")["generation"], "prog_tag": tag,
              "attached_tag": tag}
    assert trace(daemon, port, direction, **TCP) == {
        "verdict": "pass", "acl": "web", "rule": "web/https", "would_create": True, **common}
    assert trace(daemon, port, direction, **UDP) == {
        "verdict": "drop", "reason": "rule_drop", "acl": "web", "rule": "web/no", "would_create": False, **common}
    assert trace(daemon, port, direction, **{**TCP, "dport": 80}) == {
        "verdict": "drop", "reason": "default", "would_create": False, **common}
    assert trace(daemon, port, direction, proto="ping", src="fd00::1", dst="fd00::2")["rule"] == "web/ping"
    assert daemon.sessions() == []


def test_a_reject_is_told_apart_from_a_drop(lab):
    """Of a rule and of a default, in both directions; a drop beside them stays one."""
    ns = lab.namespace("reject")
    lab.veth(ns, "r0", ns, "r1")
    daemon = lab.daemon(ns, "reject")
    rules = [{"id": "refuse", "action": "reject", "protocol": "udp"}, {"id": "no", "action": "drop", "protocol": "sctp"}]
    daemon.apply({"acls": {"web": {"rules": rules}}, "ports": {"r": {
        "interface": "r0", "from": ["web"], "to": ["web"], "default": {"to": {"action": "reject"}}}}})

    def verdict(direction, **packet):
        answer = trace(daemon, "r", direction, **{**TCP, **packet})
        return answer["verdict"], answer["reason"]

    for direction, otherwise in ("from", "drop"), ("to", "reject"):
        assert verdict(direction, proto="udp") == ("reject", "rule_reject")
        assert verdict(direction, proto="sctp") == ("drop", "rule_drop")
        assert verdict(direction) == (otherwise, "default")


def test_anti_spoof_is_told(lab):
    """Who leaves the MAC open is taken for the sender whose address it is."""
    ns = lab.namespace("spoof")
    lab.veth(ns, "s0", ns, "s1")
    daemon = lab.daemon(ns, "spoof")
    daemon.apply({"acls": POLICY["acls"], "ports": {"s": {"interface": "s0", "from": ["web"], "to": [], "addresses": [
        {"mac": "02:00:00:00:00:07", "ips": ["10.0.0.7"]}, {"mac": "02:00:00:00:00:08", "ips": ["10.0.0.1"]}]}}})

    def told(direction="from", **fields):
        answer = trace(daemon, "s", direction, **{**TCP, **fields})
        return answer["antispoof"], answer["verdict"], answer.get("reason")
    assert told() == ("pass", "pass", None)
    assert told(src_mac="02:00:00:00:00:07") == ("fail", "drop", "spoof_ip")
    assert told(src="10.0.0.9") == ("fail", "drop", "spoof_ip")
    assert told(src_mac="02:00:00:00:00:09") == ("fail", "drop", "spoof_mac")
    assert told("to", src="10.0.0.9")[0] == "off"


def test_infrastructure(daemon):
    answer = trace(daemon, "x", "to", proto="icmpv6", icmp_type="neighbor-solicitation", src="fd00::1",
                   dst="ff02::1:ff00:2", vlan=[5, "6"])
    assert (answer["verdict"], answer["rule"], "acl" in answer) == ("pass", "infra/nd", False)
    assert trace(daemon, "x", "to", vlan=[1, 2, 3], **UDP)["reason"] == "tag_depth"


def test_session(daemon):
    """A packet that the kernel sends opens a session; traces see it and leave it alone."""
    ns = daemon.ns
    ns.run("/usr/bin/python3", "-c", f"""
from scapy.all import Ether, IP, TCP, sendp
sendp(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(src="10.0.0.1", dst="10.0.0.2") /
      TCP(sport={TCP['sport']}, dport=443, flags="S", seq=1), iface="t0", verbose=False)
""")
    before = daemon.sessions()
    assert [s["state"] for s in before if s["sport"] == 1234 and s["port"] == "x"] == ["half_open"]
    answer = trace(daemon, "x", "to", proto="tcp", src="10.0.0.2", sport=443, dst="10.0.0.1", dport=1234,
                   tcp_flags="syn,ack")
    assert (answer["verdict"], answer["session"], answer["rule"]) == ("pass", "found", "web/https")
    assert answer["would_create"] is False
    answer = trace(daemon, "x", "to", proto="tcp", src="10.0.0.2", sport=443, dst="10.0.0.1", dport=1235,
                   tcp_flags=["syn", "ack"])
    assert answer["reason"] == "default"
    after = daemon.sessions()
    for session in before + after:
        for field in ("age_s", "idle_s", "expires_s"):
            session.pop(field)
    assert before == after


def test_refusals(daemon):
    def errors(status, body):
        reply = daemon.api.request("POST", "/v1/trace", body)
        assert reply.status == status, reply.raw
        return {(e["code"], e["field"]) for e in json.loads(reply.raw)["errors"]}

    at = {"port": "x", "direction": "from"}
    assert errors(404, {**at, "port": "zz", **UDP}) == {("not_found", "port")}
    assert errors(409, {**at, "port": "w", **UDP}) == {("conflict", "port")}
    assert errors(400, {**at, "port": "u", "vlan": 5, **UDP}) == {("bad_value", "vlan")}
    assert errors(400, {**at, "packet": "00" * 13}) == {("bad_value", "packet")}
    # What the kernel takes for an IP packet and finds too short.
    assert errors(400, {"port": "t", "direction": "from", "packet": "02" * 12 + "080045"}) == {("bad_value", "packet")}


def frame(payload, size):
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, size, 0, 0, 64, 6, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    tcp = struct.pack(">HHIIBBHHH", 1, 443, 1, 1, 0x50, 0x02, 1, 0, 0)
    return bytes([2] * 12) + b"\x08\x00" + ip + tcp + payload


@pytest.mark.parametrize("port,direction", [("x", "from"), ("t", "to")])
def test_long_packet(daemon, port, direction):
    """Longer than a test run takes: its payload is left away."""
    assert trace(daemon, port, direction, packet=frame(bytes(60000), 60040).hex())["rule"] == "web/https"
    assert trace(daemon, port, direction, packet=frame(bytes(60000), 60041).hex())["reason"] == "malformed"


def udp(src, dst, sport, dport):
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28, 0, 0, 64, 17, 0, bytes([10, 0, 0, src]), bytes([10, 0, 0, dst]))
    return bytes([2] * 12) + b"\x08\x00" + ip + struct.pack(">HHHH", sport, dport, 8, 0)


def test_session_full(fresh_lab):
    """The reply of a flow that finds no room any more: only the daemon can see that the overflow is full."""
    flows = 3000  # of 1024 slots and 256 entries beside them
    ns = fresh_lab.namespace("full")
    fresh_lab.veth(ns, "x0", ns, "t0")
    daemon = fresh_lab.daemon(ns, args=("--max-sessions", "1024"))
    daemon.apply({"acls": {"a": {"rules": [{"id": "r", "action": "allow", "protocol": "udp"}]}},
                  "ports": {"x": {"interface": "x0", "hook": "tc", "from": ["a"], "to": []}}})
    with ns.entered():
        out, back = (socket.socket(socket.AF_PACKET, socket.SOCK_RAW) for _ in range(2))
        out.bind(("t0", 0))
        back.bind(("x0", 0))
    with out, back:
        for sport in range(1, flows + 1):
            out.send(udp(1, 2, sport, 53))
        eventually(lambda: daemon.packets("a/r") == flows, what="all flows have come")
        wrong, refused = [], []
        for sport in range(1, flows + 1):
            reply = udp(2, 1, 53, sport)
            verdict = trace(daemon, "x", "to", packet=reply.hex())["verdict"]
            try:
                back.send(reply)
            except OSError:  # dropped: the kernel tells the sender
                refused.append(sport)
            if (verdict == "drop") != (refused[-1:] == [sport]):
                wrong.append(sport)
        assert wrong == []
        assert len(refused) == daemon.stats()["reasons"]["session_full"] > flows - 1024 - 256 - 1
        answer = trace(daemon, "x", "to", packet=udp(2, 1, 53, refused[0]).hex())
        assert answer["reason"] == "session_full"
        assert trace(daemon, "x", "from", packet=udp(1, 2, refused[0], 53).hex())["verdict"] == "pass"


# ── sgctl ──────────────────────────────────────────────────────────────────────────────────────────


def test_sgctl(daemon):
    done = daemon.sgctl("trace", "--port", "x", "--from", "tcp", "10.0.0.1:1234", "10.0.0.3:443")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "pass by rule web/https"
    assert "none; the packet would open one" in done.stdout and "why" not in done.stdout
    done = daemon.sgctl("trace", "--port", "x", "--from", "udp", "[fd00::1]:5", "[fd00::2]:53", "-o", "json")
    assert json.loads(done.stdout)["rule"] == "web/no"
    done = daemon.sgctl("trace", "--port", "t", "--to", "ping", "10.0.0.1", "10.0.0.2")
    assert done.stdout.splitlines()[0] == "pass by rule web/ping"
    done = daemon.sgctl("trace", "--port", "t", "--to", "--packet", frame(b"", 40).hex(":"))
    assert done.stdout.splitlines()[0] == "pass by rule web/https"


@pytest.mark.parametrize("port,verdict,why", [
    ({"from": ["web"]}, "drop: default", "no rule of web decides"),
    ({"from": []}, "drop: default", "'from' is closed: its list of ACLs is empty"),
    ({"to": []}, "pass without a rule", "'from' is open: the port has no list of ACLs there"),
    ({"from": [], "default": {"from": {"action": "allow"}}}, "pass without a rule",
     "no rule decides, and the default of 'from' is allow"),
])
def test_sgctl_says_why(daemon, port, verdict, why):
    before = daemon.api.get("/v1/ports/x")
    daemon.api.put("/v1/ports/x", {"interface": "x0", **port})
    try:
        done = daemon.sgctl("trace", "--port", "x", "--from", "tcp", "10.0.0.1", "10.0.0.2:80")
        assert done.stdout.splitlines()[0] == verdict
        assert done.stdout.splitlines()[-1].split(None, 1) == ["why", why]
    finally:
        daemon.api.put("/v1/ports/x", before)


def test_sgctl_names_the_port_of_an_interface(daemon):
    done = daemon.sgctl("trace", "--port", "x0", "--from", "tcp", "10.0.0.1", "10.0.0.2:80")
    assert done.returncode == 2 and "the interface x0 is guarded by port x\n" in done.stderr


@pytest.mark.parametrize("args,message", [
    (["--from", "udp", "10.0.0.1", "10.0.0.2:5"], "needs --port"),
    (["--port", "x", "udp", "10.0.0.1", "10.0.0.2:5"], "--from or --to"),
    (["--port", "x", "--from", "--to", "udp", "10.0.0.1", "10.0.0.2:5"], "--from or --to"),
    (["--port", "x", "--from", "udp", "10.0.0.1"], "PROTO SRC DST"),
    (["--port", "x", "--from", "--packet", "00", "udp", "10.0.0.1", "10.0.0.2:5"], "not both"),
    (["--port", "x", "--from", "--pcap", "/nonexistent"], "/nonexistent: No such file"),
    (["--port", "zz", "--from", "udp", "10.0.0.1", "10.0.0.2:5"], "there is no port zz"),
    (["--port", "x", "--from", "udp", "10.0.0.1", "10.0.0.2"], "udp needs a port behind DST: 10.0.0.2:80"),
    (["--port", "x", "--from", "tcp", "fd00::1", "fd00::2"], "tcp needs a port behind DST: [fd00::2]:80"),
    (["--port", "x", "--from", "tcp", "fd00::1", "[fd00::2]"], "tcp needs a port behind DST: [fd00::2]:80"),
    (["--port", "x", "--from", "tcp", "fd77::2", "fd77::1:22"], "tcp needs a port behind DST: [fd77::1]:22"),
    (["--port", "x", "--from", "tcp", "10.0.0.1", "10.0.0.2:5", "--tcp-flags", "syn+ack"], "commas: syn,ack"),
    (["--port", "x", "--from", "udp", "10.0.0.1", "10.0.0.2:70000"], "dport: "),
])
def test_sgctl_refuses(daemon, args, message):
    done = daemon.sgctl("trace", *args)
    assert done.returncode == 2
    assert message in done.stderr, done.stderr


def pcap(path, packets, order="<", magic=0xA1B2C3D4, link=1, cut=None):
    with open(path, "wb") as file:
        file.write(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, link))
        for packet in packets:
            taken = packet[:cut]
            file.write(struct.pack(order + "IIII", 1, 2, len(taken), len(packet)) + taken)
    return str(path)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("magic", [0xA1B2C3D4, 0xA1B23C4D])
def test_pcap(daemon, tmp_path, order, magic):
    packets = [frame(bytes(1400), 1440), frame(b"", 40).replace(struct.pack(">HH", 1, 443), struct.pack(">HH", 1, 80))]
    path = pcap(tmp_path / "a.pcap", packets, order, magic, cut=80)
    done = daemon.sgctl("trace", "--port", "x", "--from", "--pcap", path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1].split() == ["1", "pass", "web/https", "would", "open", "tcp", "10.0.0.1:1", ">", "10.0.0.2:443", "syn"]
    assert lines[2].split() == ["2", "drop", "default", "tcp", "10.0.0.1:1", ">", "10.0.0.2:80", "syn"]
    assert lines[-1] == "2 packets: 1 pass, 1 drop"
    answer = json.loads(daemon.sgctl("trace", "--port", "x", "--from", "--pcap", path, "-o", "json").stdout)
    assert [p["verdict"] for p in answer["packets"]] == ["pass", "drop"]
    assert (answer["passed"], answer["dropped"]) == (1, 1)


def test_pcap_raw(daemon, tmp_path):
    path = pcap(tmp_path / "raw.pcap", [frame(b"", 40)[14:]], link=101)
    done = daemon.sgctl("trace", "--port", "u", "--from", "--pcap", path)
    assert "web/https" in done.stdout, done.stderr


def test_pcap_refused(daemon, tmp_path):
    good = pcap(tmp_path / "good.pcap", [frame(b"", 40)])
    with open(good, "rb") as file:
        data = file.read()
    for name, content, message in [
        ("ng", b"\x0a\x0d\x0d\x0a" + data[4:], "editcap -F pcap"),
        ("text", b"hello", "is not a pcap file"),
        ("cut", data[:-1], "ends inside packet 1"),
    ]:
        path = tmp_path / name
        path.write_bytes(content)
        done = daemon.sgctl("trace", "--port", "x", "--from", "--pcap", str(path))
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr
