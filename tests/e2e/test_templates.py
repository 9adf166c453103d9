# SPDX-License-Identifier: Apache-2.0
"""Interfaces that no port claims get a template, and a quarantine lets nothing through before and after."""

import socket
import threading
import time

import pytest

import traffic
from lab import Path, eventually, run

PORT = 7200
ACLS = {"web": {"rules": [{"id": "udp", "action": "allow", "protocol": "udp", "dst_ports": [PORT]}]}}
QUARANTINE = {"match": {"name": "*"}, "from": [], "to": []}


@pytest.fixture
def path(fresh_lab):
    return Path(fresh_lab, is_bridged=False)


@pytest.fixture
def host(fresh_lab):
    return fresh_lab.namespace("host")


def veth(host, name, **peer):
    host.ip("link", "add", name, "type", "veth", "peer", "name", peer.get("peer", name + "p"))


def states(daemon):
    return {name: port["state"] for name, port in daemon.api.get("/v1/status")["ports"].items()}


def wait_states(daemon, wanted, timeout=5):
    eventually(lambda: states(daemon) == wanted, timeout, f"{wanted}; {states(daemon)}")


def udp_passes(path, port=PORT):
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, port)
    result.close()
    return result.has_reply


def test_every_interface_gets_the_most_specific_template(fresh_lab, host):
    daemon = fresh_lab.daemon(host)
    veth(host, "vnet1")
    daemon.apply({"acls": ACLS, "port_templates": {
        "quarantine": QUARANTINE,
        "vm": {"match": {"name": "vnet*"}, "from": ["web"], "to": []},
        "peer": {"match": {"name": "*p", "kind": "veth"}}}})
    wait_states(daemon, {"vnet1": "guarded", "vnet1p": "guarded"})
    host.ip("link", "add", "other0", "type", "bridge")
    wait_states(daemon, {"vnet1": "guarded", "vnet1p": "guarded", "other0": "quarantined"})
    port = daemon.port("other0")
    assert (port["interface"], port["template"]) == ("other0", "quarantine")
    assert daemon.port("vnet1")["template"] == "vm"
    host.ip("link", "del", "vnet1")
    wait_states(daemon, {"other0": "quarantined"})


def test_instances_are_no_part_of_the_policy(fresh_lab, host):
    daemon = fresh_lab.daemon(host)
    policy = {"port_templates": {"quarantine": QUARANTINE}}
    etag = daemon.apply(policy)["etag"]
    veth(host, "a0")
    wait_states(daemon, {"a0": "quarantined", "a0p": "quarantined"})
    assert daemon.api.get("/v1/config") == {"port_templates": {"quarantine": QUARANTINE}}
    assert daemon.api.get("/v1/ports") == {}
    assert daemon.api.request("GET", "/v1/ports/a0").status == 404
    assert daemon.api.get("/v1/status")["etag"] == etag
    assert set(daemon.stats()["ports"]) == {"a0", "a0p"}
    trace = daemon.api.ok("POST", "/v1/trace", {"port": "a0", "direction": "from", "src": "10.0.0.1", "dst": "10.0.0.2",
                                              "proto": "udp", "sport": 1, "dport": 2})
    assert trace["verdict"] == "drop" and trace["reason"] == "default"
    assert "a0" in daemon.sgctl("get", "ports").stdout
    assert daemon.sgctl("wait", "ports", "a0", "--for", "quarantined", "--timeout", "5").returncode == 0


def test_template_can_be_read_written_and_deleted(fresh_lab, host):
    daemon = fresh_lab.daemon(host)
    veth(host, "a0", peer="b0")
    daemon.api.put("/v1/port_templates/q", {"match": {"name": "a*"}, "from": [], "to": []})
    assert daemon.api.get("/v1/port_templates/q")["match"] == {"name": "a*"}
    wait_states(daemon, {"a0": "quarantined"})
    daemon.api.put("/v1/acls/web", ACLS["web"])
    daemon.api.put("/v1/port_templates/q", {"match": {"name": "a*"}, "from": ["web"], "to": []})
    wait_states(daemon, {"a0": "guarded"})
    answer = daemon.api.request("DELETE", "/v1/acls/web")
    assert answer.status == 409
    assert answer.json["errors"][0]["field"] == "port_templates.q.from"
    daemon.api.delete("/v1/port_templates/q")
    assert states(daemon) == {}


