# SPDX-License-Identifier: Apache-2.0
"""Members come into groups and go out of them, for good or for a while, and traffic follows at once."""

import pytest
import traffic
from lab import eventually
from test_writers import at_once

FIRST, SECOND = {4: "10.1.0.1", 6: "fd01::1"}, {4: "10.1.0.3", 6: "fd01::3"}
FAMILIES = (4, 6)
PORT = 8000


def policy(groups, **port):
    rules = [{"id": "g", "action": "allow", "protocol": "tcp", "src": ["@g"]}]
    return {"groups": groups, "acls": {"a": {"rules": rules}},
            # What has lost its session must not find its way by another.
            "ports": {"p": {"interface": "h0", "from": ["a"], "to": [], "tcp": "strict", **port}}}


@pytest.fixture(scope="module")
def second(path):
    """The client has a second address of each family."""
    path.client.address("c0", "10.1.0.3/24", "fd01::3/64")


@pytest.fixture
def host(daemon, path, second):
    daemon.api.delete("/v1/sessions?all=1")
    yield daemon
    daemon.api.put("/v1/config", {})


class Flows:
    """Connections through the port from both addresses; what is open is closed at the end."""

    def __init__(self, path):
        self.path = path
        self.open = []

    def connect(self, source, family):
        flow = traffic.tcp(self.path.client, self.path.server, self.path.server_addr[family], family,
                           source=source[family])
        self.open.append(flow)
        return flow

    def is_allowed(self, source, family=4):
        return self.connect(source, family).has_reply


@pytest.fixture
def flows(path):
    flows = Flows(path)
    yield flows
    for flow in flows.open:
        flow.close()


def change(daemon, group="g", **members):
    return daemon.api.ok("POST", f"/v1/groups/{group}/members", members)


def listed(daemon, group="g"):
    """{prefix: has it a time}"""
    members = daemon.api.get(f"/v1/groups/{group}/members")["members"]
    assert len({member["prefix"] for member in members}) == len(members)
    return {member["prefix"]: "expires_s" in member for member in members}


def state(daemon):
    return daemon.api.get("/v1/status")["generation"], daemon.api.request("GET", "/v1/config").headers["ETag"]


def is_cut(flow):
    try:
        traffic.talk(flow)
    except TimeoutError:
        return True
    return False


def test_traffic_follows_members(host, flows):
    """acl/36: an empty group matches nothing, and is live when it is filled."""
    host.apply(policy({"g": {}}))
    for family in FAMILIES:
        assert not flows.is_allowed(FIRST, family)
        answer = change(host, add=[FIRST[family]])
        assert answer["changed"] and len(answer["changes"]) == 1
        assert flows.is_allowed(FIRST, family) and not flows.is_allowed(SECOND, family)
        change(host, add=[{"prefix": SECOND[family], "ttl_s": 3600}])
        assert flows.is_allowed(SECOND, family)
        change(host, remove=[FIRST[family], SECOND[family]])
        assert not flows.is_allowed(FIRST, family) and not flows.is_allowed(SECOND, family)
    assert listed(host) == {}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("ttl", [{}, {"ttl_s": 3600}], ids=["for good", "for a while"])
@pytest.mark.parametrize("on_change", ["recheck", "cut"])
def test_removed_member_loses_its_sessions_and_nobody_else(host, flows, family, ttl, on_change):
    host.apply(policy({"g": {}}, on_change=on_change))
    change(host, add=[{"prefix": who[family], **ttl} for who in (FIRST, SECOND)])
    first, second = flows.connect(FIRST, family), flows.connect(SECOND, family)
    assert first.has_reply and second.has_reply
    dry = host.api.ok("POST", "/v1/groups/g/members?dry_run=1", {"remove": [FIRST[family]]})
    assert dry["sessions"] == {"kept": 0, "cut": 1} and len(host.sessions()) == 2
    # Somebody who comes touches nobody.
    assert change(host, add=["192.0.2.1"])["sessions"] == {"kept": 0, "cut": 0}
    assert change(host, remove=[FIRST[family]])["sessions"] == {"kept": 0, "cut": 1}
    [session] = host.sessions()
    assert session["src"] == SECOND[family]
    assert is_cut(first) and not is_cut(second)
    assert not flows.is_allowed(FIRST, family)


