# SPDX-License-Identifier: Apache-2.0
"""
What docs/coexistence.md says of secg beside other network software, sentence by sentence. A kernel that
lacks a device skips its tests and says so.
"""

import json
import os
import re
import socket
import struct

import pytest

import foreign as others
import traffic
from lab import BUILD, ROOT, Path, eventually, run

PORT = 7000
ALLOWED = [PORT, PORT + 2]
ACLS = {"web": {"rules": [{"id": "udp", "action": "allow", "protocol": "udp", "dst_ports": ALLOWED}]}}


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


def policy(interface="h0", **fields):
    return {"acls": ACLS, "ports": {"p": {"interface": interface, "from": ["web"], "to": [], **fields}}}


def allow(**match):
    return {"rules": [{"id": "a", "action": "allow", "protocol": "udp", **match}]}


def reaches(client, server, address, port=PORT, source=None):
    """(the request arrived, its answer came back)"""
    family = 6 if ":" in address else 4
    result = traffic.udp(client, server, address, family, port, source)
    result.close()
    return result.has_request, result.has_reply


THROUGH, REFUSED = (True, True), (False, False)


def make_link(ns, *words):
    """`ip link add …`, or the test is skipped where the kernel has no such device."""
    done = ns.ip("link", "add", *words, check=False)
    kind = words[words.index("type") + 1]
    if "Unknown device type" in done.stderr:
        pytest.skip(f"this kernel has no {kind} devices")
    assert done.returncode == 0, done.stderr


