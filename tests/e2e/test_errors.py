# SPDX-License-Identifier: Apache-2.0
"""
What a client gets wrong: the status, each error's code and field, a sentence, and nothing changed. The
table holds one row per kind of mistake; `says` is what the sentence must contain.
"""

import json

import pytest

POLICY = {
    "acls": {"kept": {"rules": [{"id": "r", "action": "allow", "src": ["@used"]}]}},
    "groups": {"used": {"prefixes": ["192.0.2.0/28"]}, "free": {"prefixes": ["192.0.2.1"]}},
    "services": {"web": [{"protocol": "tcp", "dst_ports": [80]}]},
    "ports": {"kept": {"interface": "absent0", "from": ["kept"]}},
}


@pytest.fixture(scope="module")
def host(lab):
    daemon = lab.daemon(lab.namespace("host"))
    daemon.apply(POLICY)
    return daemon


def rule(**fields):
    return {"acls": {"web": {"rules": [{"id": "r", "action": "allow", **fields}]}}}


def port(**fields):
    return {"acls": {"web": {"rules": []}}, "ports": {"p": {"interface": "eth9", **fields}}}


def group(**fields):
    return {"groups": {"g": fields}}


def text(rules):
    """A document of one rule, written out: for what JSON libraries do not write."""
    return '{"acls": {"web": {"rules": [{"id": "r", "action": "allow"' + rules + "}]}}}"


R = "acls.web.rules[0]"

