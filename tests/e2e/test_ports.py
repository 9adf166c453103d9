# SPDX-License-Identifier: Apache-2.0
"""Interfaces come and go; each port is guarded as soon as its own is there, and none waits for another."""

import time

import pytest

import foreign as others
import traffic
from lab import Path, eventually

PORT = 7100
ACLS = {"web": {"rules": [{"id": "udp", "action": "allow", "protocol": "udp", "dst_ports": [PORT]}]}}


@pytest.fixture
def path(fresh_lab):
    return Path(fresh_lab, is_bridged=False)


def policy(*names, **fields):
    return {"acls": ACLS,
            "ports": {name: {"interface": name, "from": ["web"], "to": [], **fields} for name in names}}


def remake_client_link(lab, path):
    lab.veth(path.client, "c0", path.host, "h0")
    path.client.address("c0", "10.1.0.1/24", "fd01::1/64")
    path.host.address("h0", "10.1.0.254/24", "fd01::fe/64")
    path.client.ip("route", "add", "default", "via", "10.1.0.254")


def assert_filters(path):
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT)
    result.close()
    assert result.has_request and result.has_reply
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT + 1)
    result.close()
    assert not result.has_request


@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_interface_deleted_and_made_again(fresh_lab, path, hook):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy("h0", hook=hook))
    assert_filters(path)
    first = daemon.port("h0")["ifindex"]
    counted = daemon.packets("web/udp")
    path.host.ip("link", "del", "h0")
    port = daemon.wait_port("h0", "waiting")
    assert not port.get("ifindex")
    remake_client_link(fresh_lab, path)
    port = daemon.wait_port("h0")
    assert port["hook"] == hook and port["ifindex"] != first
    assert_filters(path)
    assert daemon.packets("web/udp") == counted + 2


def test_guarded_soon_after_it_appears(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy("late0"))
    path.host.ip("link", "add", "late0", "type", "bridge")
    start = time.monotonic()
    daemon.wait_port("late0")
    assert time.monotonic() - start < 1


def test_missing_interface_is_waited_for(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    answer = daemon.apply(policy("h0", "absent0"))
    assert answer["ports"] == {"waiting": ["absent0"], "failed": []}
    assert daemon.port("absent0")["state"] == "waiting"
    assert daemon.port("h0")["state"] == "guarded"
    assert_filters(path)


def test_renamed_interface(fresh_lab, path):
    """A port belongs to a name: it lets go of an interface that takes another and takes one that gets it."""
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy("h0"))
    path.host.ip("link", "set", "h0", "down")
    path.host.ip("link", "set", "h0", "name", "other0")
    daemon.wait_port("h0", "waiting")
    path.host.ip("link", "set", "other0", "name", "h0")
    path.host.ip("link", "set", "h0", "up")
    daemon.wait_port("h0")
    eventually(lambda: traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT).has_reply, 3)
    assert_filters(path)


def test_one_failed_port_does_not_hold_up_others(fresh_lab, path):
    foreign = others.Foreign(fresh_lab.folder)
    foreign.attach(path.host, "h1", "foreign_xdp", others.XDP)
    daemon = fresh_lab.daemon(path.host)
    answer = daemon.apply({"acls": ACLS, "ports": {
        "a": {"interface": "h1", "hook": "xdp", "from": [], "to": []},
        "b": {"interface": "h0", "hook": "xdp", "from": ["web"], "to": []},
        "c": {"interface": "lo", "from": [], "to": [], "infrastructure": []}}})
    assert answer["ports"]["failed"] == ["a"]
    states = {name: port["state"] for name, port in daemon.api.get("/v1/status")["ports"].items()}
    assert states == {"a": "failed", "b": "guarded", "c": "guarded"}
    foreign.close()
    daemon.wait_port("a")


def test_port_removed_is_open_again(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy("h0"))
    assert_filters(path)
    daemon.api.delete("/v1/ports/h0")
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT + 1)
    result.close()
    assert result.has_reply
    assert "h0" not in daemon.api.get("/v1/status")["ports"]


def test_policy_change_is_live_when_answered(fresh_lab, path):
    """The next packet after the answer is judged by the new rules, sessions of the old ones included."""
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy("h0"))
    kept = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT)
    assert kept.has_reply
    daemon.apply({"acls": {"web": {"rules": []}}, "ports": policy("h0")["ports"]})
    sender, listener = kept.sockets
    sender.send(b"again")
    with pytest.raises(TimeoutError):
        listener.recv(64)
    reasons = daemon.stats("h0")["reasons"]
    assert reasons.get("policy_change", 0) + reasons.get("default", 0) == 1
    daemon.apply(policy("h0"))
    sender.send(b"again")
    assert listener.recv(64) == b"again"
    kept.close()