def nft(ns, rules):
    done = ns.run("nft", "-f", "-", input=rules, check=False)
    if "No such file" in done.stderr or "not supported" in done.stderr:
        pytest.skip(f"this kernel's nftables cannot: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr


def counter(ns, name):
    """Packets of a named counter of nftables."""
    listed = json.loads(ns.run("nft", "-j", "list", "counters").stdout)["nftables"]
    return next(c["counter"]["packets"] for c in listed if c.get("counter", {}).get("name") == name)


def dropped(daemon, port, direction):
    return daemon.stats(port)["ports"][port][direction]["dropped"]


def doctor(daemon, code):
    return [f for f in daemon.api.get("/v1/doctor")["findings"] if f["code"] == code]


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


def test_fragments_are_whole_for_conntrack_and_whole_for_us(fresh_lab, path):
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


# ── docker, podman, libvirt's networks ───────────────────────────────────────────────────────────────


class Docker:
    """
    Two containers on docker0, 172.17.0.0/16, and a client behind the uplink; published port 8080 → 80 of the
    first, masquerading to the outside, as docker sets it up.
    """

    def __init__(self, lab):
        self.host, self.web, self.db, self.out = (lab.namespace(n) for n in ("host", "web", "db", "out"))
        lab.veth(self.web, "eth0", self.host, "vethweb")
        lab.veth(self.db, "eth0", self.host, "vethdb")
        lab.veth(self.out, "eth0", self.host, "up0")
        lab.bridge(self.host, "docker0", "vethweb", "vethdb")
        self.host.address("docker0", "172.17.0.1/16")
        self.host.address("up0", "192.0.2.1/24")
        self.out.address("eth0", "192.0.2.2/24")
        self.host.sysctl("net.ipv4.ip_forward", 1)
        for ns, address in ((self.web, "172.17.0.2/16"), (self.db, "172.17.0.3/16")):
            ns.address("eth0", address)
            ns.ip("route", "add", "default", "via", "172.17.0.1")
        nft(self.host, """
table ip nat {
	chain pre { type nat hook prerouting priority dstnat; iifname "up0" udp dport 8080 dnat to 172.17.0.2:80; }
	chain post { type nat hook postrouting priority srcnat; ip saddr 172.17.0.0/16 oifname != "docker0" masquerade; }
}
""")

    def publishes(self):
        """A request to the published port, and its answer."""
        with traffic.make_socket(self.web, 4, socket.SOCK_DGRAM) as listener, \
                traffic.make_socket(self.out, 4, socket.SOCK_DGRAM) as sender:
            listener.bind(("172.17.0.2", 80))
            sender.connect(("192.0.2.1", 8080))
            try:
                sender.send(b"x")
                data, peer = listener.recvfrom(64)
                listener.sendto(data, peer)
                return sender.recv(64) == b"x"
            except TimeoutError:
                return False

    def asks(self):
        """The container asks the outside; what source address arrives there, or None."""
        with traffic.make_socket(self.out, 4, socket.SOCK_DGRAM) as listener, \
                traffic.make_socket(self.web, 4, socket.SOCK_DGRAM) as sender:
            listener.bind(("192.0.2.2", PORT))
            sender.connect(("192.0.2.2", PORT))
            try:
                sender.send(b"x")
                data, peer = listener.recvfrom(64)
                listener.sendto(data, peer)
                return peer[0] if sender.recv(64) == b"x" else None
            except TimeoutError:
                return None


@pytest.fixture
def docker(fresh_lab):
    return Docker(fresh_lab)


def test_docker_addresses_at_each_port(fresh_lab, docker):
    """At the uplink: the host's address and the published port. At the veth: the container's address and port."""
    daemon = fresh_lab.daemon(docker.host)
    container, host = "172.17.0.2", "192.0.2.1"
    acls = {"up-in": allow(dst=host, dst_ports=8080), "web-in": allow(src="192.0.2.2", dst=container, dst_ports=80),
            "web-out": allow(src=container, dst_ports=PORT), "up-out": allow(src=host, dst_ports=PORT)}
    daemon.apply({"acls": acls, "ports": {
        "up": {"interface": "up0", "from": ["up-in"], "to": ["up-out"]},
        "web": {"interface": "vethweb", "from": ["web-out"], "to": ["web-in"]}}})
    assert docker.publishes()
    assert docker.asks() == host
    for acl in acls:
        assert daemon.packets(f"{acl}/a") == 2, f"{acl}: a request and its answer"
    # Each of the two ports can refuse.
    for acl in acls:
        daemon.apply({"acls": {**acls, acl: {"rules": []}}, "ports": daemon.api.get("/v1/ports")})
        daemon.api.request("DELETE", "/v1/sessions?all=1")
        assert docker.publishes() == (not acl.endswith("-in")), acl
        assert (docker.asks() == host) == (not acl.endswith("-out")), acl


def test_docker_containers_among_themselves(fresh_lab, docker):
    """Between containers of one bridge the veth ports judge, whatever bridge-nf-call-iptables is."""
    daemon = fresh_lab.daemon(docker.host)
    daemon.apply({"acls": ACLS, "ports": {"web": {"interface": "vethweb", "to": ["web"]}}})
    assert reaches(docker.db, docker.web, "172.17.0.2") == THROUGH
    assert reaches(docker.db, docker.web, "172.17.0.2", PORT + 1) == REFUSED
    assert reaches(docker.web, docker.db, "172.17.0.3", PORT + 1) == THROUGH
    # A port on docker0 sees only what goes to and through the host.
    daemon.apply({"ports": {"bridge": {"interface": "docker0", "from": [], "to": []}}})
    assert reaches(docker.db, docker.web, "172.17.0.2") == THROUGH
    assert not docker.publishes() and docker.asks() is None


def test_container_that_starts_again(fresh_lab, docker):
    """The veth is made anew with every start: the port waits and guards again when a name it knows returns."""
    daemon = fresh_lab.daemon(docker.host)
    daemon.apply({"acls": ACLS, "ports": {"web": {"interface": "vethweb", "to": ["web"]}}})
    docker.host.ip("link", "del", "vethweb")
    daemon.wait_port("web", "waiting")
    assert doctor(daemon, "port_waiting")
    fresh_lab.veth(docker.web, "eth0", docker.host, "vethweb")
    docker.host.ip("link", "set", "vethweb", "master", "docker0")
    docker.web.address("eth0", "172.17.0.2/16")
    daemon.wait_port("web")
    assert reaches(docker.db, docker.web, "172.17.0.2") == THROUGH
    assert reaches(docker.db, docker.web, "172.17.0.2", PORT + 1) == REFUSED


@pytest.mark.parametrize("rows, is_heard", [(None, False), (["arp", "dhcp-server"], True)])
def test_dhcp_server_behind_a_bridge_port(fresh_lab, bridged, rows, is_heard):
    """dnsmasq on a guarded virbr0 hears its clients only with the row dhcp-server."""
    daemon = fresh_lab.daemon(bridged.host)
    fields = {"infrastructure": rows} if rows else {}
    daemon.apply({"ports": {"b": {"interface": "br0", "from": [], "to": [], **fields}}})
    with traffic.make_socket(bridged.host, 4, socket.SOCK_DGRAM) as server, \
            traffic.make_socket(bridged.client, 4, socket.SOCK_DGRAM) as client:
        server.bind(("", 67))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        client.bind(("", 68))
        client.sendto(bytes(300), ("10.1.0.255", 67))
        if not is_heard:
            with pytest.raises(TimeoutError):
                server.recv(512)
            return
        data, peer = server.recvfrom(512)
        server.sendto(data, peer)
        assert client.recv(512) == bytes(300)
    assert daemon.stats()["infrastructure"]["dhcp-server"] >= 2


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
    seen = foreign.seen()
    assert seen > 0
    assert reaches(path.client, path.server, path.server_addr[4], PORT + 1) == REFUSED
    assert foreign.seen() == seen
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
    frame = bytes.fromhex(path.client.link("c0")["address"].replace(":", "")) + bytes(6) + b"\x88\xb5" + b"past the hook".ljust(46)
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


# ── devices ──────────────────────────────────────────────────────────────────────────────────────────


def test_macvlan_on_a_guarded_parent(fresh_lab, path):
    """
    The parent's port judges what macvlan devices exchange with the wire. What those in mode bridge tell one
    another comes by its `from` only, both ways: an answer finds no session and takes a rule of its own.
    """
    guests = [fresh_lab.namespace(f"guest{i}") for i in range(2)]
    for i, guest in enumerate(guests):
        make_link(path.host, "link", "h0", "name", f"mv{i}", "type", "macvlan", "mode", "bridge")
        path.host.ip("link", "set", f"mv{i}", "netns", guest.name)
        guest.ip("link", "set", f"mv{i}", "up")
        guest.address(f"mv{i}", f"10.1.0.{30 + i}/24")
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"acls": ACLS, "ports": {"p": {"interface": "h0", "from": ["web"], "to": ["web"]}}})
    assert reaches(path.client, guests[0], "10.1.0.30") == THROUGH
    assert reaches(path.client, guests[0], "10.1.0.30", PORT + 1) == REFUSED
    assert dropped(daemon, "p", "from") == 1
    assert reaches(guests[0], path.client, "10.1.0.1", PORT + 1) == REFUSED
    assert dropped(daemon, "p", "to") == 1
    assert reaches(guests[0], guests[1], "10.1.0.31", PORT + 1) == REFUSED
    assert reaches(guests[0], guests[1], "10.1.0.31") == (True, False)
    assert (dropped(daemon, "p", "from"), dropped(daemon, "p", "to")) == (3, 1)
    siblings = {"rules": [{"id": "s", "action": "allow-stateless", "src": "10.1.0.30/31", "dst": "10.1.0.30/31"}]}
    daemon.apply({"acls": {**ACLS, "siblings": siblings},
                  "ports": {"p": {"interface": "h0", "from": ["siblings", "web"], "to": ["web"]}}})
    assert reaches(guests[0], guests[1], "10.1.0.31", PORT + 1) == THROUGH


