# SPDX-License-Identifier: Apache-2.0
"""Large packets: jumbo frames, super-packets of segmentation offload, one fast stream."""

import json
import socket
import threading

import pytest

import traffic
from lab import Lab, Path, eventually

PORT = 7300
ACLS = {"any": {"rules": [{"id": "tcp", "action": "allow", "protocol": "tcp", "dst_ports": [PORT]},
                          {"id": "udp", "action": "allow", "protocol": "udp", "dst_ports": [PORT]}]}}


def stream(client, server, address, family, size):
    """`size` bytes over one TCP connection; what arrived, and the segment size in use."""
    listener = traffic.make_socket(server, family, socket.SOCK_STREAM)
    listener.bind((address, PORT))
    listener.listen()
    sender = traffic.make_socket(client, family, socket.SOCK_STREAM)
    sender.settimeout(10)
    sender.connect((address, PORT))
    receiver, _ = listener.accept()
    receiver.settimeout(10)
    arrived = 0

    def receive():
        nonlocal arrived
        while data := receiver.recv(1 << 20):
            arrived += len(data)

    thread = threading.Thread(target=receive)
    thread.start()
    sender.sendall(b"\xa5" * size)
    segment = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
    sender.shutdown(socket.SHUT_WR)
    thread.join()
    for sock in (sender, receiver, listener):
        sock.close()
    return arrived, segment


def guarded_path(lab, hook, mtu=None, is_bridged=False):
    path = Path(lab, is_bridged, mtu)
    daemon = lab.daemon(path.host)
    daemon.apply({"acls": ACLS, "ports": {"p": {"interface": "h0", "hook": hook, "from": ["any"], "to": []}}})
    assert daemon.port("p")["state"] == "guarded", daemon.port("p")
    return path, daemon


@pytest.mark.parametrize("family", [4, 6], ids=["ipv4", "ipv6"])
def test_a_super_packet_counts_as_its_segments(fresh_lab, family, capsys):
    """TC sees up to 64 KiB at once. Counted are packets and bytes as the wire would carry them: headers
    once a segment, so bytes − headers × packets is the payload, to the byte."""
    path, daemon = guarded_path(fresh_lab, "tc")
    size = 20_000_000
    frames_before = path.client.link("c0")["stats64"]["tx"]["packets"]
    arrived, segment = stream(path.client, path.server, path.server_addr[family], family, size)
    frames = path.client.link("c0")["stats64"]["tx"]["packets"] - frames_before
    assert arrived == size
    eventually(lambda: daemon.sessions()[0]["state"] == "closing")
    [session] = daemon.sessions()
    sent = session["orig"]
    headers = 14 + (20 if family == 4 else 40) + 20 + 12  # with time stamps
    payload = sent["bytes"] - headers * sent["packets"]
    with capsys.disabled():
        print(f"\n{size} bytes, segment {segment}: {frames} frames on the veth, {sent['packets']} packets counted")
    assert frames < sent["packets"] / 2, "no super-packets were seen: the test shows nothing"
    assert sent["packets"] >= size / segment
    # The SYN's options are 8 bytes longer; a retransmission would add whole segments.
    assert size <= payload <= size * 1.02
    port = daemon.stats("p")["ports"]["p"]
    assert port["from"]["bytes"] >= sent["bytes"]
    rule = daemon.stats()["rules"]["any/tcp"]
    assert rule["packets"] == sent["packets"] + session["reply"]["packets"]
    assert rule["bytes"] == sent["bytes"] + session["reply"]["bytes"]


@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_jumbo_frames(fresh_lab, hook):
    path, daemon = guarded_path(fresh_lab, hook, mtu=9000)
    assert daemon.port("p")["mode"] == ("native" if hook == "xdp" else "tcx")
    payload = bytes(range(256)) * 35  # 8960 bytes: one frame
    for family in (4, 6):
        size = 9000 - (28 if family == 4 else 48)
        listener = traffic.make_socket(path.server, family, socket.SOCK_DGRAM)
        sender = traffic.make_socket(path.client, family, socket.SOCK_DGRAM)
        for port, is_allowed in ((PORT, True), (PORT + 1, False)):
            listener.close()
            listener = traffic.make_socket(path.server, family, socket.SOCK_DGRAM)
            listener.bind((path.server_addr[family], port))
            sender.sendto((payload + payload)[:size], (path.server_addr[family], port))
            if is_allowed:
                data, peer = listener.recvfrom(65536)
                assert data == (payload + payload)[:size]
                listener.sendto(data, peer)
                assert sender.recv(65536) == data
            else:
                with pytest.raises(TimeoutError):
                    listener.recv(65536)
        listener.close()
        sender.close()
        arrived, _ = stream(path.client, path.server, path.server_addr[family], family, 5_000_000)
        assert arrived == 5_000_000
    reasons = daemon.stats("p")["reasons"]
    assert {name: n for name, n in reasons.items() if n} == {"default": 2}


def iperf(lab, path, seconds=2):
    server = lab.background(path.server, "iperf3", "-s", "-1", "-p", PORT, stdout=-3, stderr=-3)
    address = path.server_addr[4]
    eventually(lambda: path.server.run("ss", "-Hltn", f"sport = :{PORT}").stdout, 5, "iperf3 listens")
    done = path.client.run("iperf3", "-c", address, "-p", PORT, "-t", seconds, "-J", timeout=60)
    server.wait(timeout=10)
    return json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"]


def has_tso(ns, interface):
    return "tcp-segmentation-offload: on" in ns.run("ethtool", "-k", interface).stdout


def test_one_stream_over_two_guarded_veths(capsys):
    """The figure is evidence, printed; asserted is what makes it: TSO stays on at both ends."""
    with Lab() as lab:
        path = Path(lab, is_bridged=True)
        daemon = lab.daemon(path.host)
        best = {False: 0, True: 0}
        for _ in range(3):
            for is_guarded in (False, True):
                daemon.apply({"acls": ACLS, "ports": {
                    "a": {"interface": "h0", "from": ["any"], "to": []},
                    "b": {"interface": "h1", "from": [], "to": ["any"]}}} if is_guarded else {})
                assert has_tso(path.client, "c0") and has_tso(path.server, "s0")
                best[is_guarded] = max(best[is_guarded], iperf(lab, path))
                if is_guarded:
                    assert daemon.packets("any/tcp") > 1000
        with capsys.disabled():
            print(f"\none TCP stream over a bridge of two veths, best of 3: unguarded {best[False] / 1e9:.2f} "
                  f"Gbit/s, guarded {best[True] / 1e9:.2f} Gbit/s, ratio {best[True] / best[False]:.3f}")
        assert best[True] > 0
