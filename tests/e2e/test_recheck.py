# SPDX-License-Identifier: Apache-2.0
"""A write judges the sessions of what it changes before it answers, and says how many it kept and cut."""

import json

import pytest
import traffic

RULES = [
    {"id": "web", "action": "allow", "protocol": "tcp", "dst_ports": [8000]},
    {"id": "dns", "action": "allow", "protocol": "udp", "dst_ports": [5353]},
    {"id": "ping", "action": "allow", "protocol": "ping"},
]


def policy(rules, **port):
    """Strict: what connections of an earlier test still send opens nothing that would be counted."""
    port = {"interface": "h0", "from": ["a"], "to": [], "tcp": "strict", **port}
    return {"acls": {"a": {"rules": rules}}, "ports": {"p": port}}


@pytest.fixture
def flows(daemon, path):
    """Six flows of three kinds through the port, in both families."""
    daemon.apply(policy(RULES))
    daemon.api.delete("/v1/sessions?all=1")
    results = []
    for family in (4, 6):
        server = path.server_addr[family]
        results += [traffic.tcp(path.client, path.server, server, family, 8000),
                    traffic.udp(path.client, path.server, server, family, 5353),
                    traffic.icmp(path.client, path.server, server, family)]
    assert all(results) and len(daemon.sessions()) == 6
    yield results
    for result in results:
        result.close()


def protocols(daemon):
    return sorted(session["proto"] for session in daemon.sessions())


def test_kept_and_cut_are_counted(daemon, flows):
    """acl/31: only the sessions that the new policy does not admit end, and before the answer."""
    answer = daemon.api.patch("/v1/config", policy(RULES[1:]))
    assert answer["sessions"] == {"kept": 4, "cut": 2}
    assert protocols(daemon) == ["icmp", "icmpv6", "udp", "udp"]
    # Nothing that they hang on has changed.
    answer = daemon.api.patch("/v1/config", {"acls": {"other": {"rules": []}}})
    assert answer["sessions"] == {"kept": 0, "cut": 0}
    # An order that does not matter to them.
    assert daemon.api.patch("/v1/config", policy(RULES[:0:-1]))["sessions"] == {"kept": 4, "cut": 0}
    assert daemon.api.patch("/v1/config", policy([]))["sessions"] == {"kept": 0, "cut": 4}
    assert daemon.sessions() == []


def test_dry_run_counts_and_touches_nothing(daemon, flows):
    for rules in (RULES[1:], []):
        answer = daemon.api.patch("/v1/config?dry_run=1", policy(rules))
        assert answer["sessions"] == {"kept": 2 * len(rules), "cut": 2 * (3 - len(rules))}
        assert len(daemon.sessions()) == 6


def test_keep_and_removal(daemon, flows):
    assert daemon.api.patch("/v1/config", policy([], on_change="keep"))["sessions"] == {"kept": 6, "cut": 0}
    assert len(daemon.sessions()) == 6
    # A port that goes takes its sessions with it.
    assert daemon.api.patch("/v1/config", {"ports": {"p": None}})["sessions"] == {"kept": 0, "cut": 6}
    assert daemon.sessions() == []


@pytest.mark.parametrize("on_change", ["recheck", "keep"])
def test_a_port_that_leaves_its_domain_leaves_its_sessions(daemon, path, flows, on_change):
    """They are found from the old domain only: they end, and are counted; those of other ports stay."""
    other = {"interface": "h1", "to": ["a"], "from": [], "domain": "shared", "tcp": "strict"}
    alone = {**policy(RULES)["ports"]["p"], "on_change": on_change}
    daemon.api.patch("/v1/config", {"ports": {"p": {**alone, "domain": "shared"}, "other": other}})
    assert daemon.sessions() == []
    server = path.server_addr[4]
    flow = traffic.udp(path.client, path.server, server, 4, 5353)
    assert flow and sorted(session["port"] for session in daemon.sessions()) == ["other", "p"]
    apart = {"ports": {"p": {**alone, "domain": None}}}
    for query in ("?dry_run=1", ""):
        assert daemon.api.patch("/v1/config" + query, apart)["sessions"] == {"kept": 0, "cut": 1}
    assert [session["port"] for session in daemon.sessions()] == ["other"]
    flow.close()


def test_cut_flow_is_closed_both_ways(daemon, path, flows):
    """acl/50: an established connection whose rule goes is cut, in both directions."""
    daemon.api.patch("/v1/config", policy(RULES[1:]))
    for result in (flows[0], flows[3]):
        with pytest.raises(TimeoutError):
            traffic.talk(result)
        assert not result.has_request
        sender, _, accepted = result.sockets
        accepted.sendall(b"x")
        with pytest.raises(TimeoutError):
            sender.recv(64)


def test_sgctl_says_so(daemon, flows, tmp_path):
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(policy(RULES[1:])), encoding="utf-8")
    done = daemon.sgctl("apply", "-f", str(file))
    assert "sessions: 4 kept, 2 cut" in done.stdout, done.stdout + done.stderr