def test_macvlan_as_a_port(fresh_lab, path):
    """A macvlan of the host is a port of its own, by TC; its parent's port judges the same packets too."""
    make_link(path.host, "link", "h0", "name", "mv0", "type", "macvlan", "mode", "bridge")
    path.host.ip("link", "set", "mv0", "up")
    path.host.address("mv0", "10.6.0.254/24")
    path.client.address("c0", "10.6.0.1/24")
    path.host.sysctl("net.ipv4.conf.h0.arp_ignore", 1)
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy("mv0"))
    port = daemon.port("p")
    assert (port["state"], port["hook"]) == ("guarded", "tc")
    assert reaches(path.client, path.host, "10.6.0.254") == THROUGH
    assert reaches(path.client, path.host, "10.6.0.254", PORT + 1) == REFUSED
    assert dropped(daemon, "p", "from") == 1
    daemon.apply({"acls": {**ACLS, "one": allow(dst_ports=PORT)}, "ports": {
        "p": {"interface": "mv0", "from": ["web"]}, "lower": {"interface": "h0", "from": ["one"]}}})
    assert reaches(path.client, path.host, "10.6.0.254") == THROUGH
    assert reaches(path.client, path.host, "10.6.0.254", PORT + 2) == REFUSED


def test_ipvlan_on_a_guarded_parent(fresh_lab, path):
    """As with macvlan."""
    guests = [fresh_lab.namespace(f"guest{i}") for i in range(2)]
    for i, guest in enumerate(guests):
        make_link(path.host, "link", "h0", "name", f"iv{i}", "type", "ipvlan", "mode", "l2")
        path.host.ip("link", "set", f"iv{i}", "netns", guest.name)
        guest.ip("link", "set", f"iv{i}", "up")
        guest.address(f"iv{i}", f"10.1.0.{30 + i}/24")
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"acls": ACLS, "ports": {"p": {"interface": "h0", "from": ["web"], "to": ["web"]}}})
    assert reaches(path.client, guests[0], "10.1.0.30") == THROUGH
    assert reaches(path.client, guests[0], "10.1.0.30", PORT + 1) == REFUSED
    assert reaches(guests[0], path.client, "10.1.0.1", PORT + 1) == REFUSED
    assert (dropped(daemon, "p", "from"), dropped(daemon, "p", "to")) == (1, 1)
    assert reaches(guests[0], guests[1], "10.1.0.31", PORT + 1) == THROUGH, "past every hook"


