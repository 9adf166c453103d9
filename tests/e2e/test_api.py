# SPDX-License-Identifier: Apache-2.0
"""The API when nothing is wrong: shapes of the answers as documented."""

import re

import pytest

import generator
import traffic
from lab import eventually
from numbered import ring_losses

PORT = 7400
POLICY = {
    "schema": "secg/1",
    "services": {"echo": [{"protocol": "udp", "dst_ports": PORT}]},
    "groups": {"clients": {"prefixes": ["10.1.0.0/24", "fd01::/64"], "except": "10.1.0.9"},
               "all": {"groups": "clients", "description": "nested"}},
    "acls": {"web": {"rules": [
        {"id": "echo", "action": "permit+reflect", "src": "@all", "service": "echo", "labels": {"a": "b"}},
        {"id": "ping", "action": "allow-related", "protocol": "ping"},
        {"id": "range", "action": "permit", "protocol": "tcp", "dst_ports": ["8000-8100", "443"]},
        {"id": "no", "action": "deny", "src": ["0.0.0.0/0"]}]}},
    "ports": {"p": {"interface": "h0", "from": "web", "to": []}},
}


@pytest.fixture(scope="module")
def host(daemon):
    return daemon


@pytest.fixture(autouse=True)
def policy(host):
    host.apply(POLICY)
    host.api.delete("/v1/sessions?all=1")


def test_status(host):
    status = host.api.get("/v1/status")
    assert {"version", "generation", "etag", "kernel", "memory", "sessions", "ports"} <= set(status)
    assert "crypto" not in status, "parts that are not built are absent"
    assert all(isinstance(value, bool) for value in status["kernel"].values())
    assert all(isinstance(value, int) and value > 0 for value in status["memory"].values())
    assert set(status["sessions"]) == {"used", "max", "new_used", "new_max"}
    port = status["ports"]["p"]
    assert {"state", "ifindex", "hook", "mode", "prog_tag", "mode_to", "prog_tag_to", "tables",
            "generation"} <= set(port)
    assert (port["state"], port["tables"]) == ("guarded", "bits")
    assert re.fullmatch("[0-9a-f]{16}", port["prog_tag"])
    assert status["etag"].strip('"') == host.api.request("GET", "/v1/config").headers["ETag"].strip('"')


def test_config_is_normalised(host):
    """Lists where many values may stand, canonical spellings, no defaults filled in."""
    config = host.api.get("/v1/config")
    assert set(config) - {"schema"} == {"services", "groups", "acls", "ports"}
    assert config["ports"]["p"] == {"interface": "h0", "from": ["web"], "to": []}
    assert config["groups"]["clients"] == {"prefixes": ["10.1.0.0/24", "fd01::/64"], "except": ["10.1.0.9"]}
    rules = config["acls"]["web"]["rules"]
    assert [rule["action"] for rule in rules] == ["allow", "allow", "allow-stateless", "drop"]
    assert rules[0]["src"] == ["@all"] and rules[0]["labels"] == {"a": "b"}
    assert rules[2]["dst_ports"] == ["8000-8100", 443]
    # What was read can be written.
    assert host.apply(config)["changed"] is False


def test_collections(host):
    assert set(host.api.get("/v1/groups")) == {"all", "clients"}
    assert host.api.get("/v1/ports/p") == host.api.get("/v1/config")["ports"]["p"]
    answer = host.api.put("/v1/groups/more", {"prefixes": ["192.0.2.1"]})
    assert answer["changed"] is True
    assert [(change["op"], change["path"]) for change in answer["changes"]] == [("add", "groups.more")]
    assert {"generation", "changed", "etag", "changes", "ports", "warnings"} <= set(answer)
    answer = host.api.delete("/v1/groups/more")
    assert [(change["op"], change["path"]) for change in answer["changes"]] == [("remove", "groups.more")]
    assert host.api.request("GET", "/v1/groups/more").status == 404


def test_patch_merges(host):
    host.api.patch("/v1/config", {"groups": {"x": {"prefixes": ["192.0.2.1"]}, "y": {"prefixes": []}},
                                  "ports": {"p": {"hook": "tc"}}})
    assert set(host.api.get("/v1/groups")) == {"all", "clients", "x", "y"}
    assert host.api.get("/v1/ports/p") == {"interface": "h0", "from": ["web"], "to": [], "hook": "tc"}
    answer = host.api.patch("/v1/config", {"groups": {"x": None, "y": None}, "ports": {"p": {"hook": None}}})
    assert len(answer["changes"]) == 3
    assert set(host.api.get("/v1/groups")) == {"all", "clients"}
    assert host.api.get("/v1/ports/p") == {"interface": "h0", "from": ["web"], "to": []}


def test_groups_services_and_ping(host, path):
    for family in (4, 6):
        result = traffic.udp(path.client, path.server, path.server_addr[family], family, PORT)
        result.close()
        assert result.has_reply
        result = traffic.icmp(path.client, path.server, path.server_addr[family], family)
        result.close()
        assert result.has_reply
    path.client.address("c0", "10.1.0.9/24")
    with traffic.make_socket(path.server, 4, traffic.socket.SOCK_DGRAM) as listener, \
            traffic.make_socket(path.client, 4, traffic.socket.SOCK_DGRAM) as sender:
        listener.bind((path.server_addr[4], PORT))
        sender.bind(("10.1.0.9", 0))
        sender.sendto(b"x", (path.server_addr[4], PORT))
        with pytest.raises(TimeoutError):
            listener.recv(64)
    path.client.ip("addr", "del", "10.1.0.9/24", "dev", "c0")
    assert host.packets("web/no") >= 1
    # A shipped service by its name.
    host.api.patch("/v1/config", {"acls": {"web": {"rules": [
        {"id": "shipped", "action": "allow", "service": "ssh"}]}}})
    result = traffic.tcp(path.client, path.server, path.server_addr[4], 4, 22)
    result.close()
    assert result.has_reply