def test_name_that_a_port_of_the_policy_has(fresh_lab, host):
    """The interface is guarded all the same, under a name that no port of a policy can have."""
    daemon = fresh_lab.daemon(host)
    veth(host, "a0", peer="b0")
    daemon.apply({"ports": {"a0": {"interface": "b0", "to": []}, "other": {"interface": "absent0"}},
                  "port_templates": {"quarantine": QUARANTINE}})
    assert states(daemon) == {"a0": "guarded", "other": "waiting", "if/a0": "quarantined"}
    assert daemon.stats("if/a0")["ports"].keys() == {"if/a0"}


def test_loopback_is_taken_by_name_only(fresh_lab, host):
    daemon = fresh_lab.daemon(host)
    daemon.apply({"port_templates": {"quarantine": QUARANTINE}})
    assert states(daemon) == {}
    daemon.apply({"port_templates": {"quarantine": QUARANTINE, "lo": {"match": {"name": "lo"}}}})
    assert states(daemon) == {"lo": "guarded"}


def test_deleted_port_falls_back_to_quarantine_without_an_open_moment(fresh_lab, path):
    """Numbered traffic that no policy allows runs while the port comes and goes: not one packet passes."""
    daemon = fresh_lab.daemon(path.host)
    port = {"interface": "h0", "from": ["web"], "to": []}
    templates = {"quarantine": {"match": {"name": "h0"}, "from": [], "to": []}}
    daemon.apply({"acls": ACLS, "ports": {"vm1": port}, "port_templates": templates})
    assert udp_passes(path)
    with path.server.entered():
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listener.bind((path.server_addr[4], PORT + 1))
        listener.settimeout(0.2)
    with path.client.entered():
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sent = 0
    is_over = threading.Event()

    def flood():
        nonlocal sent
        while not is_over.is_set():
            for _ in range(20):
                sender.sendto(b"%d" % sent, (path.server_addr[4], PORT + 1))
                sent += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        for _ in range(15):
            daemon.api.delete("/v1/ports/vm1")
            assert states(daemon) == {"h0": "quarantined"}
            daemon.api.put("/v1/ports/vm1", port)
            assert states(daemon) == {"vm1": "guarded"}
    finally:
        is_over.set()
        thread.join()
    with pytest.raises(TimeoutError):
        listener.recv(64)
    assert sent > 100
    listener.close()
    sender.close()
    assert udp_passes(path)


@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_two_ports_swap_their_interfaces_without_an_open_moment(fresh_lab, path, hook):
    daemon = fresh_lab.daemon(path.host)

    def policy(a, b):
        return {"acls": ACLS, "ports": {
            "a": {"interface": a, "from": ["web"], "to": ["web"], "hook": hook},
            "b": {"interface": b, "from": ["web"], "to": ["web"], "hook": hook}}}

    daemon.apply(policy("h0", "h1"))
    ids = {name: daemon.port(name)["ifindex"] for name in "ab"}
    daemon.apply(policy("h1", "h0"))
    assert daemon.port("a")["ifindex"] == ids["b"] and daemon.port("b")["ifindex"] == ids["a"]
    assert states(daemon) == {"a": "guarded", "b": "guarded"}
    assert udp_passes(path) and not udp_passes(path, PORT + 1)


