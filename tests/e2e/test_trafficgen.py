# SPDX-License-Identifier: Apache-2.0
"""
Debian's xdp-trafficgen sends through a guarded port; everyone who counts counts the same: the tool, both
ends of the veth, the port, its rules, the sockets.

It sends UDP over IPv6 with hop limit 1 and cannot do otherwise: the guarded interface's own address is the
destination. The tool does not know today's kernels; tests/support/preload_trafficgen.c helps it.
"""

import os
import select
import shutil
import signal
import socket
import subprocess

import pytest

import counters
import generator
import traffic
from lab import BUILD, Path, eventually
from numbered import passed_by_rules

FRAMES = 40000
FIRST_PORT = 7000
RULES = [  # the tool counts the destination port up from frame to frame; the last port has no rule
    {"id": "tracked", "action": "allow", "family": "ipv6", "protocol": "udp", "dst_ports": [FIRST_PORT]},
    {"id": "stateless", "action": "allow-stateless", "protocol": "udp", "dst_ports": [FIRST_PORT + 1]},
    {"id": "dropped", "action": "drop", "src": ["fd01::1"], "protocol": "udp", "dst_ports": [FIRST_PORT + 2]},
]
PORTS = len(RULES) + 1
SENT = r"tx_queue_\d+_xdp_xmit"
LOST = r"tx_queue_\d+_xdp_xmit_errors"


def open_sockets(ns):
    sockets = {}
    for port in range(FIRST_PORT, FIRST_PORT + PORTS):
        sock = traffic.make_socket(ns, 6, socket.SOCK_DGRAM)
        sock.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        sock.bind(("fd01::fe", port))
        sock.setblocking(False)
        sockets[port] = sock
    return sockets


def drain(sockets):
    """How many datagrams wait at each port."""
    counts = dict.fromkeys(sockets, 0)
    for port, sock in sockets.items():
        while select.select([sock], [], [], 0)[0]:
            assert sock.recvfrom(2048)[1][0] == "fd01::1"
            counts[port] += 1
        sock.close()
    return counts


def run_tool(lab, path, frames):
    """Runs xdp-trafficgen until all frames are out; it goes on showing zeros until it is interrupted."""
    macs = [ns.link(name)["address"] for ns, name in ((path.client, "c0"), (path.host, "h0"))]
    log = os.path.join(lab.folder, "trafficgen")
    with open(log, "wb") as out:
        process = lab.background(
            path.client, "xdp-trafficgen", "udp", "c0", "--num-packets", frames, "--dst-port", FIRST_PORT,
            "--dyn-ports", PORTS, "--src-addr", "fd01::1", "--dst-addr", "fd01::fe", "--src-mac", macs[0],
            "--dst-mac", macs[1], stdout=out, stderr=subprocess.STDOUT,
            env={**os.environ, "LD_PRELOAD": os.path.join(BUILD, "tests", "preload_trafficgen.so")})

    def is_over():
        if process.poll() is not None:
            with open(log, encoding="utf-8", errors="replace") as text:
                pytest.fail(f"xdp-trafficgen ended with {process.returncode}: {text.read()}")
        return counters.nic(path.client, "c0", SENT) + counters.nic(path.client, "c0", LOST) >= frames

    try:
        eventually(is_over, 30, "all frames sent")
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(10)


@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_all_count_the_same(fresh_lab, capsys, hook):
    if not shutil.which("xdp-trafficgen"):
        pytest.skip("xdp-trafficgen is not installed: `make deps` installs xdp-tools")
    path = Path(fresh_lab, is_bridged=False)
    generator.gro(path.host, "h0")
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"acls": {"in": {"rules": RULES}},
                  "ports": {"p": {"interface": "h0", "hook": hook, "from": ["in"], "to": []}}})
    daemon.wait_port("p")
    sockets = open_sockets(path.host)
    before = daemon.stats("p")
    run_tool(fresh_lab, path, FRAMES)
    lost = counters.nic(path.client, "c0", LOST) + counters.nic(path.host, "h0", r"rx_queue_\d+_drops")
    sent = counters.nic(path.client, "c0", SENT) + counters.nic(path.client, "c0", LOST)

    def judged():
        now = daemon.stats("p")
        reasons = {name: count - before["reasons"].get(name, 0) for name, count in now["reasons"].items()
                   if count != before["reasons"].get(name, 0)}
        passed = sum(now["rules"][f"in/{name}"]["packets"] for name in ("tracked", "stateless"))
        return now, reasons, passed

    # The last frames may still be on their way through the host.
    eventually(lambda: (c := judged())[2] + sum(c[1].values()) + lost >= sent, what="all frames judged")
    after, reasons, passed = judged()
    delivered = drain(sockets)
    # On pages that the kernel uses again the tool's checksums are wrong; secg leaves those to the stack.
    stack = counters.udp(path.host)
    with capsys.disabled():
        print(f"\nhook {hook}: xdp-trafficgen sent {sent} = delivered {sum(delivered.values())}"
              + "".join(f" + {name} {count}" for name, count in reasons.items()) 
              + f" + wrong checksums {stack['InErrors']} + ring losses {lost}")
    assert sent == FRAMES
    assert set(reasons) == {"default", "rule_drop"}
    assert sent == passed + sum(reasons.values()) + lost
    dropped = after["ports"]["p"]["from"]["dropped"] - before["ports"]["p"]["from"]["dropped"]
    assert passed_by_rules(after) - passed_by_rules(before) == passed
    assert dropped == sum(reasons.values())
    rules = {name: after["rules"][f"in/{name}"]["packets"] for name in ("tracked", "stateless", "dropped")}
    assert stack["InErrors"] == stack["InCsumErrors"]
    assert passed == sum(delivered.values()) + stack["InErrors"]
    assert rules["tracked"] >= delivered[FIRST_PORT] > 0
    assert rules["stateless"] >= delivered[FIRST_PORT + 1] > 0
    assert rules["dropped"] == reasons["rule_drop"]
    assert delivered[FIRST_PORT + 2] == delivered[FIRST_PORT + 3] == 0
    if not lost:
        assert set(rules.values()) == {reasons["default"]} == {FRAMES // PORTS}
    # One flow was tracked, and knows how much of it came.
    [session] = [s for s in daemon.sessions() if s["proto"] in ("udp", 17)]
    assert (session["src"], session["dst"], session["dport"]) == ("fd01::1", "fd01::fe", FIRST_PORT)
    assert session["orig"]["packets"] == rules["tracked"]
