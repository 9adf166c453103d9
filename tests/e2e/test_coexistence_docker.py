# SPDX-License-Identifier: Apache-2.0
"""What docs/coexistence.md says of containers on a bridge behind NAT, and of a DHCP server behind a guarded bridge."""

import socket

import pytest

import traffic
from beside import ACLS, PORT, REFUSED, THROUGH, allow, doctor, nft, reaches
from lab import Path


@pytest.fixture
def bridged(fresh_lab):
    return Path(fresh_lab, is_bridged=True)


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


@pytest.mark.parametrize("rows, is_heard", [(None, False), (["arp", "nd", "igmp", "mld", "dhcp-server"], True)])
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
