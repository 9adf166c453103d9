# SPDX-License-Identifier: Apache-2.0
"""
The networks that docs/examples describe, in namespaces: the guarded host with interfaces named as in the
file, and everybody who is spoken of, each an actor with an address of each family.
"""

import contextlib

import traffic


class Actor:
    def __init__(self, ns, v4, v6):
        self.ns = ns
        self.addresses = {4: v4, 6: v6}


class Stage:
    def __init__(self, lab):
        self.lab = lab
        self.host = lab.namespace("host")
        self.host.sysctl("net.ipv4.ip_forward", 1)
        self.host.sysctl("net.ipv6.conf.all.forwarding", 1)
        self.actors = {}

    def bridge(self, *ports):
        self.lab.bridge(self.host, "br0", *ports)
        for table in ("ip", "ip6", "arp"):
            with contextlib.suppress(FileNotFoundError):
                self.host.sysctl(f"net.bridge.bridge-nf-call-{table}tables", 0)

    def machine(self, name, interface, *addresses, via=()):
        """A namespace behind the host's `interface`: its addresses with their lengths, its routers."""
        ns = self.lab.namespace(name)
        self.lab.veth(self.host, interface, ns, "net0")
        ns.address("net0", *addresses)
        for router in via:
            ns.ip("-6" if ":" in router else "-4", "route", "add", "default", "via", router)
        return ns

    def actor(self, name, ns, v4, v6):
        self.actors[name] = Actor(ns, v4, v6)

    def elsewhere(self, name, ns, v4, v6):
        """An actor that is reached through `ns`."""
        ns.address("lo", v4 + "/32", v6 + "/128")
        self.actor(name, ns, v4, v6)

    def exchange(self, source, target, protocol, port, family):
        client, server = self.actors[source], self.actors[target]
        result = traffic.SEND[protocol](client.ns, server.ns, server.addresses[family], family, port,
                                        client.addresses[family])
        result.close()
        return result


def three_tier(lab):
    stage = Stage(lab)
    routers = ("10.20.0.1", "fd20::1")
    names = [f"{tier}{i}" for tier in ("web", "app", "db") for i in (1, 2)]
    for name in names:
        net, number = ("web", "app", "db").index(name[:-1]) + 1, 10 + int(name[-1])
        v4, v6 = f"10.20.{net}.{number}", f"fd20:0:0:{net}::{number}"
        ns = stage.machine(name, f"tap-{name}", f"{v4}/16", f"{v6}/48", via=routers)
        stage.actor(name, ns, v4, v6)
    router = stage.machine("router", "uplink", "10.20.0.1/16", "fd20::1/48", "10.20.0.53/16", "fd20::53/48",
                           "10.20.0.123/16", "fd20::123/48")
    stage.bridge(*(f"tap-{name}" for name in names), "uplink")
    stage.actor("resolver", router, "10.20.0.53", "fd20::53")
    stage.actor("time", router, "10.20.0.123", "fd20::123")
    stage.elsewhere("admin", router, "192.0.2.1", "2001:db8:ad::1")
    stage.elsewhere("internet", router, "198.18.0.1", "2001:db8:99::1")
    return stage


def container_host(lab):
    stage = Stage(lab)
    for number, name in enumerate(("front", "api", "cache"), 11):
        v4, v6 = f"10.88.0.{number}", f"fd88::{number}"
        ns = stage.machine(name, f"veth-{name}", f"{v4}/24", f"{v6}/64", via=("10.88.0.1", "fd88::1"))
        stage.actor(name, ns, v4, v6)
    stage.bridge("veth-front", "veth-api", "veth-cache")
    stage.host.address("br0", "10.88.0.1/24", "fd88::1/64")
    world = stage.machine("world", "eth0", "198.51.100.1/24", "2001:db8:51::1/64")
    stage.host.address("eth0", "198.51.100.10/24", "2001:db8:51::10/64")
    for router in ("198.51.100.1", "2001:db8:51::1"):
        stage.host.ip("-6" if ":" in router else "-4", "route", "add", "default", "via", router)
    world.ip("route", "add", "10.88.0.0/24", "via", "198.51.100.10")
    world.ip("-6", "route", "add", "fd88::/64", "via", "2001:db8:51::10")
    stage.actor("host", stage.host, "10.88.0.1", "fd88::1")
    stage.actor("node", stage.host, "198.51.100.10", "2001:db8:51::10")
    stage.elsewhere("admin", world, "192.0.2.1", "2001:db8:ad::1")
    stage.elsewhere("monitoring", world, "192.0.2.65", "2001:db8:a0::1")
    stage.elsewhere("resolver", world, "192.0.2.53", "2001:db8:53::53")
    stage.elsewhere("internet", world, "198.18.0.1", "2001:db8:99::1")
    return stage


def gateway(lab):
    stage = Stage(lab)
    wan = stage.machine("wan", "wan0", "198.51.100.1/24", "2001:db8:ff::1/64", "198.51.100.2/24",
                        "2001:db8:ff::2/64", "198.51.100.66/24", "2001:db8:ff::66/64",
                        via=("198.51.100.10", "2001:db8:ff::10"))
    office = stage.machine("office", "lan0", "203.0.113.10/26", "2001:db8:1::10/64", "203.0.113.40/26",
                           "2001:db8:1::40/64", "203.0.113.50/26", "2001:db8:1::ad:1/64",
                           via=("203.0.113.1", "2001:db8:1::1"))
    servers = stage.machine("servers", "lan1", "203.0.113.140/26", "2001:db8:2::10/64",
                            via=("203.0.113.129", "2001:db8:2::1"))
    stage.host.address("wan0", "198.51.100.10/24", "2001:db8:ff::10/64")
    stage.host.address("lan0", "203.0.113.1/26", "2001:db8:1::1/64")
    stage.host.address("lan1", "203.0.113.129/26", "2001:db8:2::1/64")
    stage.actor("gateway", stage.host, "198.51.100.10", "2001:db8:ff::10")
    stage.actor("gateway-lan0", stage.host, "203.0.113.1", "2001:db8:1::1")
    stage.actor("gateway-lan1", stage.host, "203.0.113.129", "2001:db8:2::1")
    stage.actor("router1", wan, "198.51.100.1", "2001:db8:ff::1")
    stage.actor("router2", wan, "198.51.100.2", "2001:db8:ff::2")
    stage.actor("stranger", wan, "198.51.100.66", "2001:db8:ff::66")
    stage.elsewhere("internet", wan, "198.18.0.1", "2001:db8:99::1")
    stage.actor("office", office, "203.0.113.10", "2001:db8:1::10")
    stage.actor("monitoring", office, "203.0.113.40", "2001:db8:1::40")
    stage.actor("admin", office, "203.0.113.50", "2001:db8:1::ad:1")
    stage.actor("server", servers, "203.0.113.140", "2001:db8:2::10")
    # Sources that are not ours, one in the office and one on the gateway; the way back to them exists.
    stage.elsewhere("foreign", office, "10.99.0.1", "fd99::1")
    stage.elsewhere("foreign-here", stage.host, "10.98.0.1", "fd98::1")
    stage.host.ip("route", "add", "10.99.0.1", "via", "203.0.113.10")
    stage.host.ip("-6", "route", "add", "fd99::1", "via", "2001:db8:1::10")
    stage.host.ip("route", "add", "default", "via", "198.51.100.1")
    stage.host.ip("-6", "route", "add", "default", "via", "2001:db8:ff::1")
    return stage