@pytest.fixture
def bond(fresh_lab):
    """client bond0 = host bond0, two veths, mode active-backup."""
    host, client = fresh_lab.namespace("host"), fresh_lab.namespace("client")
    for ns in (host, client):
        make_link(ns, "bond0", "type", "bond", "mode", "active-backup", "miimon", "50")
    for i in range(2):
        fresh_lab.veth(client, f"c{i}", host, f"h{i}")
        for ns, name in ((client, f"c{i}"), (host, f"h{i}")):
            ns.ip("link", "set", name, "down")
            ns.ip("link", "set", name, "master", "bond0")
            ns.ip("link", "set", name, "up")
    for ns, address in ((host, "10.1.0.254/24"), (client, "10.1.0.1/24")):
        ns.ip("link", "set", "bond0", "up")
        ns.address("bond0", address)
    return host, client


def assert_bond_filters(host, client):
    eventually(lambda: client.link("bond0")["operstate"] == "UP", what="the bond is up")
    assert reaches(client, host, "10.1.0.254") == THROUGH
    assert reaches(client, host, "10.1.0.254", PORT + 1) == REFUSED
    assert reaches(host, client, "10.1.0.1", PORT) == REFUSED


def test_bond(fresh_lab, bond):
    """The bond is the port, by TC; members come and go below it."""
    host, client = bond
    daemon = fresh_lab.daemon(host)
    daemon.apply(policy("bond0"))
    port = daemon.port("p")
    assert (port["state"], port["hook"]) == ("guarded", "tc"), port
    assert_bond_filters(host, client)
    active = host.link("bond0")["linkinfo"]["info_data"]["active_slave"]
    for ns, name in ((host, active), (client, active.replace("h", "c"))):
        ns.ip("link", "set", name, "down")
    eventually(lambda: reaches(client, host, "10.1.0.254") == THROUGH, what="the other member carries it")
    assert_bond_filters(host, client)


