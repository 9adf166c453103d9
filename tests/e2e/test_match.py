# SPDX-License-Identifier: Apache-2.0
"""A port that says what its interface is like gets that interface, and is ambiguous rather than wrong."""

import pytest

import traffic
from lab import Path, eventually

PORT = 7300
ACLS = {"web": {"rules": [{"id": "udp", "action": "allow", "protocol": "udp", "dst_ports": [PORT]}]}}
QUARANTINE = {"match": {"name": "*"}, "from": [], "to": []}


@pytest.fixture
def host(fresh_lab):
    return fresh_lab.namespace("host")


@pytest.fixture
def daemon(fresh_lab, host):
    return fresh_lab.daemon(host)


def dummy_pair(host, name, *words):
    """A veth, whose peer has a name that no match of these tests means."""
    host.ip("link", "add", name, *words, "type", "veth", "peer", "name", name + "-z")


def policy(match, **fields):
    return {"acls": ACLS, "ports": {"p": {"match": match, "from": ["web"], "to": [], **fields}}}


def wait_on(daemon, interface, name="p"):
    eventually(lambda: daemon.port(name).get("interface") == interface and
               daemon.port(name)["state"] == "guarded", 5, f"{name} guards {interface}; {daemon.port(name)}")


@pytest.mark.parametrize("match, command", [
    ({"name": "tap?"}, ("link", "set", "x0", "name", "tap7")),
    ({"altname": "vm-1-eth0"}, ("link", "property", "add", "dev", "x0", "altname", "vm-1-eth0")),
    ({"alias": "port of vm 1"}, ("link", "set", "x0", "alias", "port of vm 1")),
    ({"mac": "52:54:00:00:00:00/ff:ff:ff:00:00:00"}, ("link", "set", "x0", "address", "52:54:00:12:34:56")),
    ({"master": "br0", "kind": "veth"}, ("link", "set", "x0", "master", "br0")),
], ids=["name", "altname", "alias", "mac", "master"])
def test_what_changes_makes_an_interface_fit(daemon, host, match, command):
    host.ip("link", "add", "br0", "type", "bridge")
    dummy_pair(host, "x0", "address", "02:00:00:00:00:01")
    host.ip("link", "set", "x0-z", "address", "02:00:00:00:00:02")
    daemon.apply(policy(match))
    assert daemon.port("p")["state"] == "waiting"
    host.ip(*command)
    wait_on(daemon, "tap7" if "name" in match else "x0")


@pytest.mark.parametrize("match, begin, end", [
    ({"altname": "one"}, ("link", "property", "add", "dev", "x0", "altname", "one"),
     ("link", "property", "del", "dev", "x0", "altname", "one")),
    ({"alias": "one"}, ("link", "set", "x0", "alias", "one"), ("link", "set", "x0", "alias", "two")),
    ({"master": "br0", "kind": "veth"}, ("link", "set", "x0", "master", "br0"), ("link", "set", "br0", "name", "br1")),
], ids=["altname", "alias", "renamed master"])
def test_what_changes_takes_an_interface_away(daemon, host, match, begin, end):
    host.ip("link", "add", "br0", "type", "bridge")
    dummy_pair(host, "x0")
    host.ip(*begin)
    daemon.apply(policy(match))
    wait_on(daemon, "x0")
    host.ip(*end)
    daemon.wait_port("p", "waiting")


def test_renamed_interface_stays_guarded_by_what_it_is(fresh_lab):
    """Its hooks stay where they are: a flow that no rule allows never gets through."""
    path = Path(fresh_lab, is_bridged=False)
    daemon = fresh_lab.daemon(path.host)
    path.host.ip("link", "property", "add", "dev", "h0", "altname", "vm1")
    daemon.apply(policy({"altname": "vm1"}))
    wait_on(daemon, "h0")
    number = daemon.port("p")["ifindex"]
    path.host.ip("link", "set", "h0", "down")
    path.host.ip("link", "set", "h0", "name", "other0")
    path.host.ip("link", "set", "other0", "up")
    wait_on(daemon, "other0")
    assert daemon.port("p")["ifindex"] == number
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT + 1)
    result.close()
    assert not result.has_request
    assert "put back" not in daemon.log()


