# SPDX-License-Identifier: Apache-2.0
"""
Live frames through a guarded port into the host's stack while the daemon is killed over and over: no frame
passes that must not, none is lost without a counter that says so.
"""

import random
import select
import signal
import socket
import struct
import subprocess
import threading
import time

import pytest

import counters
import generator
from lab import Path
from traffic import make_socket

KILLS = 20
RATE = 15000  # frames a second, of each family
FIRST_PORT = 5000
RULES = [  # frame i goes to port FIRST_PORT + i % 4; the last port has no rule
    {"id": "tracked", "action": "allow", "protocol": "udp", "dst_ports": [FIRST_PORT]},
    {"id": "stateless", "action": "allow-stateless", "protocol": "udp", "dst_ports": [FIRST_PORT + 1]},
    {"id": "dropped", "action": "drop", "protocol": "udp", "dst_ports": [FIRST_PORT + 2]},
]
PORTS = len(RULES) + 1
PERMITTED = 2
ADDRESSES = {4: ("10.1.0.1", "10.1.0.254"), 6: ("fd01::1", "fd01::fe")}  # client, host


class Receiver(threading.Thread):
    """Counts what reaches the sockets of the permitted ports, by the number in each frame."""

    def __init__(self, ns):
        super().__init__()
        self.numbers = {4: set(), 6: set()}
        self.count = 0
        self.strays = []
        self.is_ended = False
        self.sockets = {}
        for family, (_, address) in ADDRESSES.items():
            for port in range(FIRST_PORT, FIRST_PORT + PERMITTED):
                sock = make_socket(ns, family, socket.SOCK_DGRAM)
                sock.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
                sock.bind((address, port))
                sock.setblocking(False)
                self.sockets[sock] = (family, port)

    def run(self):
        while True:
            ready = select.select(list(self.sockets), [], [], 0.05)[0]
            if not ready and self.is_ended:
                return
            for sock in ready:
                self.drain(sock)

    def drain(self, sock):
        family, port = self.sockets[sock]
        while True:
            try:
                data = sock.recv(2048)
            except BlockingIOError:
                return
            [number] = struct.unpack_from("!Q", data)
            self.count += 1
            if FIRST_PORT + number % PORTS != port or number in self.numbers[family]:
                self.strays.append((family, port, number))
            self.numbers[family].add(number)

    def finish(self):
        self.is_ended = True
        self.join()
        for sock in self.sockets:
            sock.close()


def start_senders(lab, path):
    return [generator.start(lab, path.client, "c0", path.host.link("h0")["address"], src, dst,
                            "--dport", FIRST_PORT, "--dports", PORTS, "--rate", RATE, "--duration", 300)
            for src, dst in ADDRESSES.values()]


def end_sender(process):
    process.send_signal(signal.SIGTERM)
    return generator.finish(process)["sent"]


def kill_and_start(daemon):
    """Half of the kills hit a daemon that serves, half one that is somewhere on its way up."""
    for i in range(KILLS):
        if i % 2:
            daemon.process = subprocess.Popen(
                daemon.command(*daemon.args), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0, 0.2))
        else:
            if not daemon.is_running():
                daemon.start()
            time.sleep(random.uniform(0, 0.1))
        daemon.kill()
        time.sleep(random.uniform(0, 0.1))
    daemon.start()


@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_nothing_is_lost_or_let_through(fresh_lab, capsys, hook):
    path = Path(fresh_lab, is_bridged=False)
    # A veth takes redirected frames only while its peer polls.
    path.host.run("ethtool", "-K", "h0", "gro", "on")
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"acls": {"in": {"rules": RULES}},
                  "ports": {"p": {"interface": "h0", "hook": hook, "from": ["in"], "to": []}}})
    daemon.wait_port("p")
    before = daemon.stats("p")
    receiver = Receiver(path.host)
    receiver.start()
    try:
        senders = start_senders(fresh_lab, path)
        started = time.monotonic()
        kill_and_start(daemon)
        sent = sum(end_sender(process) for process in senders)
        seconds = time.monotonic() - started
    finally:
        receiver.finish()
    after = daemon.stats("p")
    reasons = {name: count - before["reasons"].get(name, 0) for name, count in after["reasons"].items()
               if count != before["reasons"].get(name, 0)}
    ring = counters.nic(path.client, "c0", r"tx_queue_\d+_xdp_xmit_errors") + counters.nic(path.host, "h0", r"rx_queue_\d+_drops")
    stack = counters.udp(path.host)
    with capsys.disabled():
        print(f"\nhook {hook}: {KILLS} kills in {seconds:.1f} s: sent {sent} = delivered {receiver.count}"
              + "".join(f" + {name} {count}" for name, count in reasons.items())
              + f" + ring losses {ring} + socket drops {stack['InErrors']}")
    assert sent > 4 * KILLS * PORTS
    assert not receiver.strays
    assert stack["NoPorts"] == 0, "refused frames reached the stack"
    assert set(reasons) == {"default", "rule_drop"}
    assert sent == receiver.count + sum(reasons.values()) + ring + stack["InErrors"]
    # And the rules counted what each of them let through or dropped.
    passed = after["ports"]["p"]["from"]["packets"] - before["ports"]["p"]["from"]["packets"]
    # The client's own kernel speaks now and then, too (MLD, neighbours).
    passed -= sum(after["infrastructure"].values()) - sum(before["infrastructure"].values())
    assert passed == receiver.count + stack["InErrors"]
    assert after["rules"]["in/tracked"]["packets"] + after["rules"]["in/stateless"]["packets"] == passed
    assert after["rules"]["in/dropped"]["packets"] == reasons["rule_drop"]
