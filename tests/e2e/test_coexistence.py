# SPDX-License-Identifier: Apache-2.0
"""
What docs/coexistence.md says of secg beside other firewalls, programs and packet sockets, sentence by
sentence. What a kernel cannot do is skipped, and says so.
"""

import os
import re
import socket
import struct

import pytest

import foreign as others
import traffic
from beside import ACLS, PORT, REFUSED, THROUGH, allow, counter, doctor, dropped, nft, policy, reaches
from lab import ROOT, Path, eventually


@pytest.fixture
def path(fresh_lab):
    return Path(fresh_lab, is_bridged=False)


@pytest.fixture
def bridged(fresh_lab):
    return Path(fresh_lab, is_bridged=True)


@pytest.fixture
def foreign(fresh_lab):
    made = others.Foreign(fresh_lab.folder)
    yield made
    made.close()


# ── nftables, iptables, conntrack ────────────────────────────────────────────────────────────────────

NFT_ROUTED = """
table inet guard {
	counter before { }
	counter new_flows { }
	counter forwarded { }
	chain early {
		type filter hook prerouting priority raw; policy accept;
		iifname "h0" meta l4proto udp counter name before
	}
	chain tracked {
		type filter hook prerouting priority filter; policy accept;
		iifname "h0" meta l4proto udp ct state new counter name new_flows
	}
	chain forward {
		type filter hook forward priority filter; policy accept;
		meta l4proto udp counter name forwarded
		udp dport 7002 drop
	}
}
"""


@pytest.mark.parametrize("hook", ["tc", "xdp"])
def test_nftables_sees_what_from_let_through(fresh_lab, path, hook):
    """Both must allow. What `from` drops reaches no chain and no conntrack entry; what nft drops has passed `from`."""
    nft(path.host, NFT_ROUTED)
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy(hook=hook))
    server = path.server_addr[4]
    assert reaches(path.client, path.server, server) == THROUGH
    assert reaches(path.client, path.server, server, PORT + 1) == REFUSED
    assert (counter(path.host, "before"), counter(path.host, "new_flows")) == (1, 1)
    assert dropped(daemon, "p", "from") == 1
    assert reaches(path.client, path.server, server, PORT + 2) == REFUSED
    assert counter(path.host, "before") == 2
    assert daemon.packets("web/udp") == 3, "two requests and an answer: what nft drops later is counted as passed"
    assert dropped(daemon, "p", "from") == 1


def test_nftables_has_counted_what_to_drops(fresh_lab, path):
    """`to` is the last: forward and postrouting have seen what it drops."""
    nft(path.host, NFT_ROUTED)
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"acls": ACLS, "ports": {"out": {"interface": "h1", "to": ["web"]}}})
    assert reaches(path.client, path.server, path.server_addr[4], PORT + 1) == REFUSED
    assert counter(path.host, "forwarded") == 1
    assert dropped(daemon, "out", "to") == 1


def test_nftables_netdev_hooks(fresh_lab, path):
    """netdev ingress comes after `from`, netdev egress before `to`."""
    nft(path.host, """
table netdev edge {
	counter came { }
	counter leaves { }
	chain in { type filter hook ingress device "h0" priority 0; policy accept; meta l4proto udp counter name came; }
	chain out { type filter hook egress device "h1" priority 0; policy accept; meta l4proto udp counter name leaves; }
}
""")
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"acls": {**ACLS, "first": allow(dst_ports=PORT)}, "ports": {
        "in": {"interface": "h0", "from": ["web"]}, "out": {"interface": "h1", "to": ["first"]}}})
    server = path.server_addr[4]
    assert reaches(path.client, path.server, server, PORT + 1) == REFUSED
    assert (counter(path.host, "came"), counter(path.host, "leaves")) == (0, 0)
    assert reaches(path.client, path.server, server, PORT + 2) == REFUSED
    assert (counter(path.host, "came"), counter(path.host, "leaves")) == (1, 1)
    assert dropped(daemon, "out", "to") == 1
    assert reaches(path.client, path.server, server) == THROUGH


def test_bridge_netfilter(fresh_lab, bridged):
    """With bridge-nf-call-iptables nft's ip family drops bridged packets that the ports allow; without it, not."""
    nft(bridged.host, NFT_ROUTED)
    daemon = fresh_lab.daemon(bridged.host)
    daemon.apply({"acls": ACLS, "ports": {"p": {"interface": "h0", "from": ["web"], "to": []},
                                          "q": {"interface": "h1", "from": [], "to": ["web"]}}})
    server = bridged.server_addr[4]
    assert reaches(bridged.client, bridged.server, server, PORT + 2) == THROUGH
    assert counter(bridged.host, "forwarded") == 0
    try:
        bridged.host.sysctl("net.bridge.bridge-nf-call-iptables", 1)
    except FileNotFoundError:
        pytest.skip("this kernel has no bridge netfilter")
    assert reaches(bridged.client, bridged.server, server, PORT + 2) == REFUSED
    assert counter(bridged.host, "forwarded") == 1
    assert reaches(bridged.client, bridged.server, server, PORT + 1) == REFUSED
    assert counter(bridged.host, "forwarded") == 1, "what the port drops is not seen by nft"
    assert reaches(bridged.client, bridged.server, server) == THROUGH