def test_two_interfaces_for_one_match_are_both_not_guarded_by_it(daemon, host):
    dummy_pair(host, "tap1")
    daemon.apply(policy({"name": "tap?"}))
    wait_on(daemon, "tap1")
    dummy_pair(host, "tap2")
    port = daemon.wait_port("p", "ambiguous")
    assert port["ifindex"] == 0 and "tap1" in port["message"] and "tap2" in port["message"]
    answer = daemon.api.put("/v1/ports/p?dry_run=1", policy({"name": "tap?"})["ports"]["p"])
    assert [warning["code"] for warning in answer["warnings"]] == ["ambiguous"]
    findings = daemon.api.get("/v1/doctor")["findings"]
    assert [finding["port"] for finding in findings if finding["code"] == "port_ambiguous"] == ["p"]
    assert daemon.sgctl("wait", "port", "p", "--for", "ambiguous", "--timeout", "5").returncode == 0
    # by a quarantine, if there is one; a template that lets something through would be a guess too
    daemon.api.put("/v1/port_templates/open", {"match": {"name": "tap?"}})
    assert set(daemon.api.get("/v1/status")["ports"]) == {"p"}
    daemon.api.put("/v1/port_templates/quarantine", {"match": {"name": "t??[0-9]"}, "from": [], "to": []})
    assert daemon.port("tap1")["state"] == daemon.port("tap2")["state"] == "quarantined"
    host.ip("link", "del", "tap1")
    wait_on(daemon, "tap2")
    assert set(daemon.api.get("/v1/status")["ports"]) == {"p"}


def test_interface_by_name_and_more_specific_match_come_first(daemon, host):
    for name in ("tap1", "tap2", "tap3"):
        dummy_pair(host, name)
    daemon.apply({"ports": {"any": {"match": {"name": "tap?"}}, "two": {"match": {"name": "tap2"}},
                            "named": {"interface": "tap1"}}})
    wait_on(daemon, "tap3", "any")
    wait_on(daemon, "tap2", "two")
    wait_on(daemon, "tap1", "named")


def test_matches_that_are_as_good_are_both_ambiguous(daemon, host):
    dummy_pair(host, "tap1")
    daemon.apply({"ports": {"a": {"match": {"name": "ta??"}}, "b": {"match": {"name": "*p1", "kind": "bridge"}}}})
    wait_on(daemon, "tap1", "a")
    daemon.api.put("/v1/ports/b", {"match": {"name": "*p1"}})
    for name, other in (("a", "b"), ("b", "a")):
        port = daemon.port(name)
        assert port["state"] == "ambiguous" and f"port {other}" in port["message"] and "tap1" in port["message"]
    daemon.api.put("/v1/ports/b", {"match": {"name": "*ap1"}})
    wait_on(daemon, "tap1", "b")
    assert daemon.port("a")["state"] == "waiting"


def test_moved_to_another_namespace_and_back(fresh_lab, host, daemon):
    other = fresh_lab.namespace("other")
    dummy_pair(host, "tap1")
    daemon.apply(policy({"name": "tap1"}) | {"port_templates": {"quarantine": QUARANTINE}})
    wait_on(daemon, "tap1")
    for _ in range(3):
        host.ip("link", "set", "tap1", "netns", other.name)
        daemon.wait_port("p", "waiting")
        other.ip("link", "set", "tap1", "netns", host.name)
        wait_on(daemon, "tap1")


def test_flapping_interface_stays_guarded(daemon, host):
    dummy_pair(host, "tap1")
    daemon.apply(policy({"name": "tap1"}))
    wait_on(daemon, "tap1")
    for _ in range(20):
        host.ip("link", "set", "tap1", "down")
        host.ip("link", "set", "tap1", "up")
    wait_on(daemon, "tap1")
    assert "put back" not in daemon.log()