def test_bond_refuses_hook_xdp(fresh_lab, bond):
    """On a bond XDP runs on the members and sees their numbers, so the port says that it will not."""
    host, client = bond
    daemon = fresh_lab.daemon(host)
    assert daemon.apply(policy("bond0", hook="xdp"))["ports"]["failed"] == ["p"]
    assert "bond" in daemon.port("p")["message"]


def test_bond_member_as_a_port(fresh_lab, bond):
    """A member can be a port: it judges what comes over that wire."""
    host, client = bond
    daemon = fresh_lab.daemon(host)
    daemon.apply({"acls": ACLS, "ports": {f"p{i}": {"interface": f"h{i}", "from": ["web"], "to": []} for i in range(2)}})
    assert_bond_filters(host, client)


def test_vlan_device_and_its_parent(fresh_lab, path):
    """A VLAN device is a port of its own; the parent's port looks through the tag and must allow the same packets."""
    for ns, lower, address in ((path.client, "c0", "10.5.0.1/24"), (path.host, "h0", "10.5.0.254/24")):
        make_link(ns, "link", lower, "name", "v5", "type", "vlan", "id", 5)
        ns.ip("link", "set", "v5", "up")
        ns.address("v5", address)
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy("v5"))
    port = daemon.port("p")
    assert (port["state"], port["hook"]) == ("guarded", "tc")
    assert reaches(path.client, path.host, "10.5.0.254") == THROUGH
    assert reaches(path.client, path.host, "10.5.0.254", PORT + 1) == REFUSED
    assert reaches(path.client, path.host, "10.1.0.254", PORT + 1) == THROUGH, "untagged frames are not of that port"
    daemon.apply({"acls": {**ACLS, "one": allow(dst_ports=PORT)}, "ports": {
        "p": {"interface": "v5", "from": ["web"]}, "lower": {"interface": "h0", "from": ["one"]}}})
    assert reaches(path.client, path.host, "10.5.0.254") == THROUGH
    assert reaches(path.client, path.host, "10.5.0.254", PORT + 2) == REFUSED
    assert dropped(daemon, "lower", "from") == 1


def test_vlan_aware_bridge(fresh_lab, bridged):
    """Members are judged with the tags that are on their wire; the VLAN of the bridge separates as ever."""
    host = bridged.host
    done = host.ip("link", "set", "br0", "type", "bridge", "vlan_filtering", "1", check=False)
    if done.returncode != 0:
        pytest.skip("this kernel's bridge has no VLAN filtering")
    for port in ("h0", "h1"):
        host.run("bridge", "vlan", "add", "dev", port, "vid", "5", "pvid", "untagged")
    daemon = fresh_lab.daemon(host)
    daemon.apply(policy())
    server = bridged.server_addr[4]
    assert reaches(bridged.client, bridged.server, server) == THROUGH
    assert reaches(bridged.client, bridged.server, server, PORT + 1) == REFUSED
    host.run("bridge", "vlan", "add", "dev", "h1", "vid", "6", "pvid", "untagged")
    host.run("bridge", "vlan", "del", "dev", "h1", "vid", "5")
    assert reaches(bridged.client, bridged.server, server) == REFUSED