# name: (document, status, code, field, what the sentence says)
DOCUMENTS = {
    # fields and types
    "unknown kind": ({"wibble": {}}, 400, "unknown_field", "wibble", ""),
    "unknown rule field": (rule(colour=1), 400, "unknown_field", f"{R}.colour", ""),
    "unknown acl field": ({"acls": {"web": {"rules": [], "x": 1}}}, 400, "unknown_field", "acls.web.x", ""),
    "unknown port field": (port(colour=1), 400, "unknown_field", "ports.p.colour", ""),
    "unknown group field": (group(colour=1), 400, "unknown_field", "groups.g.colour", ""),
    "unknown service field": ({"services": {"s": [{"protocol": "tcp", "x": 1}]}}, 400, "unknown_field",
                              "services.s[0].x", ""),
    "unknown timeout": (port(timeouts={"tcp": 1}), 400, "unknown_field", "ports.p.timeouts.tcp", ""),
    "ingress": (port(ingress=["web"]), 400, "unknown_field", "ports.p.ingress", "from"),
    "egress": (port(egress=["web"]), 400, "unknown_field", "ports.p.egress", "to"),
    "document is a list": ([], 400, "bad_type", "", ""),
    "document is a string": ("\"x\"", 400, "bad_type", "", ""),
    "acls is a list": ({"acls": []}, 400, "bad_type", "acls", ""),
    "acl is a number": ({"acls": {"web": 5}}, 400, "bad_type", "acls.web", ""),
    "rules is an object": ({"acls": {"web": {"rules": {}}}}, 400, "bad_type", "acls.web.rules", ""),
    "rule is a string": ({"acls": {"web": {"rules": ["x"]}}}, 400, "bad_type", "acls.web.rules[0]", ""),
    "id is a number": ({"acls": {"web": {"rules": [{"id": 5, "action": "drop"}]}}}, 400, "bad_type", f"{R}.id", ""),
    "port is a bool": (rule(protocol="tcp", dst_ports=[True]), 400, "bad_type", f"{R}.dst_ports[0]", ""),
    "port is a fraction": (rule(protocol="tcp", dst_ports=[80.5]), 400, "bad_type", f"{R}.dst_ports[0]", ""),
    "prefix is a number": (rule(src=[10]), 400, "bad_type", f"{R}.src[0]", ""),
    "description is a list": (rule(description=[]), 400, "bad_type", f"{R}.description", ""),
    "interface is a list": (port(interface=["eth0"]), 400, "bad_type", "ports.p.interface", ""),
    "schema of the future": ({"schema": "secg/2"}, 400, "bad_value", "schema", "secg/1"),

    # values of rules
    "no id": ({"acls": {"web": {"rules": [{"action": "drop"}]}}}, 400, "bad_value", f"{R}.id", ""),
    "no action": ({"acls": {"web": {"rules": [{"id": "r"}]}}}, 400, "bad_value", f"{R}.action", ""),
    "unknown action": (rule(action="accept"), 400, "bad_value", f"{R}.action", ""),
    "duplicate id": ({"acls": {"web": {"rules": [{"id": "r", "action": "drop"}, {"id": "r", "action": "drop"}]}}},
                     400, "bad_value", "acls.web.rules[1].id", ""),
    "host bits": (rule(src=["10.0.0.1/24"]), 400, "bad_value", f"{R}.src[0]", "10.0.0.0/24"),
    "host bits, IPv6": (rule(dst=["::/0", "2001:db8::1/32"]), 400, "bad_value", f"{R}.dst[1]", "2001:db8::/32"),
    "prefix too long": (rule(src=["10.0.0.0/33"]), 400, "bad_value", f"{R}.src[0]", ""),
    "not an address": (rule(src=["10.0.0"]), 400, "bad_value", f"{R}.src[0]", ""),
    "a name for an address": (rule(src=["example.org"]), 400, "bad_value", f"{R}.src[0]", ""),
    "unknown group": (rule(src=["@nobody"]), 400, "not_found", f"{R}.src[0]", "nobody"),
    "empty match list": (rule(src=[]), 400, "bad_value", f"{R}.src", ""),
    "range reversed": (rule(protocol="tcp", dst_ports=["90-80"]), 400, "bad_value", f"{R}.dst_ports[0]", ""),
    "port too large": (rule(protocol="tcp", dst_ports=[65536]), 400, "bad_value", f"{R}.dst_ports[0]", ""),
    "port negative": (rule(protocol="tcp", dst_ports=[-1]), 400, "bad_value", f"{R}.dst_ports[0]", ""),
    "port is a word": (rule(protocol="tcp", dst_ports=["http"]), 400, "bad_value", f"{R}.dst_ports[0]", ""),
    "ports on ICMP": (rule(protocol="icmp", dst_ports=[80]), 400, "bad_value", f"{R}.dst_ports", ""),
    "ports on GRE": (rule(protocol="gre", src_ports=[80]), 400, "bad_value", f"{R}.src_ports", ""),
    "ports without protocol": (rule(dst_ports=[80]), 400, "bad_value", f"{R}.dst_ports", ""),
    "ICMP type on TCP": (rule(protocol="tcp", icmp_type=8), 400, "bad_value", f"{R}.icmp_type", ""),
    "ICMP type too large": (rule(protocol="icmp", icmp_type=[256]), 400, "bad_value", f"{R}.icmp_type[0]", ""),
    "ICMPv6 in IPv4": (rule(family="ipv4", protocol="icmpv6"), 400, "bad_value", f"{R}.protocol", ""),
    "ICMPv6 between IPv4": (rule(src=["10.0.0.0/8"], protocol="icmpv6"), 400, "bad_value", f"{R}.protocol", ""),
    "ICMP in IPv6": (rule(family="ipv6", protocol="icmp"), 400, "bad_value", f"{R}.protocol", ""),
    "families mixed": (rule(src=["10.0.0.0/8"], dst=["2001:db8::/32"]), 400, "bad_value", f"{R}.dst", ""),
    "unknown family": (rule(family="ipx"), 400, "bad_value", f"{R}.family", ""),
    "unknown protocol": (rule(protocol="tpc"), 400, "bad_value", f"{R}.protocol", ""),
    "protocol 256": (rule(protocol=256), 400, "bad_value", f"{R}.protocol", ""),
    "unknown service": (rule(service="nothing"), 400, "not_found", f"{R}.service", "nothing"),
    "service and protocol": (rule(service="web", protocol="tcp") | {"services": POLICY["services"]},
                             400, "bad_value", f"{R}.protocol", "service"),

    # names
    "bad acl name": ({"acls": {"Web!": {"rules": []}}}, 400, "bad_value", "acls.Web!", ""),
    "long name": ({"acls": {"a" * 64: {"rules": []}}}, 400, "bad_value", "acls." + "a" * 64, ""),
    "empty name": ({"groups": {"": {"prefixes": []}}}, 400, "bad_value", "groups.", ""),
    "reserved name": ({"acls": {"infra": {"rules": []}}}, 400, "bad_value", "acls.infra", "reserved"),
    "slash in an id": ({"acls": {"web": {"rules": [{"id": "a/b", "action": "drop"}]}}}, 400, "bad_value", f"{R}.id", ""),

    # ports
    "no interface": ({"ports": {"p": {"from": []}}}, 400, "bad_value", "ports.p.interface", ""),
    "long interface": (port(interface="a" * 16), 400, "bad_value", "ports.p.interface", ""),
    "unknown acl": (port(**{"from": ["nope"]}), 400, "not_found", "ports.p.from[0]", "nope"),
    "unknown hook": (port(hook="nft"), 400, "bad_value", "ports.p.hook", ""),
    "unknown side": (port(side="left"), 400, "bad_value", "ports.p.side", ""),
    "unknown infrastructure": (port(infrastructure=["ntp"]), 400, "bad_value", "ports.p.infrastructure[0]", ""),
    "timeout zero": (port(timeouts={"icmp": 0}), 400, "bad_value", "ports.p.timeouts.icmp", ""),
    "timeout negative": (port(timeouts={"icmp": -1}), 400, "bad_value", "ports.p.timeouts.icmp", ""),
    "timeout 2^32": (port(timeouts={"icmp": 1 << 32}), 400, "bad_value", "ports.p.timeouts.icmp", ""),

    # groups
    "bad member": (group(prefixes=["192.0.2.1/24"]), 400, "bad_value", "groups.g.prefixes[0]", "192.0.2.0/24"),
    "unknown nested group": (group(groups=["nobody"]), 400, "not_found", "groups.g.groups[0]", "nobody"),

    "unknown member port": (group(ports=["p"]), 400, "not_found", "groups.g.ports[0]", "no port"),
    "no label": (group(select={}), 400, "bad_value", "groups.g.select", "label"),
    "label is a number": (group(select={"tier": 1}), 400, "bad_type", "groups.g.select.tier", ""),

    # security groups and macip lists
    "name of a group": ({"groups": {"db": {}}, "security_groups": {"db": {}}}, 409, "conflict", "security_groups.db", ""),
    "security group egress": ({"security_groups": {"db": {"rules": [{"id": "r", "direction": "egress"}]}}}, 400,
                              "bad_value", "security_groups.db.rules[0].direction", "`from`"),
    "security group action": ({"security_groups": {"db": {"rules": [{"id": "r", "direction": "to", "action": "drop"}]}}},
                              400, "unknown_field", "security_groups.db.rules[0].action", ""),
    "macip of everybody": ({"macip": {"m": {"entries": [{}]}}}, 400, "bad_value", "macip.m.entries[0]", ""),
    "macip too long": ({"macip": {"m": {"entries": [{"mac": "52:54:00:12:34:56"}] * 10241}}}, 507, "limit",
                       "macip.m.entries", "10240"),

    # parts that are not built yet are refused, not ignored
    "tunnels": ({"tunnels": {"t": {"local": "192.0.2.1"}}}, 400, "unsupported", "tunnels", ""),
    "members of IPsec": (group(ipsec={"tunnel": "b"}), 400, "unsupported", "groups.g.ipsec", ""),
}
# rarer fields of rules and ports: a value that is wrong
for _field, _value in {"ethertypes": "0x42", "vlan": 4095, "src_mac": "52:54:00:12:34:56/ff:ff:ff:00:00:00",
                       "dst_mac": "52-54-00-12-34-56", "tcp_flags": "syn/syn", "dscp": 64, "timeout": 0,
                       "sample": {}}.items():
    DOCUMENTS[f"rule field {_field}"] = (rule(**{_field: _value}), 400, "bad_value", f"{R}.{_field}", "")