@pytest.mark.parametrize("on_change", ["recheck", "cut"])
def test_sessions_of_others_outlive_restarts(host, flows, on_change):
    """Also that by which members with a time are gone."""
    document = policy({"g": {"prefixes": [SECOND[4]]}}, on_change=on_change)
    host.apply(document)
    second = flows.connect(SECOND, 4)
    change(host, add=[{"prefix": FIRST[4], "ttl_s": 3600}])
    first = flows.connect(FIRST, 4)
    for _ in range(2):
        host.kill()
        host.start()
        assert is_cut(first) and not is_cut(second)
    change(host, add=["192.0.2.1"])
    host.kill()
    host.start()
    assert not is_cut(second)
    # A change of the rules is for all of them.
    document["acls"]["a"]["rules"][0]["protocol"] = ["tcp", "udp"]
    answer = host.api.patch("/v1/config", document)
    assert answer["sessions"] == ({"kept": 0, "cut": 1} if on_change == "cut" else {"kept": 1, "cut": 0})


def test_a_rule_changed_together_with_members_cuts_all(host, flows):
    document = policy({"g": {"prefixes": [FIRST[4], SECOND[4]]}}, on_change="cut")
    host.apply(document)
    assert flows.is_allowed(FIRST) and flows.is_allowed(SECOND)
    document["groups"]["g"]["prefixes"].append("192.0.2.1")
    document["acls"]["a"]["rules"].append({"id": "new", "action": "allow", "protocol": "udp", "src": ["192.0.2.7"]})
    assert host.api.patch("/v1/config", document)["sessions"] == {"kept": 0, "cut": 2}
    assert flows.is_allowed(FIRST) and flows.is_allowed(SECOND)
    # The same group, written anew: only who is in it.
    assert host.api.put("/v1/groups/g", {"prefixes": [SECOND[4]]})["sessions"] == {"kept": 0, "cut": 1}
    # The same names, other addresses in the rules.
    document["groups"]["g"]["prefixes"] = [SECOND[4]]
    document["acls"]["a"]["rules"][1]["src"] = ["192.0.2.8"]
    assert host.api.patch("/v1/config", document)["sessions"] == {"kept": 0, "cut": 1}


def test_kept_sessions_outlive_their_member(host, flows):
    host.apply(policy({"g": {"prefixes": [FIRST[4]]}}, on_change="keep"))
    flow = flows.connect(FIRST, 4)
    assert change(host, remove=[FIRST[4]])["sessions"] == {"kept": 1, "cut": 0}
    assert not is_cut(flow) and not flows.is_allowed(FIRST)


def test_member_of_another_rule_keeps_its_sessions(host, flows):
    document = policy({"g": {"prefixes": [FIRST[4]]}, "h": {"prefixes": ["10.1.0.0/24"]}})
    document["acls"]["a"]["rules"].append({"id": "h", "action": "allow", "protocol": "tcp", "src": ["@h"]})
    host.apply(document)
    flow = flows.connect(FIRST, 4)
    assert change(host, remove=[FIRST[4]])["sessions"] == {"kept": 1, "cut": 0}
    assert not is_cut(flow)
    # What is new is told apart from what changes with it: a rule that goes, too.
    document["acls"]["a"]["rules"].pop()
    document["groups"] = {"g": {}}
    assert host.api.put("/v1/config", document)["sessions"] == {"kept": 0, "cut": 1}


def test_time_runs_out(host, flows):
    host.apply(policy({"g": {}}))
    change(host, add=[{"prefix": SECOND[4], "ttl_s": 3600}])
    change(host, add=[{"prefix": FIRST[4], "ttl_s": 1}])
    flow = flows.connect(FIRST, 4)
    generation, etag = state(host)
    eventually(lambda: listed(host) == {SECOND[4]: True}, 10, "the member has left")
    after, etag_after = state(host)
    assert after == generation + 1 and int(etag_after.strip('"')) == int(etag.strip('"')) + 1
    assert host.sessions() == [] and is_cut(flow)
    assert not flows.is_allowed(FIRST) and flows.is_allowed(SECOND)
    # Who comes back in time stays, without a generation.
    answer = change(host, add=[{"prefix": SECOND[4], "ttl_s": 7200}])
    assert not answer["changed"] and answer["etag"] == etag_after.strip('"') and answer["generation"] == after
    [member] = host.api.get("/v1/groups/g/members")["members"]
    assert 3600 < member["expires_s"] <= 7200


def test_renewed_member_stays(host):
    host.apply(policy({"g": {}}))
    change(host, add=[{"prefix": FIRST[4], "ttl_s": 1}, {"prefix": SECOND[4], "ttl_s": 1}])
    change(host, add=[{"prefix": FIRST[4], "ttl_s": 3600}])
    eventually(lambda: SECOND[4] not in listed(host), 10, "the other one has left")
    assert listed(host) == {FIRST[4]: True}