def test_vxlan(fresh_lab, path):
    """The overlay device is a port for what is inside, the uplink's port sees UDP 4789."""
    for ns, lower, local, remote, inner in (
            (path.client, "c0", "10.1.0.1", "10.1.0.254", "10.7.0.1/24"),
            (path.host, "h0", "10.1.0.254", "10.1.0.1", "10.7.0.254/24")):
        make_link(ns, "vx0", "type", "vxlan", "id", 7, "dstport", 4789, "local", local, "remote", remote, "dev", lower)
        ns.ip("link", "set", "vx0", "up")
        ns.address("vx0", inner)
    daemon = fresh_lab.daemon(path.host)
    ports = {"inner": {"interface": "vx0", "from": ["web"], "to": []},
             "outer": {"interface": "h0", "from": ["tunnel"], "to": ["tunnel"]}}
    daemon.apply({"acls": {**ACLS, "tunnel": allow(dst_ports=4789)}, "ports": ports})
    assert (daemon.port("inner")["state"], daemon.port("inner")["hook"]) == ("guarded", "tc")
    assert reaches(path.client, path.host, "10.7.0.254") == THROUGH
    assert reaches(path.client, path.host, "10.7.0.254", PORT + 1) == REFUSED
    assert dropped(daemon, "inner", "from") == 1
    daemon.apply({"acls": ACLS, "ports": {**ports, "outer": {"interface": "h0", "from": [], "to": []}}})
    assert reaches(path.client, path.host, "10.7.0.254") == REFUSED


def test_wireguard(fresh_lab, path):
    """wg0 is a port without Ethernet header for what was decrypted; the uplink's port must let UDP 51820 through."""
    keys = {}
    for ns in (path.client, path.host):
        make_link(ns, "wg0", "type", "wireguard")
        name = os.path.join(fresh_lab.folder, ns.name)
        private = run("wg", "genkey").stdout
        with open(name, "w", encoding="ascii") as file:
            file.write(private)
        keys[ns] = name, run("wg", "pubkey", input=private).stdout.strip()
    for ns, other, inner, peer in ((path.client, path.host, "10.8.0.1/24", "10.1.0.254:51820"),
                                   (path.host, path.client, "10.8.0.254/24", "10.1.0.1:51820")):
        ns.run("wg", "set", "wg0", "private-key", keys[ns][0], "listen-port", 51820, "peer", keys[other][1],
               "allowed-ips", "10.8.0.0/24", "endpoint", peer)
        ns.ip("link", "set", "wg0", "up")
        ns.address("wg0", inner)
    daemon = fresh_lab.daemon(path.host)
    ports = {"inner": {"interface": "wg0", "from": ["web"], "to": []},
             "outer": {"interface": "h0", "from": ["tunnel"], "to": ["tunnel"]}}
    daemon.apply({"acls": {**ACLS, "tunnel": allow(dst_ports=51820)}, "ports": ports})
    assert (daemon.port("inner")["state"], daemon.port("inner")["hook"]) == ("guarded", "tc")
    eventually(lambda: reaches(path.client, path.host, "10.8.0.254") == THROUGH, what="the tunnel is up")
    assert reaches(path.client, path.host, "10.8.0.254", PORT + 1) == REFUSED
    assert reaches(path.host, path.client, "10.8.0.1", PORT) == REFUSED
    assert dropped(daemon, "inner", "from") == 1
    daemon.apply({"acls": ACLS, "ports": {**ports, "outer": {"interface": "h0", "from": [], "to": []}}})
    assert reaches(path.client, path.host, "10.8.0.254") == REFUSED


def test_guarded_interface_moved_to_another_namespace(fresh_lab, path):
    """The port follows no interface into another namespace: it waits, and guards again when it comes back."""
    elsewhere = fresh_lab.namespace("elsewhere")
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy())
    path.host.ip("link", "set", "h0", "netns", elsewhere.name)
    daemon.wait_port("p", "waiting")
    elsewhere.ip("link", "set", "h0", "up")
    elsewhere.address("h0", "10.1.0.254/24")
    assert reaches(path.client, elsewhere, "10.1.0.254", PORT + 1) == THROUGH, "nothing of ours stays on it"
    elsewhere.ip("link", "set", "h0", "netns", path.host.name)
    path.host.ip("link", "set", "h0", "up")
    path.host.address("h0", "10.1.0.254/24")
    daemon.wait_port("p")
    assert reaches(path.client, path.host, "10.1.0.254") == THROUGH
    assert reaches(path.client, path.host, "10.1.0.254", PORT + 1) == REFUSED


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
