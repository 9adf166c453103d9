# SPDX-License-Identifier: Apache-2.0
"""sgctl explain: every field of the description, without a daemon."""

import json
import os

import pytest

from contract import openapi
from lab import BUILD, run

SPEC = openapi.load()
FIELDS = [field for _, fields in openapi.sections(SPEC) for field in fields]


def explain(*words):
    return run(os.path.join(BUILD, "sgctl"), "--socket", "/nowhere/secgd.sock", "explain", *words, check=False)


def test_every_field():
    for field in FIELDS:
        done = explain("-o", "json", field.path)
        assert done.returncode == 0, (field.path, done.stderr)
        answer = json.loads(done.stdout)
        assert answer["path"] == field.path
        assert [answer[name] for name in ("type", "default", "unit", "limits", "meaning", "required")] == \
            [field.type, field.default, field.unit, field.limits, field.text, field.is_required], field.path
        assert [(value["value"], value["meaning"]) for value in answer["values"]] == field.words
        for child in answer["fields"]:
            assert child.startswith(field.path + "."), child
    assert len(FIELDS) > 150


def test_every_field_is_below_another():
    """From `sgctl explain` alone everything can be reached, but names and what a list of words says already."""
    reached, waiting = set(), json.loads(explain("-o", "json").stdout)["fields"]
    while waiting:
        path = waiting.pop()
        assert path not in reached
        reached.add(path)
        waiting += json.loads(explain("-o", "json", path).stdout)["fields"]
    missing = {field.path for field in FIELDS} - reached
    assert all(path.split(".")[-1] == "NAME" for path in missing), missing


@pytest.mark.parametrize("path, says", [
    ("ports.hook", ["ports.NAME.hook", "default   auto", "VALUES", "xdp "]),
    ("rule.dst_ports", ["acls.NAME.rules.dst_ports", "numbers 0 to 65535", "default   any"]),
    ("acls.web.rules[2].dst_ports[0]", ["acls.NAME.rules.dst_ports"]),
    ("ports.vm1.timeouts.tcp_established", ["default   86400", "unit      seconds", "numbers 1 to 7776000"]),
    ("rule.id", ["it is required"]),
    ("reasons", ["rule_drop", "A rule says drop."]),
    ("rule_drop", ["stats.reasons.rule_drop", "A rule says drop."]),
    ("default", ["stats.reasons.default", "No rule matched.", "There is also ports.NAME.default"]),
    ("ports", ["interface", "timeouts"]),
    ("port_templates", ["match", "(required)", "timeouts"]),
    ("members.add", ["prefix or object, or a list", "ttl_s"]),
])
def test_for_people(path, says):
    done = explain(path)
    assert done.returncode == 0 and done.stderr == ""
    for text in says:
        assert text in done.stdout, done.stdout
    assert max(map(len, done.stdout.splitlines())) < 130


@pytest.mark.parametrize("path, says", [
    ("ports.hok", "did you mean ports.NAME.hook"), ("dst_ports", "acls.NAME.rules.dst_ports"),
    ("ports.vm1.ingress", "ports.NAME.from"), ("xyzxyz", "there is no field 'xyzxyz'"), ("", "there is no field ''"),
    ("a\x1b[31mb", "there is no field 'a?[31mb'"),
])
def test_unknown(path, says):
    done = explain(path)
    assert done.returncode == 2 and done.stdout == ""
    assert says in done.stderr and "'sgctl explain' lists" in done.stderr or "ingress" in path, done.stderr


def test_usage():
    assert "'reasons'" in explain().stdout
    assert explain("a", "b").returncode == 2
    done = explain("--help")
    assert done.returncode == 0 and "explain rule.src" in done.stdout