def test_interface_with_acls_is_deleted_and_returns(fresh_lab, path):
    """acl/45"""
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"acls": ACLS, "port_templates": {
        "vm": {"match": {"name": "h0"}, "from": ["web"], "to": []}}})
    assert udp_passes(path) and not udp_passes(path, PORT + 1)
    for _ in range(3):
        path.host.ip("link", "del", "h0")
        wait_states(daemon, {})
        fresh_lab.veth(path.client, "c0", path.host, "h0")
        path.client.address("c0", "10.1.0.1/24")
        path.host.address("h0", "10.1.0.254/24")
        path.client.ip("route", "add", "default", "via", "10.1.0.254")
        wait_states(daemon, {"h0": "guarded"})
        assert udp_passes(path) and not udp_passes(path, PORT + 1)


def test_numbers_and_counters_are_given_back(fresh_lab, host):
    daemon = fresh_lab.daemon(host)
    daemon.apply({"acls": ACLS, "port_templates": {"vm": {"match": {"name": "v*"}, "from": ["web"], "to": []}}})
    for _ in range(20):
        veth(host, "v0")
        wait_states(daemon, {"v0": "guarded", "v0p": "guarded"})
        host.ip("link", "del", "v0")
        wait_states(daemon, {})
    links = run("ls", daemon.bpffs, check=False).stdout.split()
    folder = next(name for name in links if name.startswith("v"))
    assert run("ls", f"{daemon.bpffs}/{folder}/links").stdout == ""
    time.sleep(1.5)  # numbers are free again after a tick
    veth(host, "v1")
    wait_states(daemon, {"v1": "guarded", "v1p": "guarded"})
    names = run("ls", f"{daemon.bpffs}/{folder}/links").stdout.split()
    assert max(int(name.split("_")[0]) for name in names) <= 4


def test_restart_keeps_instances_guarded(fresh_lab, path):
    """Their hooks and counters are adopted, also after a crash."""
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"acls": ACLS, "port_templates": {
        "vm": {"match": {"name": "h*"}, "from": ["web"], "to": ["web"]}}})
    assert udp_passes(path)
    packets = daemon.packets("web/udp")
    for end in (daemon.stop, daemon.kill):
        before = daemon.api.get("/v1/status")
        time.sleep(1.5)
        end()
        assert not udp_passes(path, PORT + 1)
        daemon.start()
        assert states(daemon) == {"h0": "guarded", "h1": "guarded"}
        assert daemon.api.get("/v1/status")["generation"] >= before["generation"]
        assert daemon.packets("web/udp") == packets


def test_crash_just_after_an_interface_has_appeared(fresh_lab, host):
    """Its number is in the kernel and not yet in the store: the next daemon adopts the hooks."""
    daemon = fresh_lab.daemon(host)
    daemon.apply({"port_templates": {"quarantine": QUARANTINE}})
    for number in range(3):
        veth(host, f"v{number}")
        eventually(lambda: states(daemon).get(f"v{number}") == "quarantined")
        daemon.kill()
        daemon.start()
        wanted = {f"v{i}{end}": "quarantined" for i in range(number + 1) for end in ("", "p")}
        assert states(daemon) == wanted
    host.ip("link", "del", "v1")
    wait_states(daemon, {f"v{i}{end}": "quarantined" for i in (0, 2) for end in ("", "p")})


def test_many_interfaces_at_once(fresh_lab, host):
    """Their events are read together: a few generations for all of them, not one for each."""
    count = 250  # pairs
    daemon = fresh_lab.daemon(host)
    before = daemon.apply({"port_templates": {"quarantine": QUARANTINE}})["generation"]
    batch = "".join(f"link add m{i} type veth peer name m{i}p\n" for i in range(count))
    run("ip", "-n", host.name, "-batch", "-", input=batch)
    eventually(lambda: len(states(daemon)) == 2 * count and set(states(daemon).values()) == {"quarantined"},
               120, "all interfaces are in quarantine")
    assert daemon.api.get("/v1/status")["generation"] - before < count
    batch = "".join(f"link del m{i}\n" for i in range(count))
    run("ip", "-n", host.name, "-batch", "-", input=batch)
    wait_states(daemon, {}, 120)