for _field, _value in {"fragment": 1, "log": "yes", "enabled": "false"}.items():
    DOCUMENTS[f"rule field {_field}"] = (rule(**{_field: _value}), 400, "bad_type", f"{R}.{_field}", "")
for _field, _value in {"anti_spoof": True, "domain": "A", "pickup_s": -1, "fail_mode": "half", "on_change": "flush"}.items():
    DOCUMENTS[f"port field {_field}"] = (port(**{_field: _value}), 400, "bad_value", f"ports.p.{_field}", "")
for _field, _value in {"allow_ra": 1, "allow_dhcp_server": "no", "reset_on_expiry": 0, "audit": 0, "limits": []}.items():
    DOCUMENTS[f"port field {_field}"] = (port(**{_field: _value}), 400, "bad_type", f"ports.p.{_field}", "")
for _field, _value in {"security_groups": ["db"], "groups": ["g"]}.items():
    DOCUMENTS[f"port field {_field}"] = (port(**{_field: _value}), 400, "not_found", f"ports.p.{_field}[0]", "")
DOCUMENTS["port field macip"] = (port(macip="m"), 400, "not_found", "ports.p.macip", "")
DOCUMENTS["limit 2^32"] = (port(limits={"sessions": 1 << 32}), 400, "bad_value", "ports.p.limits.sessions", "")  # acl/43