def test_only_members_for_good_survive_the_daemon(host, flows):
    host.apply(policy({"g": {}}))
    change(host, add=[FIRST[4], {"prefix": SECOND[4], "ttl_s": 3600}])
    assert flows.is_allowed(FIRST) and flows.is_allowed(SECOND)
    host.kill()
    # The data path goes on with what it has.
    assert flows.is_allowed(SECOND)
    host.start()
    assert listed(host) == {FIRST[4]: False}
    assert host.api.get("/v1/groups/g") == {"prefixes": [FIRST[4]]}
    assert flows.is_allowed(FIRST) and not flows.is_allowed(SECOND)
    assert change(host, add=[{"prefix": SECOND[4], "ttl_s": 3600}])["changed"]
    assert flows.is_allowed(SECOND)


def test_nested_groups_pass_members_on_and_except_wins(host, flows):
    host.apply(policy({"g": {"groups": ["inner"], "except": [SECOND[4]]}, "inner": {}}))
    assert not flows.is_allowed(FIRST)
    change(host, "inner", add=[{"prefix": "10.1.0.0/24", "ttl_s": 3600}])
    assert flows.is_allowed(FIRST) and not flows.is_allowed(SECOND)
    change(host, "g", add=[{"prefix": SECOND[4], "ttl_s": 3600}])
    assert not flows.is_allowed(SECOND)
    assert listed(host, "g") == {SECOND[4]: True} and listed(host, "inner") == {"10.1.0.0/24": True}
    change(host, "inner", remove=["10.1.0.0/24"])
    assert not flows.is_allowed(FIRST)


def test_a_group_written_anew_keeps_its_members_for_a_while(host, flows):
    host.apply(policy({"g": {}}))
    change(host, add=[{"prefix": FIRST[4], "ttl_s": 3600}])
    host.api.put("/v1/groups/g", {"prefixes": [SECOND[4], FIRST[4]]})
    assert listed(host) == {FIRST[4]: False, SECOND[4]: False}
    host.apply(policy({"g": {"description": "d"}}))
    assert listed(host) == {FIRST[4]: True} and flows.is_allowed(FIRST)
    # Not one that has only the same name.
    host.apply({})
    host.apply(policy({"g": {}}))
    assert listed(host) == {} and not flows.is_allowed(FIRST)


def test_refused_changes_change_nothing(host):
    host.apply(policy({"g": {"prefixes": [FIRST[4]]}, "worn": {}}))
    before = state(host)
    for body, field in (({"add": [SECOND[4], {"prefix": "::1", "ttl_s": 0}]}, "add[1].ttl_s"),
                        ({"remove": [FIRST[4]], "add": ["10.1.0.0/8"]}, "add[0]"), ({"set": []}, "set")):
        answer = host.api.request("POST", "/v1/groups/g/members", body)
        assert answer.status == 400 and [error["field"] for error in answer.errors] == [field], answer
    assert host.api.request("POST", "/v1/groups/g/members", {"remove": FIRST[4]}, {"If-Match": '"0"'}).status == 412
    assert host.api.request("POST", "/v1/groups/nobody/members", {"remove": FIRST[4]}).status == 404
    assert state(host) == before and listed(host) == {FIRST[4]: False}


def test_writers_of_one_group_share_generations(host, capsys):
    host.apply(policy({"g": {}}))
    before, _ = state(host)
    count = 64

    def add(index):
        ttl = {"ttl_s": 3600} if index % 2 else {}
        return host.api.request("POST", "/v1/groups/g/members", {"add": [{"prefix": f"192.0.2.{index}", **ttl}]})

    answers = at_once(count, add)
    assert {answer.status for answer in answers} == {200}, [a for a in answers if a.status != 200][:3]
    assert listed(host) == {f"192.0.2.{index}": bool(index % 2) for index in range(count)}
    generations = {answer.json["generation"] for answer in answers}
    after, _ = state(host)
    assert len(generations) == after - before and max(generations) == after
    with capsys.disabled():
        print(f"\n{count} writers of members, {len(generations)} generations")
    assert len(generations) < count


def test_sgctl_shows_when_members_leave(host):
    host.apply(policy({"g": {"prefixes": [FIRST[4]], "except": ["10.1.0.9"]}}))
    change(host, add=[{"prefix": "10.1.0.8", "ttl_s": 3600}])
    rows = [line.split() for line in host.sgctl("get", "group", "g", check=True).stdout.splitlines()]
    assert rows[0] == ["KIND", "MEMBER", "LEAVES", "IN"] and rows[1] == ["prefix", FIRST[4]]
    assert rows[2][:2] == ["prefix", "10.1.0.8"] and 3500 < int(rows[2][2]) <= 3600 and rows[2][3] == "s"
    assert rows[3] == ["except", "10.1.0.9"]