def test_bridge_family_as_nwfilter(fresh_lab, bridged):
    """Rules on frames of a bridge, as libvirt's nwfilter makes them, stand behind `from`: both must allow."""
    mac = bridged.client.link("c0")["address"]
    nft(bridged.host, f"""
table bridge vnet {{
	counter spoofed {{ }}
	chain pre {{
		type filter hook prerouting priority -300; policy accept;
		iifname "h0" ether saddr != {mac} counter name spoofed drop
	}}
}}
""")
    daemon = fresh_lab.daemon(bridged.host)
    daemon.apply(policy())
    server = bridged.server_addr[4]
    assert reaches(bridged.client, bridged.server, server) == THROUGH
    assert reaches(bridged.client, bridged.server, server, PORT + 1) == REFUSED
    bridged.client.ip("link", "set", "c0", "address", "02:00:00:00:00:99")
    assert reaches(bridged.client, bridged.server, server) == REFUSED
    assert counter(bridged.host, "spoofed") > 0
    assert dropped(daemon, "p", "from") == 1, "the bridge dropped what the port had let through"


def test_conntrack_puts_fragments_together(fresh_lab, path):
    """conntrack puts fragments together between the hooks and they are cut again: both directions judge them."""
    nft(path.host, NFT_ROUTED)
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"acls": ACLS, "ports": {"in": {"interface": "h0", "from": ["web"]},
                                          "out": {"interface": "h1", "to": ["web"]}}})
    with traffic.make_socket(path.server, 4, socket.SOCK_DGRAM) as listener, \
            traffic.make_socket(path.client, 4, socket.SOCK_DGRAM) as sender:
        listener.bind((path.server_addr[4], PORT))
        sender.sendto(bytes(4000), (path.server_addr[4], PORT))
        assert len(listener.recv(8000)) == 4000
    assert counter(path.host, "new_flows") == 1
    assert daemon.packets("web/udp") == 6, "three fragments, twice"


# ── TC and XDP programs of others ────────────────────────────────────────────────────────────────────


def test_clsact_filters_come_after_tcx(fresh_lab, path, foreign):
    """`tc filter` beside TCX: it gets what ours lets through, and nothing is to be reported."""
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy())
    if daemon.port("p")["mode"] != "tcx":
        pytest.skip("this kernel has no TCX")
    path.host.run("tc", "qdisc", "add", "dev", "h0", "clsact")
    foreign.clsact(path.host, "h0", "foreign_ok", True)
    assert reaches(path.client, path.server, path.server_addr[4]) == THROUGH
    assert foreign.seen() > 0

    def missed():
        """What ours let through and the filter did not see: what came before it was there."""
        return daemon.stats("p")["ports"]["p"]["from"]["packets"] - foreign.seen()

    before = missed()
    assert reaches(path.client, path.server, path.server_addr[4], PORT + 1) == REFUSED
    # The client's own stack may speak at any time (MLD), between the two counts too.
    eventually(lambda: missed() == before, what="the filter sees what ours lets through, and no more")
    assert daemon.port("p")["state"] == "guarded" and not doctor(daemon, "foreign_tc")


def test_ingress_qdisc_beside_tcx(fresh_lab, path):
    """libvirt's <bandwidth> and Open vSwitch's policing make a qdisc ingress: no quarrel with TCX."""
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy())
    if daemon.port("p")["mode"] != "tcx":
        pytest.skip("this kernel has no TCX")
    path.host.run("tc", "qdisc", "add", "dev", "h0", "ingress")
    assert reaches(path.client, path.server, path.server_addr[4]) == THROUGH
    path.host.run("tc", "qdisc", "del", "dev", "h0", "ingress")
    assert reaches(path.client, path.server, path.server_addr[4], PORT + 1) == REFUSED
    assert daemon.port("p")["state"] == "guarded"


def test_ingress_qdisc_and_clsact_exclude_each_other(fresh_lab, path):
    """Without TCX: a qdisc ingress that was there first fails the port until it goes; ours first refuses it."""
    daemon = fresh_lab.daemon(path.host, args=["--max-sessions", "16384", "--without", "tcx"])
    path.host.run("tc", "qdisc", "add", "dev", "h0", "ingress")
    assert daemon.apply(policy())["ports"]["failed"] == ["p"]
    assert doctor(daemon, "port_failed")[0]["severity"] == "error"
    path.host.run("tc", "qdisc", "del", "dev", "h0", "ingress")
    daemon.wait_port("p")
    assert reaches(path.client, path.server, path.server_addr[4], PORT + 1) == REFUSED
    done = path.host.run("tc", "qdisc", "add", "dev", "h0", "ingress", check=False)
    assert done.returncode != 0 and "Exclusivity" in done.stderr


