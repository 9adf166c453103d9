# SPDX-License-Identifier: Apache-2.0
"""What a valid policy says that its author hardly means: as warnings of a write, and by `sgctl lint`."""

import glob
import json
import os
import time

import pytest

from lab import ROOT

POLICY = """schema: secg/1
groups:
  none: {prefixes: []}
  wide: {prefixes: [192.0.2.1, 0.0.0.0/0]}
acls:
  in:
    rules:
      - {id: no-lab, action: drop, src: 10.0.0.0/8}
      - {id: web, action: allow, src: 10.1.0.0/16, protocol: tcp, dst_ports: 80}
      - {id: low, action: allow, dst: 0.0.0.0/1}
      - {id: high, action: allow, dst: 128.0.0.0/1}
      - {id: any-v4, action: drop, family: ipv4}
      - {id: six, action: allow, src: "fd00::/16"}
      - {id: six-web, action: allow, src: "fd00::/64", protocol: tcp}
      - {id: log, action: allow-stateless, src: "fd01::1", protocol: udp, dst_ports: 514}
      - {id: nobody, action: allow, src: "@none"}
      - {id: two, action: allow, src: ["fd02::1", 192.0.2.7], dst: "fd02::2"}
      - {id: far, action: drop, src: "@wide", family: ipv6}
  idle: {rules: []}
ports:
  p: {interface: h0, from: [in], to: []}
"""
# line of POLICY (from 1), field, code
FOUND = [
    (9, "acls.in.rules[1]", "shadowed"),
    (12, "acls.in.rules[4]", "unreachable"),
    (14, "acls.in.rules[6]", "redundant"),
    (15, "acls.in.rules[7]", "stateless_no_return"),
    (16, "acls.in.rules[8].src[0]", "empty_group"),
    (17, "acls.in.rules[9].src", "family_never"),
    (18, "acls.in.rules[10]", "family_never"),
    (4, "groups.wide.prefixes[1]", "wide_member"),
    (19, "acls.idle", "unused"),
]
CLEAN = """acls:
  in: {rules: [{id: web, action: allow, protocol: tcp, dst_ports: 80}]}
ports:
  p: {interface: h0, from: [in], to: []}
"""


@pytest.fixture
def write(lab, daemon):
    daemon.apply({})

    def write_file(name, content):
        path = os.path.join(lab.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        return path

    return write_file


def found(warnings):
    return sorted((warning["field"], warning["code"]) for warning in warnings)


EXPECTED = sorted((field, code) for _, field, code in FOUND)


def test_files_before_they_are_applied(daemon, write):
    path = write("policy.yaml", POLICY)
    done = daemon.sgctl("lint", "-f", path)
    assert done.returncode == 1, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    for line, field, code in FOUND:
        place = [text for text in lines if f": {field}: " in text]
        assert len(place) == 1 and place[0].endswith(f"[{code}]"), (field, done.stdout)
        assert place[0].startswith(f"{path}:{line}:"), place
    assert lines[-1] == f"{len(FOUND)} findings"
    assert daemon.api.get("/v1/config") == {}, "nothing is applied"
    assert daemon.sgctl("lint", "-f", write("clean.yaml", CLEAN)).returncode == 0


def test_the_live_policy(daemon, write):
    assert daemon.sgctl("lint").returncode == 0
    daemon.sgctl("apply", "-f", write("policy.yaml", POLICY), check=True)
    done = daemon.sgctl("lint", "-o", "json")
    assert done.returncode == 1
    assert found(json.loads(done.stdout)["findings"]) == EXPECTED
    # A file is judged together with what is live, or alone.
    path = write("clean.yaml", CLEAN)
    assert "idle" in daemon.sgctl("lint", "-f", path).stdout
    done = daemon.sgctl("lint", "--replace", "-f", path)
    assert done.returncode == 0 and done.stdout == "nothing found\n"


def test_wrong_use(daemon, write):
    for words in (("lint", "x"), ("lint", "--replace"), ("lint", "-f", "/nonexistent.yaml")):
        done = daemon.sgctl(*words)
        assert done.returncode == 2 and done.stderr and not done.stdout, words
    bad = write("bad.yaml", CLEAN.replace("dst_ports: 80", "dst_ports: 99999"))
    done = daemon.sgctl("lint", "-f", bad)
    assert done.returncode == 2 and f"{bad}:2:" in done.stderr


def test_a_write_warns_of_what_it_touches(daemon, write):
    done = daemon.sgctl("apply", "-f", write("policy.yaml", POLICY), check=True)
    assert "warning" in done.stderr and "web" in done.stderr
    assert "no port uses" not in done.stderr, "a write does not nag about unused objects"
    api = daemon.api
    answer = api.put("/v1/groups/new", {"prefixes": ["192.0.2.9"]})
    assert answer["warnings"] == [], "nothing about ACLs that the write leaves alone"
    answer = api.put("/v1/groups/new", {"prefixes": ["192.0.2.9", "0.0.0.0/1"]})
    assert found(answer["warnings"]) == [("groups.new.prefixes[1]", "wide_member")]
    assert set(answer["warnings"][0]) == {"code", "field", "message"}
    rules = [{"id": "a", "action": "drop", "protocol": "tcp"},
             {"id": "b", "action": "allow", "protocol": "tcp", "dst_ports": 22}]
    answer = api.put("/v1/acls/idle", {"rules": rules})
    assert found(answer["warnings"]) == [("acls.idle.rules[1]", "shadowed")]
    assert api.put("/v1/acls/idle", {"rules": rules})["warnings"] == [], "unchanged: nothing to say"
    # The tier before an ACL makes its rules unreachable.
    answer = api.patch("/v1/config", {"acls": {"tail": {"rules": [{"id": "t", "action": "allow", "protocol": "tcp"}]}},
                                      "ports": {"p": {"to": ["idle", "tail"]}}})
    assert ("acls.tail.rules[0]", "shadowed") in found(answer["warnings"])
    answer = api.patch("/v1/config?dry_run=1", {})
    assert not answer["changed"]
    assert ("acls.idle.rules[1]", "shadowed") in found(answer["warnings"])


def test_ten_thousand_rules(daemon, write):
    rules = [{"id": f"r{i}", "action": "allow" if i % 2 else "drop", "src": f"10.{i >> 8}.{i & 255}.0/24",
              "protocol": "tcp", "dst_ports": i % 1000 + 1} for i in range(10000)]
    rules[9999] = dict(rules[0], id="last", action="allow")
    body = json.dumps({"acls": {"in": {"rules": rules}}, "ports": {"p": {"interface": "h0", "from": ["in"]}}})
    started = time.monotonic()
    answer = daemon.api.put("/v1/config", body)
    print(f"10 000 rules live with lint in {time.monotonic() - started:.2f} s")
    assert found(answer["warnings"]) == [("acls.in.rules[9999]", "shadowed")]


def test_the_examples_are_clean(daemon):
    daemon.apply({})
    files = sorted(glob.glob(os.path.join(ROOT, "docs", "examples", "*.yaml")))
    assert len(files) >= 4
    for path in files:
        done = daemon.sgctl("lint", "--replace", "-f", path)
        assert done.returncode == 0, path + "\n" + done.stdout + done.stderr