# What JSON libraries do not write, or readers let through: (document, code)
TEXTS = {
    "empty": ("", "bad_json"),
    "cut off": ('{"acls": {', "bad_json"),
    "trailing": ("{} {}", "bad_json"),
    "comment": ("{/* */}", "bad_json"),
    "trailing comma": ('{"acls": {},}', "bad_json"),
    "single quotes": ("{'acls': {}}", "bad_json"),
    "NaN": (text(', "protocol": NaN'), "bad_json"),
    "number too large": (text(', "protocol": 1e400'), "bad_json"),
    "integer too large": (text(', "protocol": 123456789012345678901234567890'), "bad_json"),
    "duplicate key": ('{"acls": {}, "acls": {}}', "bad_json"),
    "duplicate key below": (text(', "id": "s"'), "bad_json"),
    "lone high surrogate": (text(r', "description": "\ud800"'), "bad_json"),
    "lone low surrogate": (text(r', "description": "\udc00x"'), "bad_json"),
    "NUL in a name": (r'{"acls": {"we\u0000b": {"rules": []}}}', "bad_json"),
    "NUL in a value": (text(r', "description": "a\u0000b"'), "bad_json"),
    "NUL byte": ("{}\0", "bad_json"),
    "not UTF-8": (text(', "description": "').encode() + b'\xff"}]}}}', "bad_json"),
    "33 levels": ('{"labels": ' * 33 + "1" + "}" * 33, "bad_json"),
    "100000 levels": ("[" * 100000, "bad_json"),
}

NULLS = {
    "null document": ("null", ""),
    "null kind": ('{"acls": null}', "acls"),
    "null object": ('{"acls": {"web": null}}', "acls.web"),
    "null field": (text(', "src": null'), f"{R}.src"),
    "null in a list": (text(', "src": [null]'), f"{R}.src[0]"),
}


class Unchanged:
    """Nothing of the policy changes in the block."""

    def __init__(self, daemon):
        self.daemon = daemon

    def state(self):
        answer = self.daemon.api.request("GET", "/v1/config")
        status = self.daemon.api.get("/v1/status")
        return answer.headers["ETag"], answer.json, status["generation"], set(status["ports"])

    def __enter__(self):
        self.before = self.state()

    def __exit__(self, kind, *failure):
        if kind is None:
            assert self.state() == self.before


def assert_refused(answer, status, code, field, says=""):
    assert answer.status == status, answer
    assert answer.headers["Content-Type"].startswith("application/json")
    errors = answer.errors
    found = [error for error in errors if (error["code"], error["field"]) == (code, field)]
    assert found, errors
    for error in errors:
        assert set(error) == {"code", "field", "message"} and len(error["message"]) > 5, error
    assert says in found[0]["message"], found


