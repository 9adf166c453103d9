# SPDX-License-Identifier: Apache-2.0
"""Writers at the same time: nothing is lost, and generations are shared."""

import threading

import pytest


@pytest.fixture(scope="module")
def host(lab):
    return lab.daemon(lab.namespace("host"))


def at_once(count, work):
    """Runs work(0..count-1) in threads that start together; their results."""
    gate = threading.Barrier(count)
    results = [None] * count

    def body(index):
        gate.wait()
        results[index] = work(index)

    threads = [threading.Thread(target=body, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def etag(daemon):
    return daemon.api.request("GET", "/v1/config").headers["ETag"]


def group(index):
    return {"prefixes": [f"192.0.2.{index}"]}


def test_one_of_many_with_the_same_etag_wins(host):
    host.apply({})
    seen = etag(host)
    answers = at_once(16, lambda index: host.api.request(
        "PATCH", "/v1/config", {"groups": {f"g{index}": group(index)}}, {"If-Match": seen}))
    winners = [index for index, answer in enumerate(answers) if answer.status == 200]
    assert len(winners) == 1
    losers = [answer for answer in answers if answer.status != 200]
    assert {answer.status for answer in losers} == {412}
    assert {answer.errors[0]["code"] for answer in losers} == {"precondition_failed"}
    assert list(host.api.get("/v1/groups")) == [f"g{winners[0]}"]
    assert etag(host) != seen


@pytest.mark.parametrize("method, path", [("PUT", "/v1/config"), ("PUT", "/v1/groups/a"), ("DELETE", "/v1/groups/a"),
                                          ("PATCH", "/v1/config")])
def test_every_write_honours_if_match(host, method, path):
    host.apply({"groups": {"a": group(1)}})
    stale = etag(host)
    host.apply({"groups": {"a": group(2)}})
    body = {"groups": {}} if path.endswith("config") else None if method == "DELETE" else group(3)
    answer = host.api.request(method, path, body, {"If-Match": stale})
    assert answer.status == 412 and answer.errors[0]["code"] == "precondition_failed"
    assert host.api.get("/v1/groups/a") == group(2)
    assert host.api.request(method, path, body, {"If-Match": etag(host)}).status == 200


def test_writers_share_generations(host, capsys):
    host.apply({})
    before = host.api.get("/v1/status")["generation"]
    count = 64
    answers = at_once(count, lambda index: host.api.request("PUT", f"/v1/groups/g{index}", group(index)))
    assert {answer.status for answer in answers} == {200}, [a for a in answers if a.status != 200][:3]
    assert set(host.api.get("/v1/groups")) == {f"g{index}" for index in range(count)}
    generations = {answer.json["generation"] for answer in answers}
    after = host.api.get("/v1/status")["generation"]
    assert max(generations) == after and min(generations) > before
    assert len(generations) == after - before
    with capsys.disabled():
        print(f"\n{count} writers, {len(generations)} generations")
    assert len(generations) < count


def test_the_same_again_changes_nothing(host):
    policy = {"groups": {"a": group(1)}, "acls": {"w": {"rules": [{"id": "r", "action": "allow", "src": ["@a"]}]}}}
    first = host.apply(policy)
    again = host.apply(policy)
    assert again["changed"] is False and again["changes"] == []
    assert (again["generation"], again["etag"]) == (first["generation"], first["etag"])


def test_dry_run_changes_nothing_and_says_what_would(host):
    host.apply({"groups": {"a": group(1)}})
    seen = etag(host)
    answer = host.api.put("/v1/config?dry_run=1", {"groups": {"b": group(2)}})
    assert answer["changed"] is True
    assert sorted((change["op"], change["path"]) for change in answer["changes"]) == [
        ("add", "groups.b"), ("remove", "groups.a")]
    assert etag(host) == seen
    assert list(host.api.get("/v1/groups")) == ["a"]


def test_survives_a_kill_right_after_the_answer(host):
    for index in range(5):
        host.apply({"groups": {f"k{index}": group(index)}})
        host.kill()
        host.start()
        assert list(host.api.get("/v1/groups")) == [f"k{index}"]
