# SPDX-License-Identifier: Apache-2.0
"""The body of POST /v1/trace against docs/openapi.yaml, as test_contract.py does for policies."""

import pytest

from contract import Contract, openapi
from test_contract import POOL, SPEC, known, members, names, samples

REQUEST = {"$ref": "#/components/schemas/TraceRequest"}
FIELDS = members(REQUEST)
AT = {"port": "n", "direction": "from"}
V4 = AT | {"src": "192.0.2.1", "dst": "192.0.2.2"}
V6 = AT | {"src": "2001:db8::1", "dst": "2001:db8::2"}
ICMP = [V4 | {"proto": "icmp"}, V6 | {"proto": "icmpv6"}]
UDP = [family | {"proto": "udp", "dport": 53} for family in (V4, V6)]
# What must stand beside a field: one of these.
BESIDE = {"packet": [AT], "proto": [*UDP, V4, V6], "tcp_flags": [V4 | {"proto": "tcp", "dport": 53}], "icmp_type": ICMP,
          "icmp_code": ICMP, "icmp_id": ICMP + [V4 | {"proto": "ping"}]}


@pytest.fixture(scope="module")
def host(lab):
    ns = lab.namespace("fields")
    lab.veth(ns, "v0", ns, "v1")
    daemon = lab.daemon(ns, "fields")
    daemon.apply({"ports": {"n": {"interface": "v0", "from": []}}})
    return daemon


def ask(host, body):
    return host.api.request("POST", "/v1/trace", body)


@pytest.mark.parametrize("field", FIELDS)
def test_field(host, field):
    checker, schema = Contract(SPEC).checker, FIELDS[field]
    beside = BESIDE.get(field, UDP)
    for value in samples(schema):
        assert checker.is_valid(schema, value), f"{value!r} is no sample"
        answers = [ask(host, body | {field: value}) for body in beside]
        assert any(answer.status == 200 for answer in answers), f"{value!r} is described and refused: {answers}"
    refused = 0
    for value in [*POOL, "syn,", ",syn", "syn ack", "52:54:00:12:34", "52-54-00-12-34-56", "::1%lo", "0" * 27, "00" * 13, "0x" * 20]:
        if checker.is_valid(schema, value):
            continue
        for body in beside:
            answer = ask(host, body | {field: value})
            assert answer.status == 400, f"{value!r} is not described and taken: {answer}"
            assert any(names(error, field) for error in answer.errors), answer
        refused += 1
    assert refused, "a field that takes everything"


@pytest.mark.parametrize("field", openapi.resolve(SPEC, REQUEST)["required"])
def test_required(host, field):
    body = dict(UDP[0])
    del body[field]
    answer = ask(host, body)
    assert answer.status == 400 and [error["field"] for error in answer.errors] == [field]


def test_no_other_field_is_taken(host):
    [error] = ask(host, UDP[0] | {"colour": 1}).errors
    assert error["code"] == "unknown_field" and set(known(error["message"])) == set(FIELDS)


@pytest.mark.parametrize("field", ["direction", "tcp_flags"])
def test_no_other_word_is_taken(host, field):
    [error] = ask(host, V4 | {"proto": "tcp", "dport": 1, field: "colour"}).errors
    listed = error["message"].partition("must be one of ")[2].partition(", not ")[0].split(", ")
    assert set(listed) == {word for word, _ in openapi.words(SPEC, FIELDS[field])}


@pytest.mark.parametrize("body, field", [
    (AT, "packet"), (V4 | {"packet": "00" * 60}, "src"), (V4, "proto"), (V4 | {"proto": "udp"}, "dport"),
    (UDP[0] | {"dst": "2001:db8::1"}, "dst"), (UDP[0] | {"tcp_flags": "syn"}, "tcp_flags"), (UDP[0] | {"icmp_id": 1}, "icmp_id"),
    (V4 | {"proto": "gre", "sport": 1}, "sport"), (V4 | {"proto": "icmpv6"}, "proto"), (V6 | {"proto": "icmp"}, "proto"),
    (V4 | {"proto": "ping", "icmp_code": 1}, "icmp_code"), ([], ""), ({}, "port")])
def test_fields_that_contradict(host, body, field):
    answer = ask(host, body)
    assert answer.status == 400 and field in {error["field"] for error in answer.errors}, answer