@pytest.mark.parametrize("document, status, code, field, says", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_document(host, document, status, code, field, says):
    with Unchanged(host):
        for method, path in (("PUT", "/v1/config"), ("PUT", "/v1/config?dry_run=1"), ("PATCH", "/v1/config")):
            answer = host.api.request(method, path, document)
            assert_refused(answer, status, code, field, says)
            if method == "PUT":  # a patch that loses objects may break those that use them
                assert len(answer.errors) == 1, "one mistake, one error"


@pytest.mark.parametrize("document, code", TEXTS.values(), ids=TEXTS.keys())
def test_text(host, document, code):
    with Unchanged(host):
        assert_refused(host.api.request("PUT", "/v1/config", document), 400, code, "")
        assert_refused(host.api.request("PATCH", "/v1/config", document), 400, code, "")


@pytest.mark.parametrize("document, field", NULLS.values(), ids=NULLS.keys())
def test_null(host, document, field):
    with Unchanged(host):
        assert_refused(host.api.request("PUT", "/v1/config", document), 400, "bad_type", field)


def test_depth_of_32_is_read(host):
    """The limit is the limit: one level less is judged by its content."""
    answer = host.api.request("PUT", "/v1/config", '{"labels": ' * 32 + "1" + "}" * 32)
    assert_refused(answer, 400, "unknown_field", "labels")


def test_group_cycle(host):
    document = {"groups": {"a": {"groups": ["b"]}, "b": {"groups": ["c"]}, "c": {"groups": ["a"]}}}
    with Unchanged(host):
        answer = host.api.request("PUT", "/v1/config", document)
        assert answer.status == 400
        assert {error["code"] for error in answer.errors} == {"bad_value"}
        assert all(error["field"] in {f"groups.{name}.groups[0]" for name in "abc"} for error in answer.errors)
        assert "contain each other" in answer.errors[0]["message"]


def test_interface_claimed_twice(host):
    document = {"ports": {"p": {"interface": "eth9"}, "q": {"interface": "eth9"}}}
    with Unchanged(host):
        answer = host.api.request("PUT", "/v1/config", document)
        assert answer.status == 409, answer
        assert answer.errors[0]["code"] == "conflict"
        assert answer.errors[0]["field"] == "ports.q.interface" and "p" in answer.errors[0]["message"]
        answer = host.api.request("PUT", "/v1/ports/other", {"interface": "absent0"})
        assert answer.status == 409 and "kept" in answer.errors[0]["message"]


def test_a_shipped_service_is_no_object_but_explained(host):
    answer = host.api.request("GET", "/v1/services/dns")
    assert answer.status == 404
    assert answer.errors[0]["message"] == "services has no dns, but it comes with secgd and means tcp, udp 53"
    assert "secgd" not in host.api.request("GET", "/v1/acls/dns").errors[0]["message"]


def test_all_mistakes_at_once(host):
    document = rule(src=["10.0.0.1/8", "nonsense"], protocol="tpc", colour=1)
    document["ports"] = {"p": {"interface": "eth9", "hook": "nft"}}
    with Unchanged(host):
        answer = host.api.request("PUT", "/v1/config", document)
        assert {error["field"] for error in answer.errors} == {
            f"{R}.src[0]", f"{R}.src[1]", f"{R}.protocol", f"{R}.colour", "ports.p.hook"}
        many = {"acls": {"web": {"rules": [{"id": f"r{index}", "action": "no"} for index in range(250)]}}}
        assert len(host.api.request("PUT", "/v1/config", many).errors) == 100


# name: (method, path, body, status, code, field)
REQUESTS = {
    "no such path": ("GET", "/v1/nothing", None, 404, "not_found", None),
    "root": ("GET", "/", None, 404, "not_found", None),
    "no such object": ("GET", "/v1/acls/absent", None, 404, "not_found", None),
    "delete an absent one": ("DELETE", "/v1/groups/absent", None, 404, "not_found", None),
    "delete an absent port": ("DELETE", "/v1/ports/absent", None, 404, "not_found", None),
    "POST config": ("POST", "/v1/config", {}, 405, "unsupported", None),
    "DELETE config": ("DELETE", "/v1/config", None, 405, "unsupported", None),
    "PUT status": ("PUT", "/v1/status", {}, 405, "unsupported", None),
    "PATCH an object": ("PATCH", "/v1/acls/kept", {"rules": []}, 405, "unsupported", None),
    "PUT a collection": ("PUT", "/v1/acls", {}, 405, "unsupported", None),
    "POST sessions": ("POST", "/v1/sessions", {}, 405, "unsupported", None),
    "acl in use": ("DELETE", "/v1/acls/kept", None, 409, "in_use", None),
    "group in use": ("DELETE", "/v1/groups/used", None, 409, "in_use", None),
    "bad name in the path": ("PUT", "/v1/acls/Web!", {"rules": []}, 400, "bad_value", None),
    "reserved name in the path": ("PUT", "/v1/acls/infra", {"rules": []}, 400, "bad_value", None),
    "bad object": ("PUT", "/v1/groups/g", {"prefixes": ["10.0.0.1/8"]}, 400, "bad_value", "groups.g.prefixes[0]"),
    "null object": ("PUT", "/v1/groups/g", "null", 400, "bad_type", "groups.g"),
    "sessions without filter": ("DELETE", "/v1/sessions", None, 400, "bad_value", None),
    "sessions of no protocol": ("GET", "/v1/sessions?proto=tpc", None, 400, "bad_value", "query.proto"),
    "sessions from nowhere": ("GET", "/v1/sessions?src=10.0.0.1/8", None, 400, "bad_value", "query.src"),
    "sessions of port 65536": ("GET", "/v1/sessions?dport=65536", None, 400, "bad_value", "query.dport"),
    "sessions of no port": ("GET", "/v1/sessions?port=absent", None, 404, "not_found", "query.port"),
    "delete of no port": ("DELETE", "/v1/sessions?port=absent", None, 404, "not_found", "query.port"),
    "sessions in no state": ("GET", "/v1/sessions?state=open", None, 400, "bad_value", "query.state"),
    "sessions by no filter": ("GET", "/v1/sessions?colour=1", None, 400, "unknown_field", "query.colour"),
    "delete by no filter": ("DELETE", "/v1/sessions?prot=tcp", None, 400, "unknown_field", "query.prot"),
    "no session": ("GET", "/v1/sessions?limit=0", None, 400, "bad_value", "query.limit"),
    "stats of no port": ("GET", "/v1/stats?port=absent", None, 404, "not_found", None),
    "half a dry run": ("PUT", "/v1/config?dry_run=yes", {}, 400, "bad_value", "query.dry_run"),
}


@pytest.mark.parametrize("method, path, body, status, code, field", REQUESTS.values(), ids=REQUESTS.keys())
def test_request(host, method, path, body, status, code, field):
    with Unchanged(host):
        answer = host.api.request(method, path, body)
        assert_refused(answer, status, code, answer.errors[0]["field"] if field is None else field)
        if status == 405:
            assert answer.headers.get("Allow"), "RFC 9110 §15.5.6"


@pytest.mark.parametrize("value", ["x", "-1", "1.5", '"', '"1', "99999999999999999999999"])
def test_if_match_that_is_no_etag(host, value):
    with Unchanged(host):
        answer = host.api.request("PATCH", "/v1/config", {"groups": {"g": {}}}, {"If-Match": value})
        assert answer.status in (400, 412), answer


def test_body_too_large(host):
    """Judged on the headers: the answer comes although the body never does."""
    size = (64 << 20) + 1
    with Unchanged(host):
        answer = host.api.raw(f"PUT /v1/config HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                              f"Content-Length: {size}\r\n\r\n".encode())
        head, _, body = answer.partition(b"\r\n\r\n")
        assert b" 413 " in head.splitlines()[0]
        assert json.loads(body)["errors"][0]["code"] == "too_large"


def test_chunked_body_too_large(host):
    """Without a length the limit holds while the body comes."""
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    with Unchanged(host):
        answer = host.api.raw(b"PUT /v1/config HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                              b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 66 + b"0\r\n\r\n", timeout=20)
        # A server may close while the client still writes; what it must not do is take the body.
        assert answer == b"" or b" 413 " in answer.splitlines()[0] or b" 411 " in answer.splitlines()[0]


@pytest.mark.parametrize("sent", [b"", b'{"groups": {}}', b" " * 3000000 + b"{}"], ids=["none", "whole", "large"])
def test_body_cut_off(host, sent):
    """The part that came may be a whole document; it is not taken for the rest."""
    head = f"PUT /v1/config HTTP/1.1\r\nHost: x\r\nContent-Length: {len(sent) + 50}\r\n\r\n".encode()
    with Unchanged(host):
        # The end may be seen together with the data or after it.
        for _ in range(20):
            answer, _, text = host.api.raw(head + sent, shut=True).partition(b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 400 "), answer
            assert json.loads(text)["errors"][0]["code"] == "bad_json"


def test_client_gone_in_its_body(host):
    with Unchanged(host):
        host.api.raw(b'PUT /v1/config HTTP/1.1\r\nHost: x\r\nContent-Length: 64\r\n\r\n{"groups": {}}', timeout=1)
    assert host.api.request("GET", "/healthz").status == 200


@pytest.mark.parametrize("data", [b"\0" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"PUT /v1/config HTTP/1.1\r\n"
                                  b"Content-Length: -5\r\n\r\n", b"A" * 100000],
                         ids=["zeros", "no path", "version", "length", "long"])
def test_not_http(host, data):
    with Unchanged(host):
        host.api.raw(data, shut=True, timeout=1)


def test_too_many_connections_do_not_shut_out_for_good(host):
    import socket
    parked = []
    try:
        for _ in range(300):
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(1)
            try:
                sock.connect(host.socket)
            except OSError:
                break
            parked.append(sock)
    finally:
        for sock in parked:
            sock.close()
    from lab import eventually

    def answers():
        try:
            return host.api.request("GET", "/healthz").status == 200
        except OSError:
            return False

    eventually(answers, 5, "the daemon answers again")
