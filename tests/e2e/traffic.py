# SPDX-License-Identifier: Apache-2.0
"""Real sockets and raw frames inside the namespaces of a lab."""

import contextlib
import errno
import fcntl
import itertools
import os
import select
import socket
import struct
import time

WAIT_S = 0.3  # for a packet that must not come; below the first retransmission of TCP, 1 s
_FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}
_identifier = itertools.count(os.getpid() % 20000 + 1)
_port = itertools.count(20000)

ECHO = {4: (8, 0), 6: (128, 129)}  # request, reply


class Tap:
    """Frames on one interface, both ways, as a packet socket sees them."""

    ETH_P_ALL = 3

    def __init__(self, ns, interface):
        with ns.entered():
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(self.ETH_P_ALL))
            self.socket.setsockopt(socket.SOL_SOCKET, 33, 16 << 20)  # SO_RCVBUFFORCE
            self.socket.bind((interface, 0))

    def send(self, *frames):
        for frame in frames:
            self.socket.send(bytes(frame))

    def read(self, timeout=0.0, is_incoming=None):
        """All frames so far, waiting up to `timeout` for the first; VLAN tags in the packet only where
        the kernel left them there."""
        frames = []
        while select.select([self.socket], [], [], 0 if frames else timeout)[0]:
            frame, address = self.socket.recvfrom(70000)
            if is_incoming is None or (address[2] != socket.PACKET_OUTGOING) == is_incoming:
                frames.append(frame)
        return frames

    def wait(self, wanted, timeout=1.0):
        """The first incoming frame for which `wanted(frame)` holds, or None."""
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            for frame in self.read(left, is_incoming=True):
                if wanted(frame):
                    return frame
        return None

    def close(self):
        self.socket.close()


@contextlib.contextmanager
def tap(ns, interface):
    sniffer = Tap(ns, interface)
    try:
        yield sniffer
    finally:
        sniffer.close()


class TapDevice:
    """A tap in a namespace, and the end that a virtual machine would hold."""

    TUNSETIFF = 0x400454CA
    IFF_TAP_NO_PI = 0x1002

    def __init__(self, ns, name):
        with ns.entered():
            self.fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(self.fd, self.TUNSETIFF, struct.pack("16sH22x", name.encode(), self.IFF_TAP_NO_PI))
        ns.ip("link", "set", name, "up")

    def write(self, frame):
        os.write(self.fd, frame)

    def read(self, timeout):
        """All frames so far, waiting until none has come for `timeout`."""
        frames = []
        while select.select([self.fd], [], [], timeout)[0]:
            frames.append(os.read(self.fd, 70000))
        return frames

    def close(self):
        os.close(self.fd)


class Exchange:
    """What came of one request and its reply: what each end received, and the client's local port."""

    def __init__(self):
        self.has_request = False
        self.has_reply = False
        self.port = 0  # destination port, or the ICMP identifier
        self.source_port = 0
        self.sockets = []

    def close(self):
        for sock in self.sockets:
            sock.close()

    def __repr__(self):
        return f"request {self.has_request}, reply {self.has_reply}"


def make_socket(ns, family, kind, proto=0):
    with ns.entered():
        sock = socket.socket(_FAMILY[family], kind, proto)
    sock.settimeout(WAIT_S)
    if kind != socket.SOCK_RAW:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return sock


def new_port():
    return next(_port)


def tcp(client, server, address, family=4, port=None, source=None):
    """Connects, sends, is answered; from the address `source`. The sockets stay open until close()."""
    result = Exchange()
    result.port = port or new_port()
    listener = make_socket(server, family, socket.SOCK_STREAM)
    sender = make_socket(client, family, socket.SOCK_STREAM)
    result.sockets += [sender, listener]
    listener.bind((address, result.port))
    listener.listen()
    if source:
        sender.bind((source, 0))
    try:
        sender.connect((address, result.port))
        result.source_port = sender.getsockname()[1]
        accepted, _ = listener.accept()
        result.sockets.append(accepted)
        accepted.settimeout(WAIT_S)
        talk(result)
    except TimeoutError:
        # The listener holds a connection that it has heard of even if its answer was lost.
        result.has_request = result.has_request or has_half_open(server, family, result.port)
    return result


def talk(exchange, message=b"hello"):
    """One more request and reply over an open TCP exchange."""
    sender, _, accepted = exchange.sockets
    exchange.has_request = exchange.has_reply = False
    sender.sendall(message)
    exchange.has_request = accepted.recv(64) == message
    accepted.sendall(message)
    exchange.has_reply = sender.recv(64) == message


def has_half_open(ns, family, port):
    name = "tcp" if family == 4 else "tcp6"
    with ns.entered(), open(f"/proc/thread-self/net/{name}", encoding="ascii") as lines:
        rows = [line.split() for line in lines][1:]
    return any(row[1].endswith(f":{port:04X}") and row[3] == "03" for row in rows)  # TCP_SYN_RECV


def udp(client, server, address, family=4, port=None, source=None):
    result = Exchange()
    result.port = port or new_port()
    listener = make_socket(server, family, socket.SOCK_DGRAM)
    sender = make_socket(client, family, socket.SOCK_DGRAM)
    result.sockets += [sender, listener]
    listener.bind((address, result.port))
    if source:
        sender.bind((source, 0))
    sender.connect((address, result.port))
    result.source_port = sender.getsockname()[1]
    try:
        sender.send(b"hello")
        data, peer = listener.recvfrom(64)
        result.has_request = data == b"hello"
        listener.sendto(data, peer)
        result.has_reply = sender.recv(64) == b"hello"
    except TimeoutError:
        pass
    return result


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def icmp(client, server, address, family=4, port=None, source=None):
    """Echo request with an identifier of its own (`port` of the result); the server's kernel answers."""
    result = Exchange()
    result.port = port or next(_identifier)
    request, reply = ECHO[family]
    proto = socket.IPPROTO_ICMP if family == 4 else socket.IPPROTO_ICMPV6
    ears = make_socket(server, family, socket.SOCK_RAW, proto)
    sender = make_socket(client, family, socket.SOCK_RAW, proto)
    result.sockets += [sender, ears]
    if source:
        sender.bind((source, 0))
    message = struct.pack("!BBHHH", request, 0, 0, result.port, 1) + b"hello"
    if family == 4:  # for IPv6 the kernel fills it in
        message = message[:2] + struct.pack("!H", checksum(message)) + message[4:]
    try:
        sender.sendto(message, (address, 0))
    except OSError as error:
        if error.errno != errno.ENOBUFS:  # what a drop on the way out of this host looks like
            raise
        return result
    result.has_request = _hears_icmp(ears, family, request, result.port)
    result.has_reply = result.has_request and _hears_icmp(sender, family, reply, result.port)
    return result


def _hears_icmp(sock, family, kind, identifier):
    end = time.monotonic() + WAIT_S
    while (left := end - time.monotonic()) > 0:
        sock.settimeout(left)
        try:
            data = sock.recv(2048)
        except TimeoutError:
            return False
        if family == 4:
            data = data[(data[0] & 15) * 4:]
        if data[0] == kind and struct.unpack("!H", data[4:6])[0] == identifier:
            return True
    return False


SEND = {"tcp": tcp, "udp": udp, "icmp": icmp}