def test_ours_keeps_xdp_to_itself(fresh_lab, path, foreign):
    """Where ours is on XDP, another program cannot be attached, nor force its way with netlink."""
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy(hook="xdp"))
    with pytest.raises(OSError):
        foreign.attach(path.host, "h0", "foreign_xdp", others.XDP)
    target = os.path.join(fresh_lab.folder, "foreign.bpf.o")
    done = path.host.ip("-force", "link", "set", "dev", "h0", "xdp", "obj", target, "sec", "xdp", check=False)
    assert done.returncode != 0
    assert reaches(path.client, path.server, path.server_addr[4], PORT + 1) == REFUSED


def test_redirect_peer_passes_the_hook_by(fresh_lab, path, foreign):
    """bpf_redirect_peer, as Cilium uses it, goes around `to`; bpf_redirect does not. doctor warns of both."""
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"ports": {"p": {"interface": "h0", "to": []}}})
    mac = bytes.fromhex(path.client.link("c0")["address"].replace(":", ""))
    frame = mac + bytes(6) + b"\x88\xb5" + b"past the hook".ljust(46)
    with traffic.tap(path.client, "c0") as client, traffic.tap(path.server, "s0") as server:
        for program, passes in (("foreign_redirect", False), ("foreign_peer", True)):
            foreign.aim(path.host, "h0")
            foreign.attach(path.host, "h1", program, others.TCX_INGRESS)
            before = dropped(daemon, "p", "to")
            server.send(frame)
            assert (client.wait(lambda f: f[12:14] == b"\x88\xb5", traffic.WAIT_S) is not None) == passes, program
            assert dropped(daemon, "p", "to") == before + (not passes), program
            assert "h1" in doctor(daemon, "redirect_peer")[0]["message"]
            foreign.detach()


# ── packet sockets ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("hook, is_seen", [("tc", True), ("xdp", False)])
def test_tcpdump_sees_before_tc_and_after_xdp(fresh_lab, path, hook, is_seen):
    """tcpdump shows what `from` drops in TC, not what it drops in XDP; never what `to` drops."""
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy(hook=hook))

    def is_udp(frame):
        return frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[36:38] == (PORT + 1).to_bytes(2, "big")

    with traffic.tap(path.host, "h0") as sniffer:
        assert reaches(path.client, path.host, "10.1.0.254", PORT + 1) == REFUSED
        assert any(map(is_udp, sniffer.read(traffic.WAIT_S))) == is_seen
        assert reaches(path.host, path.client, "10.1.0.1", PORT + 1) == REFUSED
        assert not any(map(is_udp, sniffer.read(traffic.WAIT_S)))
    assert (dropped(daemon, "p", "from"), dropped(daemon, "p", "to")) == (1, 1)


def test_packet_sockets_of_the_host(fresh_lab, path):
    """`to` judges what a packet socket sends, unless it asks for PACKET_QDISC_BYPASS, which takes CAP_NET_RAW."""
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy())
    frame = b"\xff" * 6 + bytes(6) + b"\x88\xb5" + b"raw".ljust(46)
    with traffic.tap(path.host, "h0") as sender, traffic.tap(path.client, "c0") as ears:
        try:
            sender.send(frame)
        except OSError:
            pass  # ENOBUFS: what a drop on the way out looks like
        assert ears.wait(lambda f: f[12:14] == b"\x88\xb5", traffic.WAIT_S) is None
        assert dropped(daemon, "p", "to") == 1
        sender.socket.setsockopt(263, 20, struct.pack("i", 1))  # SOL_PACKET, PACKET_QDISC_BYPASS
        sender.send(frame)
        assert ears.wait(lambda f: f[12:14] == b"\x88\xb5") is not None
    assert dropped(daemon, "p", "to") == 1


# ── the document itself ──────────────────────────────────────────────────────────────────────────────


def test_document_names_what_there_is():
    """Every test and every finding of doctor that docs/coexistence.md names exists, and every test here is named."""
    with open(os.path.join(ROOT, "docs/coexistence.md"), encoding="utf-8") as file:
        text = file.read()
    here = ["test_coexistence.py", "test_coexistence_devices.py", "test_coexistence_docker.py"]
    sources = {}
    for name in {*here, *re.findall(r"`(test_\w+\.py)::", text)}:
        with open(os.path.join(ROOT, "tests/e2e", name), encoding="utf-8") as file:
            sources[name] = re.findall(r"^def (test_\w+)\(", file.read(), re.MULTILINE)
    ours = {test for name in here for test in sources[name]} - {"test_document_names_what_there_is"}
    for name, test in re.findall(r"`(?:(test_\w+\.py)::)?(test_\w+)`", text):
        assert test in (sources[name] if name else ours), test
    for test in ours:
        assert f"`{test}`" in text, f"{test} shows no sentence"
    with open(os.path.join(ROOT, "daemon/engine/doctor_codes.h"), encoding="ascii") as file:
        codes = set(re.findall(r'"(\w+)",', file.read()))
    named = {code for place in re.findall(r"doctor: ((?:`\w+`(?:, )?)+)\)", text) for code in place.strip("`").split("`, `")}
    assert named and named <= codes, named - codes
