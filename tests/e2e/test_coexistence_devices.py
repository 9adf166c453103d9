# SPDX-License-Identifier: Apache-2.0
"""
What docs/coexistence.md says of devices: bonds, VLANs, macvlan, ipvlan, tunnels, namespaces. A kernel that
lacks a device skips its tests and says so.
"""

import json
import os

import pytest

from beside import ACLS, PORT, REFUSED, THROUGH, allow, doctor, dropped, make_link, policy, reaches
from lab import Path, eventually, run


@pytest.fixture
def path(fresh_lab):
    return Path(fresh_lab, is_bridged=False)


@pytest.fixture
def bridged(fresh_lab):
    return Path(fresh_lab, is_bridged=True)


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


def test_netkit(fresh_lab):
    """The host's end of a netkit pair is a port, by TC; doctor says that the device's own program comes first."""
    host, pod = fresh_lab.namespace("host"), fresh_lab.namespace("pod")
    make_link(host, "pod0", "type", "netkit")
    links = json.loads(host.ip("-j", "link", "show").stdout)
    peer = next(link["ifname"] for link in links if link["ifname"] not in ("lo", "pod0"))
    host.ip("link", "set", peer, "netns", pod.name)
    for ns, name, address in ((host, "pod0", "10.1.0.254/24"), (pod, peer, "10.1.0.1/24")):
        ns.ip("link", "set", name, "up")
        ns.address(name, address)
    daemon = fresh_lab.daemon(host)
    daemon.apply(policy("pod0", side="workload"))
    port = daemon.port("p")
    assert (port["state"], port["hook"]) == ("guarded", "tc"), port
    assert doctor(daemon, "netkit")
    assert reaches(pod, host, "10.1.0.254") == THROUGH
    assert reaches(pod, host, "10.1.0.254", PORT + 1) == REFUSED
    assert reaches(host, pod, "10.1.0.1") == REFUSED
