# SPDX-License-Identifier: Apache-2.0
"""
Numbered frames of four kinds through a guarded port into the host's stack: two that the rules permit, one
that they drop, one that no rule names. Who receives them knows of each whether it may be there.
"""

import select
import signal
import socket
import struct
import threading

import counters
import generator
from traffic import make_socket

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


def start_senders(lab, path, rate):
    """One generator a family, `rate` frames a second each."""
    return [generator.start(lab, path.client, "c0", path.host.link("h0")["address"], src, dst,
                            "--dport", FIRST_PORT, "--dports", PORTS, "--rate", rate, "--duration", 300)
            for src, dst in ADDRESSES.values()]


def end_senders(processes):
    """How many frames each of them has sent."""
    for process in processes:
        process.send_signal(signal.SIGTERM)
    return [generator.finish(process)["sent"] for process in processes]


def ring_losses(path):
    return (counters.nic(path.client, "c0", r"tx_queue_\d+_xdp_xmit_errors")
            + counters.nic(path.host, "h0", r"rx_queue_\d+_drops"))


def passed_by_rules(stats):
    """Both kernels speak now and then, too (MLD, neighbours); all that leaves by the port is that."""
    port = stats["ports"]["p"]
    return port["from"]["packets"] - (sum(stats["infrastructure"].values()) - port["to"]["packets"])