def test_sessions_can_be_found_and_cleared(host, path):
    results = [traffic.udp(path.client, path.server, path.server_addr[family], family, PORT) for family in (4, 6)]
    results += [traffic.icmp(path.client, path.server, path.server_addr[4])]
    assert len(host.sessions()) == 3
    assert len(host.sessions("proto=udp")) == 2
    assert len(host.sessions("proto=icmp")) == 1
    assert len(host.sessions(f"dport={PORT}&src=10.1.0.0/24")) == 1
    assert len(host.sessions("dst=fd02::/16")) == 1
    assert len(host.sessions("rule=web/echo")) == 2
    assert len(host.sessions("acl=web")) == 3
    assert len(host.sessions("state=two_way&port=p")) == 3
    assert host.sessions("state=half_open") == []
    seen, cursor = [], None
    for _ in range(10):
        answer = host.api.get("/v1/sessions?limit=1" + (f"&cursor={cursor}" if cursor else ""))
        seen += answer["sessions"]
        cursor = answer.get("cursor")
        if not cursor:
            break
    assert len(seen) == 3
    [session] = host.sessions("proto=icmp")
    assert 28 < session["expires_s"] < 30.1 and 0 <= session["idle_s"] <= session["age_s"] < 2
    assert host.api.delete("/v1/sessions?proto=icmp") == {"deleted": 1}
    assert host.api.delete("/v1/sessions?all=1") == {"deleted": 2}
    assert host.sessions() == []
    # The flow is not lost: its next packet opens a session anew.
    sender, listener = results[0].sockets
    sender.send(b"x")
    assert listener.recv(64) == b"x"
    assert len(host.sessions()) == 1
    for result in results:
        result.close()


def test_clearing_removes_all_that_match(host, path):
    """acl/29: thousands at once, and none of the others."""
    many = 9000
    generator.gro(path.host, "h0")
    other = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT)
    before = ring_losses(path)
    generator.generate(path.client, "c0", path.host.link("h0")["address"], path.client_addr[4], path.server_addr[4],
                       "--protocol", "icmp", "--ids", many, "--count", many)
    made = many - (ring_losses(path) - before)
    eventually(lambda: host.packets("web/ping") >= made, what="all are judged")
    assert made > 5000
    assert host.api.delete("/v1/sessions?proto=icmp&dst=10.2.0.0/16") == {"deleted": made}
    assert [session["proto"] for session in host.sessions()] == ["udp"]
    other.close()


def test_session_expires(host, path):
    host.api.patch("/v1/config", {"ports": {"p": {"timeouts": {"udp_two_way": 1, "udp_one_way": 1}}}})
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT)
    assert len(host.sessions()) == 1
    eventually(lambda: host.sessions() == [], 4, "expired")
    # An answer that comes too late is a stranger.
    sender, listener = result.sockets
    listener.sendto(b"late", sender.getsockname())
    with pytest.raises(TimeoutError):
        sender.recv(64)
    result.close()


def test_stats_and_metrics(host, path):
    before = host.stats()
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT)
    result.close()
    after = host.stats()
    assert set(after) == {"ports", "rules", "reasons", "infrastructure"}
    assert after["rules"]["web/echo"]["packets"] == before["rules"]["web/echo"]["packets"] + 2
    assert after["rules"]["web/echo"]["bytes"] == before["rules"]["web/echo"]["bytes"] + 2 * (14 + 28 + 5)
    metrics = host.api.request("GET", "/metrics")
    assert metrics.status == 200 and metrics.headers["Content-Type"].startswith("text/plain")
    lines = metrics.raw.decode().splitlines()
    assert any('rule="web/echo"' in line or ('acl="web"' in line and 'rule="echo"' in line) for line in lines)
    for line in lines:
        assert line.startswith("#") or re.fullmatch(r'[a-z_]+(\{[^{}]*\})? [0-9.e+-]+', line), line


def test_counters_survive_replacement_and_reordering(host, path):
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT)
    result.close()
    counted = host.packets("web/echo")
    assert counted >= 2
    rules = POLICY["acls"]["web"]["rules"]
    host.apply(POLICY | {"acls": {"web": {"rules": [rules[1], {"id": "new", "action": "drop", "protocol": 99},
                                                    *rules[2:3], rules[0]]}}})
    assert host.packets("web/echo") == counted
    assert host.packets("web/new") == 0
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT)
    result.close()
    assert host.packets("web/echo") == counted + 2


def test_pass_goes_on_with_the_next_acl(host, path):
    host.apply({"acls": {
        "tier1": {"rules": [{"id": "skip", "action": "pass", "protocol": "udp", "dst_ports": [PORT]},
                            {"id": "all", "action": "drop"}]},
        "tier2": {"rules": [{"id": "udp", "action": "allow", "protocol": "udp"}]}},
        "ports": {"p": {"interface": "h0", "from": ["tier1", "tier2"], "to": []}}})
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT)
    result.close()
    assert result.has_reply
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT + 1)
    result.close()
    assert not result.has_request
    assert host.packets("tier1/skip") == 1 and host.packets("tier2/udp") == 2 and host.packets("tier1/all") == 1


def test_default_allow(host, path):
    host.apply({"acls": {"no": {"rules": [{"id": "no", "action": "drop", "protocol": "udp", "dst_ports": [PORT]}]}},
                "ports": {"p": {"interface": "h0", "from": ["no"], "to": [], "default": {"from": {"action": "allow"}}}}})
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT)
    result.close()
    assert not result.has_request
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT + 1)
    result.close()
    assert result.has_reply, "a default of allow tracks"


