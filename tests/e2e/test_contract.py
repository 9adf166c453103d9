# SPDX-License-Identifier: Apache-2.0
"""
docs/openapi.yaml against the daemon, both ways: nothing undescribed is answered (contract.py, in every test),
and nothing described is missing: each path, method and status is provoked here, each field of an answer seen,
each field of a request taken with what it may hold and refused with what it may not.
"""

import contextlib
import copy
import ctypes
import json
import os
import socket
import time

import pytest
import yaml
from scapy.layers import inet
from scapy.layers.l2 import Dot1Q, Ether

import foreign
import test_lint
import traffic
from contract import Contract, Undocumented, openapi
from lab import Daemon, eventually, run
from rest import Answer, Rest

PORT = 7600
POLICY = {
    "services": {"echo": [{"protocol": ["udp", "100-101"], "description_free": 1}], "typed": [
        {"protocol": "icmp", "icmp_type": 3, "icmp_code": ["host-unreachable", "9-10"]},
        {"protocol": "tcp", "src_ports": "1024-65535", "dst_ports": [22, "80"]}]},
    "groups": {"clients": {"prefixes": "10.1.0.0/24", "except": "10.1.0.9", "groups": "more", "description": "d",
                           "labels": {"a": "b"}},
               "more": {"prefixes": ["fd01::/64"], "ports": ["p"], "select": {"tier": "x"}}, "free": {}},
    "acls": {"web": {"description": "d", "labels": {"a": "b"}, "rules": [
        {"id": "udp", "action": "allow", "src": "@clients", "service": "echo", "description": "d", "labels": {"a": "b"}},
        {"id": "ping", "action": "allow", "protocol": "ping", "family": "ipv4"},
        {"id": "tcp", "action": "allow", "protocol": "tcp", "src_ports": "1024-65535", "dst_ports": [PORT, "22"]},
        {"id": "icmp", "action": "drop", "protocol": "icmp", "icmp_type": "destination-unreachable",
         "icmp_code": "port-unreachable", "dst": "192.0.2.0/24"},
        {"id": "rest", "action": "allow-stateless", "protocol": 99}]},
        "free": {"audit": True, "rules": [
            {"id": "l2", "action": "reject", "enabled": False, "ethertypes": ["llc", "0x88cc"], "vlan": [0, "100-199"],
             "src_mac": "52:54:00:00:00:00/ff:ff:ff:00:00:00", "dst_mac": "ff:ff:ff:ff:ff:ff", "log": True},
            {"id": "ip", "action": "allow", "protocol": "tcp", "tcp_flags": "syn/syn,ack", "dscp": ["ef", "0-5"],
             "fragment": False, "timeout": 60, "log": {"rate": 5, "what": "all"},
             "sample": {"new": 100, "established": 1000}}]}},
    "security_groups": {"worn": {"description": "d", "labels": {"a": "b"}, "stateful": True, "rules": [
        {"id": "in", "direction": "to", "remote": ["@worn", "@clients"], "family": "ipv4", "protocol": "tcp",
         "dst_ports": 22, "description": "d", "labels": {"a": "b"}},
        {"id": "icmp", "direction": "to", "protocol": "icmp", "icmp_type": 3, "icmp_code": 4},
        {"id": "echo", "direction": "from", "service": "echo"}]}},
    "macip": {"vms": {"description": "d", "labels": {"a": "b"}, "allow_ra": False, "allow_dhcp_server": False,
                      "entries": [{"mac": "52:54:00:00:00:01", "prefixes": ["10.3.0.0/24"]}]}},
    "ports": {"p": {"interface": "h0", "from": "web", "to": [], "side": "workload", "hook": "auto", "tcp": "loose",
                    "on_change": "recheck", "infrastructure": ["arp", "nd"], "description": "d", "labels": {"a": "b"},
                    "default": {"from": {"action": "drop"}, "to": {"action": "drop"}},
                    "timeouts": {"tcp_half_open": 30, "tcp_established": 600, "tcp_closing": 30, "udp_one_way": 30,
                                 "udp_two_way": "180", "icmp": 30, "other": 60}},
              "bridge": {"interface": "br0", "hook": "xdp"},  # has no native XDP: degraded, with a warning
              "absent": {"interface": "absent0"},
              "vm": {"interface": "absent3", "security_groups": ["worn"], "groups": ["more"], "macip": "vms",
                     "addresses": [{"mac": "52:54:00:00:00:02", "ips": ["10.3.1.1"]}], "anti_spoof": True,
                     "allow_ra": False, "allow_dhcp_server": False, "domain": "d", "pickup_s": 5,
                     "limits": {"sessions": 100, "sessions_per_source": 10, "half_open": 20}, "on_change": "cut",
                     "reset_on_expiry": False, "audit": False, "fail_mode": "closed",
                     "default": {"from": {"log": {"rate": 5}}, "to": {"action": "reject"}}},
              "like": {"match": {"name": "absent[4-6]", "altname": "four", "alias": "port four", "kind": "tap",
                                 "mac": "52:54:00:00:00:04/ff:ff:ff:ff:ff:ff", "master": "br0"}}},
    "port_templates": {"q": {"match": {"name": "absent?"}, "from": [], "to": [], "description": "d"}},
}
del POLICY["services"]["echo"][0]["description_free"]
POLICY["port_templates"] |= {
    "made": {"match": {"name": "made*"}},  # has an instance
    "all": {**{name: value for port in ("like", "p", "vm") for name, value in POLICY["ports"][port].items()
               if name != "interface"},
            "default": {side: {"action": "drop", "log": {"rate": 5, "what": "new"}} for side in ("from", "to")}}}

OBJECTS = {"acls": {"rules": []}, "groups": {"prefixes": ["192.0.2.1"]}, "services": [{"protocol": "tcp"}],
           "ports": {"interface": "absent9"}, "port_templates": {"match": {"name": "absent*"}, "from": []},
           "security_groups": {"rules": []}, "macip": {"entries": []}}
USED = {"acls": "web", "groups": "clients", "services": "echo", "ports": "p", "security_groups": "worn", "macip": "vms"}
THERE = USED | {"port_templates": "q"}
WRITES = {"PUT", "PATCH", "DELETE"}
MEMBERS = {"add": ["192.0.2.8", {"prefix": "192.0.2.9", "ttl_s": 3600}], "remove": "192.0.2.1"}
TRACE = {"port": "p", "direction": "from", "proto": "udp", "src": "10.1.0.1", "dst": "10.2.0.1", "dport": 53}

# (method, path or None for all): {status: why it cannot be provoked}
NOT_PROVOKED = {
    ("GET", None): {500: "reading fails for want of memory only"},
    ("POST", "/v1/trace"): {500: "a test run of the kernel fails for want of memory only"},
    ("DELETE", "/v1/sessions"): {500: "the session tables can always be written but for want of memory"},
}


class Recorder(Rest):
    """Notes into a contract of its own."""

    def __init__(self, daemon, contract):
        super().__init__(daemon.socket, contract=contract)

    def bare(self, method, path, *headers):
        """A request without the body that its headers promise."""
        answer = self.raw("\r\n".join([f"{method} {path} HTTP/1.1", "Host: x", "Connection: close", *headers,
                                       "\r\n"]).encode())
        head, _, body = answer.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        found = Answer(int(lines[0].split()[1]), dict(line.split(": ", 1) for line in lines[1:]), body)
        self.contract.check(method, path, found)
        return found


def target(path, name="n"):
    return path.replace("{name}", name)


def body_of(method, path):
    if method == "PATCH":
        return {"groups": {"free": {}}}
    if method == "PUT":
        return POLICY if path == "/v1/config" else OBJECTS[path.split("/")[2]]
    if method == "POST":
        return MEMBERS if path.endswith("/members") else TRACE
    return None


def expect(answer, *statuses):
    assert answer.status in statuses, answer
    return answer


# ── each status ──────────────────────────────────────────────────────────────────────────────────────


def say_yes(api, ns):
    """200 of everything, and HEAD."""
    expect(api.request("PUT", "/v1/config", POLICY), 200)
    for family in (4,):
        for send in (traffic.tcp, traffic.udp, traffic.icmp):
            result = send(ns.client, ns.server, ns.server_addr[family], family, PORT)
            assert result.has_reply, send
            result.close()
    for kind in OBJECTS:
        expect(api.request("PUT", f"/v1/{kind}/n", OBJECTS[kind]), 200)
        expect(api.request("DELETE", f"/v1/{kind}/n"), 200)
    expect(api.request("PATCH", "/v1/config", {"acls": {"web": {"description": "other"}}}), 200)
    expect(api.request("POST", "/v1/groups/clients/members", MEMBERS), 200)
    for method, path, _ in api.contract.operations():
        if method == "GET":
            answer = expect(api.request("GET", target(path, THERE.get(path.split("/")[2], "") if "{" in path else "")), 200)
            head = expect(api.request("HEAD", target(path, THERE.get(path.split("/")[2], "") if "{" in path else "")), 200)
            assert head.raw == b"" and head.headers.keys() == answer.headers.keys()
    expect(api.request("GET", "/v1/sessions?limit=1"), 200)
    [session, *_] = expect(api.request("GET", "/v1/sessions?port=p&proto=udp&dst=10.0.0.0/8"), 200).json["sessions"]
    same = {field: session[field] for field in ("src", "dst", "sport", "dport")}
    assert expect(api.request("POST", "/v1/trace", TRACE | same), 200).json["session"] == "found"
    assert expect(api.request("POST", "/v1/trace", TRACE | {"proto": "tcp"}), 200).json["reason"] == "default"
    expect(api.request("DELETE", "/v1/sessions?all=1"), 200)


LOG = {"acls": {"log": {"rules": [
    {"id": "no", "action": "reject", "protocol": "tcp", "log": True},
    {"id": "icmp", "action": "drop", "protocol": "icmp", "log": True},
    {"id": "odd", "action": "drop", "ethertypes": ["0x88b5"], "log": {"rate": 1}}]}},
    "ports": {"p": {"interface": "h0", "from": "log", "default": {"from": {"action": "drop", "log": True}}}}}


def say_events(api, ns):
    """Each field of an event."""
    expect(api.request("PUT", "/v1/config", LOG), 200)
    ether = Ether(src="02:00:00:00:00:01", dst=ns.host.link("h0")["address"])
    ipv4 = inet.IP(src="10.1.0.1", dst="10.1.0.254")
    odd = bytes(ether)[:12] + bytes.fromhex("88b5") + bytes(46)
    with traffic.tap(ns.client, "c0") as tap:
        tap.send(ether / ipv4 / inet.TCP(flags="S"), ether / ipv4 / inet.ICMP(),
                 ether / Dot1Q(vlan=7) / ipv4 / inet.UDP(), *[odd] * 20)
        tap.send(odd)
        time.sleep(1.2)  # another second of the rule's rate: it tells how many were kept back
        tap.send(*[odd] * 20)
    eventually(lambda: b'"type":"lost"' in expect(api.request("GET", "/v1/events?after=0"), 200).raw, 10, "lost ones")
    expect(api.request("GET", "/v1/events?after=999999999"), 410)
    expect(api.request("PUT", "/v1/config", POLICY), 200)


def say_warnings(lab, api, ns):
    """Each finding of the lint, an SSH connection that would be cut, and a port that cannot be guarded."""
    expect(api.request("PUT", "/v1/config?dry_run=1", yaml.safe_load(test_lint.POLICY)), 200)
    unused = {"groups": {f"g{index}": {} for index in range(1001)}}  # one more than what is listed
    expect(api.request("PUT", "/v1/config?dry_run=1", unused), 200)
    with ns.host.entered():
        listener = socket.create_server(("10.1.0.254", 22))
    with ns.client.entered():
        client = socket.create_connection(("10.1.0.254", 22), 5)
    with listener, client, listener.accept()[0]:
        expect(api.request("PUT", "/v1/config?dry_run=1", {"ports": {"p": {"interface": "h0", "from": []}}}), 200)
    answer = expect(api.request("PUT", "/v1/ports/n", {"match": {"name": "[hm]*"}}), 200)
    assert [warning["code"] for warning in answer.json["warnings"] if warning["field"] == "ports.n"] == ["ambiguous"]
    others = foreign.Foreign(lab.folder)
    others.attach(ns.host, "h1", "foreign_xdp", foreign.XDP)
    answer = expect(api.request("PUT", "/v1/ports/n", {"interface": "h1", "hook": "xdp"}), 200)
    assert [warning["code"] for warning in answer.json["warnings"] if warning["field"] == "ports.n"] == ["failed"]
    others.close()
    expect(api.request("DELETE", "/v1/ports/n"), 200)


def say_bad_request(api):
    for method, path, _ in api.contract.operations():
        expect(api.request(method, target(path) + "?colour=1", body_of(method, path)), 400)


def say_forbidden(api):
    """As nobody: rights are those that the process has when it connects."""
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(65534)
    os.seteuid(65534)
    try:
        for method, path, _ in api.contract.operations():
            expect(api.request(method, target(path), body_of(method, path)), 200 if path == "/healthz" else 403)
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


def say_absent(api):
    for method, path, _ in api.contract.operations():
        if "{name}" in path and method != "PUT":
            expect(api.request(method, target(path, "nothing"), body_of(method, path)), 404)
    expect(api.request("GET", "/v1/stats?port=nothing"), 404)
    expect(api.request("GET", "/v1/sessions?port=nothing"), 404)
    expect(api.request("DELETE", "/v1/sessions?port=nothing"), 404)
    expect(api.request("GET", "/v1/nothing"), 404)
    expect(api.request("POST", "/v1/trace", TRACE | {"port": "nothing"}), 404)
    for path, item in api.contract.spec["paths"].items():
        if "post" not in item:
            expect(api.request("POST", target(path), {}), 405)
    for method in ("PUT", "PATCH", "DELETE"):
        expect(api.request(method, "/v1/groups/clients/members", {}), 405)


def say_conflict(api):
    for kind, name in USED.items():
        expect(api.request("DELETE", f"/v1/{kind}/{name}"), 409)
    expect(api.request("PUT", "/v1/groups/worn", {}), 409)
    expect(api.request("PUT", "/v1/security_groups/clients", {}), 409)
    for method, path, _ in api.contract.operations():
        if method in WRITES or path.endswith("/members") and method == "POST":
            query = "?all=1" if path == "/v1/sessions" else ""
            expect(api.request(method, target(path) + query, body_of(method, path), {"If-Match": '"1"'}), 412)
    expect(api.request("POST", "/v1/trace", TRACE | {"port": "absent"}), 409)
    second = {"ports": {"second": {"interface": "h0"}}}
    expect(api.request("PUT", "/v1/port_templates/second", POLICY["port_templates"]["q"]), 409)
    expect(api.request("PUT", "/v1/ports/second", second["ports"]["second"]), 409)
    expect(api.request("PATCH", "/v1/config", second), 409)
    expect(api.request("PUT", "/v1/config", POLICY | {"ports": POLICY["ports"] | second["ports"]}), 409)
    expect(api.request("PATCH", "/v1/config", second | {"colour": 1, "groups": {"g": {"prefixes": "none"}}}), 400)
    for body in ("{", {"colour": 1}, {"acls": []}, {"schema": "secg/2"}, {"tunnels": {}},
                 {"ports": {"q": {"interface": "i", "from": "nothing"}}}):
        expect(api.request("PUT", "/v1/config", body), 400)
    expect(api.request("GET", "/v1/status?" + "&".join(f"x{index}=1" for index in range(40))), 400)


def say_too_large(api):
    for method, path, _ in api.contract.operations():
        expect(api.bare(method, target(path), f"Content-Length: {(64 << 20) + 1}"), 413)


def say_busy(api):
    with contextlib.ExitStack() as stack:
        for _ in range(256):
            parked = stack.enter_context(socket.socket(socket.AF_UNIX))
            parked.connect(api.path)
        for method, path, _ in api.contract.operations():
            expect(api.request(method, target(path), body_of(method, path)), 503)
    eventually(lambda: api.request("GET", "/healthz").status == 200, 5, "connections are free again")


def say_limit(api):
    """What does not fit into the smallest table memory."""
    rules = [{"id": f"r{index}", "action": "allow", "protocol": "udp", "src": f"10.{index >> 8}.{index & 255}.0/24"}
             for index in range(10241)]
    large = {"acls": {"large": {"rules": rules}}, "ports": {"q": {"interface": "absent2", "from": "large"}}}
    expect(api.request("PUT", "/v1/config", large), 507)
    expect(api.request("PATCH", "/v1/config", large), 507)
    expect(api.request("PUT", "/v1/acls/web", large["acls"]["large"]), 507)
    expect(api.request("PUT", "/v1/groups/clients", {"prefixes": [
        f"10.{index >> 8}.{index & 255}.1" for index in range(1 << 16)]}), 507)
    expect(api.request("POST", "/v1/groups/clients/members", {"add": [
        f"10.{index >> 8}.{index & 255}.1" for index in range(1 << 16)]}), 507)
    expect(api.request("POST", "/v1/groups/free/members", {"add": [
        {"prefix": f"2001:db8::{index >> 8:x}:{index & 255:x}", "ttl_s": 5} for index in range((1 << 16) + 1)]}), 507)
    expect(api.request("PUT", "/v1/services/echo", [
        {"protocol": "tcp", "dst_ports": index, "src_ports": index} for index in range(10241)]), 507)
    expect(api.request("PUT", "/v1/security_groups/worn", {"rules": [
        {"id": f"r{index}", "direction": "to", "protocol": "tcp", "remote": f"10.{index >> 8}.{index & 255}.0/24"}
        for index in range(10241)]}), 507)
    expect(api.request("PUT", "/v1/macip/vms", {"entries": [
        {"mac": f"52:54:00:00:{index >> 8:02x}:{index & 255:02x}"} for index in range(10241)]}), 507)
    expect(api.request("PATCH", "/v1/config", {"acls": {f"a{index}": {"rules": []} for index in range(17)}}), 200)
    expect(api.request("PUT", "/v1/ports/q", {"interface": "absent2", "from": [f"a{index}" for index in range(17)]}), 507)


class FullDisk:
    """A daemon whose store can be made to fail: a small disk for its state, a limit on its files."""

    RLIMIT_FSIZE = 1

    def __init__(self, lab, ns):
        class Small(Daemon):
            def command(self, *extra):
                # Python has reset the signal to what would end the daemon
                return ["env", "--ignore-signal=XFSZ", *super().command(*extra)]

        self.daemon = Small(lab, ns, "small", ["--max-sessions", "16384"])
        lab.daemons.append(self.daemon)
        self.state = os.path.join(self.daemon.folder, "state")
        os.makedirs(self.state, mode=0o700)
        run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", self.state)

    def __enter__(self):
        self.daemon.start()
        return self

    def __exit__(self, *failure):
        self.daemon.stop()
        run("umount", self.state)

    def fill(self):
        with contextlib.suppress(OSError), open(os.path.join(self.state, "filler"), "wb", buffering=0) as file:
            for size in (4096,) * 300:
                file.write(b"x" * size)

    def empty(self):
        os.unlink(os.path.join(self.state, "filler"))

    def limit_files(self, size):
        limit = (ctypes.c_uint64 * 2)(size, 2**64 - 1)
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.prlimit(self.daemon.process.pid, self.RLIMIT_FSIZE, limit, None) == 0, ctypes.get_errno()


def write_all(api, status, labels):
    """Each write once, as a change."""
    expect(api.request("PUT", "/v1/config", {"groups": {"g": {"labels": labels}}}), status)
    expect(api.request("PATCH", "/v1/config", {"groups": {"g": {"labels": labels}}}), status)
    for kind, value in OBJECTS.items():
        changed = [{"protocol": ["tcp", "udp"]}] if kind == "services" else value | {"labels": labels}
        expect(api.request("PUT", f"/v1/{kind}/kept_{kind}", changed), status)
        expect(api.request("DELETE", f"/v1/{kind}/kept_{kind}"), status)
    expect(api.request("POST", "/v1/groups/kept_groups/members", MEMBERS), status)


def say_disk_full(lab, ns, contract):
    with FullDisk(lab, ns) as disk:
        api = Recorder(disk.daemon, contract)
        start = {kind: {f"kept_{kind}": value} for kind, value in OBJECTS.items()}
        expect(api.request("PUT", "/v1/config", start), 200)
        before = api.get("/v1/config")
        labels = {f"l{index}": "x" * 1000 for index in range(40)}
        disk.fill()
        write_all(api, 507, labels)
        disk.empty()
        disk.limit_files(1)
        write_all(api, 500, labels)
        expect(api.request("GET", "/healthz"), 503)
        disk.limit_files(2**64 - 1)
        assert api.get("/v1/config") == before, "what was refused changed nothing"
        expect(api.request("PATCH", "/v1/config", {"groups": {"after": {}}}), 200)
        expect(api.request("GET", "/healthz"), 200)


@pytest.fixture(scope="module")
def recorded(lab, path):
    """Everything is asked once; what was answered."""
    contract = Contract()
    lab.bridge(path.host, "br0")
    lab.bridge(path.host, "made0")
    daemon = lab.daemon(path.host, "contract", ["--max-sessions", "16384", "--table-memory", "1M"])
    api = Recorder(daemon, contract)
    say_yes(api, path)
    say_events(api, path)
    say_warnings(lab, api, path)
    say_bad_request(api)
    say_forbidden(api)
    say_absent(api)
    say_conflict(api)
    say_too_large(api)
    say_busy(api)
    say_limit(api)
    daemon.stop()
    say_disk_full(lab, path.host, contract)
    return contract


def test_every_status_is_answered(recorded):
    reasons = {}
    for (method, only), statuses in NOT_PROVOKED.items():
        for path_method, path, _ in recorded.operations():
            if path_method == method and only in (None, path):
                reasons |= {(method, path, status): why for status, why in statuses.items()}
    described = {(method, path, int(status)) for method, path, operation in recorded.operations()
                 for status in operation["responses"]}
    seen = {(method, path, status) for method, path, status in recorded.statuses if path and method != "HEAD"}
    assert sorted(described - seen - set(reasons)) == [], "described and never answered"
    assert sorted(set(reasons) - described) == [] and sorted(set(reasons) & seen) == [], "excuses that are none"
    assert {status for _, path, status in recorded.statuses if path is None} == {404}
    assert {path for method, path, status in recorded.statuses if (method, status) == ("POST", 405)} == \
        {path for path, item in recorded.spec["paths"].items() if "post" not in item}


def test_every_field_is_answered(recorded):
    promised = set()
    for _, path, operation in recorded.operations():
        for status, response in operation["responses"].items():
            response = openapi.resolve(recorded.spec, response)
            for content in response["content"].values():
                promised |= recorded.checker.promised(content["schema"], f"{path}/{status}", {
                    "ErrorCode", "WarningCode", "Reason", "InfrastructureName"})
    assert len(promised) > 150
    promised -= {("#/components/schemas/Event", "used"), ("#/components/schemas/Event", "max")}  # test_engine_events.c
    assert sorted(f"{pointer} {name}" for pointer, name in promised - recorded.checker.met) == []
    metrics = recorded.spec["paths"]["/metrics"]["get"]["responses"]["200"]["x-metrics"]
    assert set(metrics) == recorded.metrics


def test_every_code_is_answered(recorded):
    described = {(f"#/components/responses/{name}", code)
                 for name, response in recorded.spec["components"]["responses"].items()
                 for code in response.get("x-codes", [])}
    assert sorted(described - recorded.codes) == []


def test_description_is_served(daemon):
    answer = daemon.api.request("GET", "/v1/openapi.json")
    assert answer.raw.decode() == openapi.to_json(openapi.load())
    assert answer.json["info"]["version"] == daemon.api.get("/v1/status")["version"]


def test_schema_page_is_up_to_date():
    with open(os.path.join(openapi.ROOT, "docs/schema.md"), encoding="utf-8") as file:
        assert file.read() == openapi.to_markdown(openapi.load()), "run make docs"


# ── each field of a request ──────────────────────────────────────────────────────────────────────────

BASE = {
    "services": {"n": [{"protocol": "tcp"}]},
    "groups": {"n": {}, "o": {}},
    "acls": {"n": {"rules": [{"id": "r", "action": "allow"}]}, "o": {"rules": []}},
    "security_groups": {"s": {"rules": []}},
    "macip": {"n": {}},
    "ports": {"n": {"interface": "eth9"}},
    "port_templates": {"n": {"match": {"name": "eth8"}}},
}
ICMP = [{"protocol": "icmp"}, {"protocol": "icmpv6"}]
TYPES = [{"protocol": protocol, "icmp_type": kind} for protocol, kinds in (("icmp", (3, 5, 11)), ("icmpv6", (1, 3, 4)))
         for kind in kinds]
# What must stand beside a field, by its last word: one of these.
BESIDE = {"src_ports": [{"protocol": "tcp"}], "dst_ports": [{"protocol": "tcp"}], "icmp_type": ICMP, "icmp_code": TYPES,
          "default": [{"from": [], "to": []}], "protocol": [{}], "tcp_flags": [{"protocol": "tcp"}],
          "anti_spoof": [{"addresses": []}]}
# What a field may name depends on what is there.
NAMES = {"acls.NAME.rules.service": ["n", "ssh"], "ports.NAME.from": ["n", "o"], "ports.NAME.to": ["n", "o"],
         "groups.NAME.groups": ["o"], "acls.NAME.rules.src": ["192.0.2.0/24", "::1", "@n"],
         "acls.NAME.rules.dst": ["192.0.2.7", "2001:db8::/32", "@o"],
         "security_groups.NAME.rules.service": ["n", "ssh"], "groups.NAME.ports": ["n"],
         "security_groups.NAME.rules.remote": ["192.0.2.0/24", "::1", "@n", "@o", "@s"],
         **{f"port_templates.NAME.{field}": names for field, names in
            {"from": ["n", "o"], "to": ["n", "o"], "security_groups": ["s"], "groups": ["n", "o"], "macip": ["n"]}.items()},
         "ports.NAME.security_groups": ["s"], "ports.NAME.groups": ["n", "o"], "ports.NAME.macip": ["n"]}
# Of every type, and just outside of what numbers, ranges, names and prefixes may be.
POOL = [None, True, 1.5, -1, 0, 255, 256, 65535, 65536, 7776000, 7776001, 1 << 40, "", "no such word", "-1", "0", "256",
        "65536", "7776001", "9-3", "3-9", "1-65536", "a" * 64, "A", "a b", "@", "@No", "10.0.0.1/8", "10.0.0.0/33", "10.0",
        "2001:db8::1/32", "eth0/1", "eth:0", "sixteen-letters-", "any", [], [None], [True], ["no such word"], [-1], [65536],
        [[]], {}, {"a": 1}, {"a": "b"}, [{}], ["any", "tcp"]]

SPEC = openapi.load()
FIELDS = [field for field in openapi.flatten(SPEC, "", {"$ref": "#/components/schemas/Config"})]


def schema_of(path):
    """The schema behind a path of the policy."""
    schema = {"$ref": "#/components/schemas/Config"}
    for step in path.split("."):
        schema = openapi.resolve(SPEC, schema)
        while (items := openapi.list_of(SPEC, schema)) is not None:
            schema = openapi.resolve(SPEC, items)
        schema = schema["additionalProperties"] if step == "NAME" else schema["properties"][step]
    return schema


def samples(schema):
    """Values that a schema allows: each word, each bound, each form, alone and in a list."""
    schema = openapi.resolve(SPEC, schema)
    found = [schema["const"]] if "const" in schema else list(schema.get("examples", []))
    for item in [*schema.get("oneOf", []), *schema.get("anyOf", [])]:
        found += samples(item)
    if schema.get("type") == "integer":
        found += [schema["minimum"], schema["maximum"]]
    if schema.get("type") == "array":
        found += [[item] for item in samples(schema["items"])] + ([] if schema.get("minItems") else [[]])
    if schema.get("type") == "string" and not found:
        found.append("n")
    if "boolean" in schema.get("type", []):
        found += [True, False]
    if "object" in schema.get("type", []) and not schema.get("minProperties"):
        found.append({name: samples(item)[0] for name, item in schema.get("properties", {}).items()
                      if name in schema.get("required", [])})
    return found


def place(path, value, beside):
    """A policy with the value at the path, and the path as errors name it."""
    document = copy.deepcopy(BASE)
    where, at = "", document
    steps = path.split(".")
    if steps[0] == "security_groups":  # they are groups too
        del document["groups"]["n"]
        document["security_groups"]["n"] = {"rules": [{"id": "r", "direction": "to"}]}
    if path.startswith("ports.NAME.match"):
        del document["ports"]["n"]["interface"]
    for step in steps[:-1]:
        name = "n" if step == "NAME" else step
        where += f".{name}" if where else name
        at = at.setdefault(name, {})
        if isinstance(at, list):
            at, where = at[0], f"{where}[0]"
    name = "n" if steps[-1] == "NAME" else steps[-1]
    at.update(copy.deepcopy(beside))
    if path.startswith(("ports.NAME.default", "port_templates.NAME.default")):
        document[steps[0]]["n"] |= {"from": [], "to": []}
    if name == "service":
        at.pop("protocol", None)
    at[name] = value
    return document, f"{where}.{name}" if where else name


@pytest.fixture(scope="module")
def host(lab):
    daemon = lab.daemon(lab.namespace("fields"), "fields")
    daemon.apply(BASE)
    return daemon


def names(error, where):
    """The error is at the field, below it, or at the object that is wrong because of it."""
    return error["field"].startswith(where) or where.rpartition(".")[0] == error["field"] != ""


def dry(host, document):
    return host.api.request("PUT", "/v1/config?dry_run=1", document)


@pytest.mark.parametrize("field", FIELDS, ids=[field.path for field in FIELDS])
def test_field(host, field):
    schema = schema_of(field.path)
    word = field.path.rpartition(".")[2]
    contexts = BESIDE.get(word, [{}])
    if field.path in NAMES:
        valid = NAMES[field.path] + ([[name] for name in NAMES[field.path]] if openapi.list_of(SPEC, schema) else [])
    else:
        valid = samples(schema)
    checker = Contract(SPEC).checker
    assert valid
    for value in valid:
        assert checker.is_valid(schema, value), f"{value!r} is no sample"
        answers = [dry(host, place(field.path, value, beside)[0]) for beside in contexts]
        assert any(answer.status == 200 for answer in answers), f"{value!r} is described and refused: {answers}"
    refused = 0
    for value in POOL:
        if checker.is_valid(schema, value):
            continue
        for beside in contexts:
            document, where = place(field.path, value, beside)
            answer = dry(host, document)
            assert answer.status == 400, f"{value!r} is not described and taken: {answer}"
            assert any(names(error, where) for error in answer.errors), answer
        refused += 1
    assert refused, "a field that takes everything"
    if field.is_required:
        document, where = place(field.path, None, {})
        kind = document[field.path.partition(".")[0]]["n"]
        at = kind["rules"][0] if "rules" in field.path else kind[0] if "services" in field.path else kind
        del at[word]
        answer = dry(host, document)
        assert answer.status == 400 and any(where.startswith(error["field"]) for error in answer.errors), answer


MEMBER_FIELDS = {"add": lambda value: {"add": value}, "remove": lambda value: {"remove": value},
                 "add.prefix": lambda value: {"add": {"prefix": value}},
                 "add[0].ttl_s": lambda value: {"add": [{"prefix": "::1", "ttl_s": value}]}}


@pytest.mark.parametrize("field", MEMBER_FIELDS)
def test_field_of_members(host, field):
    """What may come and go is taken, and what may not is refused where it stands."""
    def send(value):
        return host.api.request("POST", "/v1/groups/n/members?dry_run=1", MEMBER_FIELDS[field](value))

    member = openapi.resolve(SPEC, {"$ref": "#/components/schemas/Member"})["oneOf"][1]["properties"]
    change = openapi.resolve(SPEC, {"$ref": "#/components/schemas/MemberChange"})["properties"]
    schema = (member | change)[field.rpartition(".")[2]]
    checker = Contract(SPEC).checker
    valid = ["10.0.0.0/8", "::1"] if field == "add.prefix" else samples(schema) if "ttl_s" in field else \
        ["10.0.0.0/8", ["::1", "10.0.0.1"], []]
    for value in valid + ([{"prefix": "::1", "ttl_s": 5}, [{"prefix": "::1"}]] if field == "add" else []):
        assert checker.is_valid(schema, value), f"{value!r} is no sample"
        assert send(value).status == 200, value
    for value in [*POOL, 31536000, 31536001]:
        if checker.is_valid(schema, value):
            continue
        answer = send(value)
        assert answer.status == 400, f"{value!r} is not described and taken: {answer}"
        assert all(error["field"].startswith(field) for error in answer.errors), answer
    [error] = send({"prefix": "::1", "colour": 1}).errors if field == "add" else \
        host.api.request("POST", "/v1/groups/n/members", {"colour": 1}).errors
    assert error["code"] == "unknown_field" and set(known(error["message"])) == set(member if field == "add" else change)


def known(message):
    """The words that a sentence about an unknown one lists at its end."""
    listed = message.rpartition(" which has ")[2] if " which has " in message else message.rpartition(" which take ")[2]
    return [] if listed == "none" else listed.split(", ")


def members(schema):
    """The properties of an object, or of the objects of a list."""
    schema = openapi.resolve(SPEC, schema)
    items = openapi.list_of(SPEC, schema)
    return schema.get("properties", {}) if items is None else members(items)


OBJECT_PATHS = ["", *(field.path for field in FIELDS if members(schema_of(field.path)))]


@pytest.mark.parametrize("path", OBJECT_PATHS)
def test_no_other_field_is_taken(host, path):
    """The daemon says itself which fields an object has: just those that are described."""
    where = f"{path}.colour" if path else "colour"
    document = place(where, 1, {})[0] if path else BASE | {"colour": 1}
    errors = [error for error in dry(host, document).errors if error["code"] == "unknown_field"]
    assert len(errors) == 1
    described = members(schema_of(path) if path else {"$ref": "#/components/schemas/Config"})
    assert set(known(errors[0]["message"])) == set(described)


WORD_PATHS = [field.path for field in FIELDS if field.words and "const" not in openapi.resolve(SPEC, schema_of(field.path)) and
              not any(word in field.path for word in ("protocol", "icmp_", "ethertypes", "dscp"))]


@pytest.mark.parametrize("path", WORD_PATHS)
def test_no_other_word_is_taken(host, path):
    """The same of words: the sentence that refuses one lists the others, but for what is another word for one of them."""
    [error] = dry(host, place(path, "colour", {})[0]).errors
    listed = error["message"].partition("must be one of ")[2].partition(", not ")[0].split(", ")
    assert set(listed) == {word for word, meaning in openapi.words(SPEC, schema_of(path))
                           if not meaning.startswith("Another word for ")}


def test_no_other_name_is_answered(host):
    """Numbers come back as names where they have one: of all numbers only described names come (contract.py)."""
    rules = [{"protocol": number} for number in range(256)] + [{"dscp": number} for number in range(64)]
    for protocol, kinds in (("icmp", (3, 5, 11)), ("icmpv6", (1, 3, 4))):
        rules += [{"protocol": protocol, "icmp_type": number} for number in range(256)]
        rules += [{"protocol": protocol, "icmp_type": kind, "icmp_code": code} for kind in kinds for code in range(20)]
    host.apply({"acls": {"n": {"rules": [{"id": f"r{index}", "action": "allow", **rule} for index, rule in enumerate(rules)]}}})
    try:
        [acl] = host.api.get("/v1/acls").values()
        for field, schema in (("protocol", "ProtocolName"), ("icmp_type", "IcmpTypeName"),
                              ("icmp_code", "IcmpCodeName"), ("dscp", "DscpName")):
            found = {value for rule in acl["rules"] for value in rule.get(field, []) if isinstance(value, str)}
            assert found == {word for word, _ in openapi.words(SPEC, {"$ref": f"#/components/schemas/{schema}"})}
    finally:
        host.apply(BASE)


@pytest.mark.parametrize("method, path, operation", Contract(SPEC).operations(),
                         ids=[f"{m} {p}" for m, p, _ in Contract(SPEC).operations()])
def test_no_other_parameter_is_taken(host, method, path, operation):
    described = {parameter["name"] for parameter in map(lambda p: openapi.resolve(SPEC, p), operation.get("parameters", []))
                 if parameter["in"] == "query"}
    answer = host.api.request(method, target(path) + "?colour=1", body_of(method, path))
    assert set(known(answer.errors[0]["message"])) == described


@pytest.mark.parametrize("kind", OBJECTS)
def test_names(host, kind):
    collection = "".join(word.capitalize() for word in kind.split("_"))
    schema = openapi.resolve(SPEC, {"$ref": f"#/components/schemas/{collection}"})
    checker = Contract(SPEC).checker
    for name in ("a", "a" * 63, "0.-_", "", "infra", "a" * 64, "A", "a b", "a/b", "é", "a:b", "eth0.100", ".", ".."):
        status = 200 if checker.is_valid(schema["propertyNames"], name) else 400
        answer = dry(host, {kind: {name: OBJECTS[kind]}})
        assert answer.status == status, (name, answer)


def test_bounds_of_lists(host):
    for count, status in ((16, 200), (17, 507)):
        names = [f"a{index}" for index in range(count)]
        for side in ("from", "to"):
            document = {"acls": {name: {"rules": []} for name in names}, "ports": {"p": {"interface": "i", side: names}}}
            assert dry(host, document).status == status
    for count, status in ((4095, 200), (4096, 507)):  # `n` is there: a port that goes keeps its number for a while
        document = {"ports": BASE["ports"] | {f"p{index}": {"interface": f"i{index}"} for index in range(count - 1)}}
        assert dry(host, document).status == status


PARAMETERS = [(method.upper(), path, openapi.resolve(SPEC, parameter))
              for path, item in SPEC["paths"].items() for method, operation in item.items() if method != "parameters"
              for parameter in operation.get("parameters", [])]
PARAMETER_SAMPLES = {"acl": ["n"], "rule": ["n/r"], "cursor": ["0", "7"], "If-Match": ["*"], "port": ["n"], "after": ["0"]}


def as_text(value):
    return value if isinstance(value, str) else str(value)


@pytest.mark.parametrize("method, path, parameter", PARAMETERS, ids=[f"{m} {p} {q['name']}" for m, p, q in PARAMETERS])
def test_parameter(host, method, path, parameter):
    """Each is taken with all that it may be, and what it may not be is refused by its name."""
    checker = Contract(SPEC).checker
    name, kind = parameter["name"], parameter["in"]
    values = PARAMETER_SAMPLES.get(name) or [as_text(value) for value in samples(parameter["schema"])]

    object_name = "s" if "security_groups" in path else "n"

    def send(value):
        query = f"?{name}={value}" if kind == "query" else "?all=1" if path == "/v1/sessions" else "?dry_run=1"
        headers = {name: value} if kind == "header" else {}
        body = {"PATCH": {}, "PUT": BASE if path == "/v1/config" else BASE.get(path.split("/")[2], {}).get(object_name),
                "POST": {}}.get(method)
        absent = method == "DELETE" and "{" in path
        if "dry_run" not in query and method == "DELETE" and "{" in path:
            query += "&dry_run=1"
        return host.api.request(method, target(path, object_name) + query, body, headers), absent

    for value in values:
        answer, may_be_used = send(value)
        assert answer.status == 200 or (may_be_used and answer.status == 409), (value, answer)
    where = f"{'query' if kind == 'query' else 'headers'}.{name}"
    refused = 0
    for value in ("", "x!", "-1", "65536", "999999", "yes", "10.0.0.1/8", "0x1", "1,2", '"1'):
        number = int(value) if value.lstrip("-").isdigit() else value
        if checker.is_valid(parameter["schema"], value) or checker.is_valid(parameter["schema"], number):
            continue
        answer, _ = send(value)
        assert answer.status == 400 and answer.errors[0]["field"] == where, (value, answer)
        refused += 1
    assert refused or parameter["schema"] == {"type": "string"}


# ── the judges judged ────────────────────────────────────────────────────────────────────────────────


def fake(body, status=200, etag='"1"', **headers):
    kept = {"Content-Type": "application/json", "ETag": etag, **headers}
    return Answer(status, {name: value for name, value in kept.items() if value}, json.dumps(body).encode())


ERROR = {"code": "bad_value", "field": "f", "message": "m"}
FAKES = {
    "status": ("GET", "/v1/config", fake({}, 201)),
    "path": ("GET", "/v1/other", fake({}, 200)),
    "method": ("POST", "/v1/config", fake({}, 200)),
    "field": ("GET", "/v1/config", fake({"colour": {}})),
    "field within": ("GET", "/v1/config", fake({"ports": {"p": {"interface": "i", "colour": 1}}})),
    "a missing one": ("GET", "/v1/config", fake({"ports": {"p": {}}})),
    "a scalar for a list": ("GET", "/v1/config", fake({"ports": {"p": {"interface": "i", "from": "a"}}})),
    "an alias": ("GET", "/v1/config", fake({"acls": {"a": {"rules": [{"id": "r", "action": "deny"}]}}})),
    "type": ("GET", "/v1/config", fake({"ports": {"p": {"interface": 1}}})),
    "a bool for a number": ("DELETE", "/v1/sessions", fake({"deleted": True}, etag="")),
    "bound": ("GET", "/v1/config", fake({"ports": {"p": {"interface": "i", "timeouts": {"icmp": 0}}}})),
    "name": ("GET", "/v1/config", fake({"acls": {"Bad": {}}})),
    "header": ("GET", "/v1/config", fake({}, **{"X-Colour": "1"})),
    "no header": ("GET", "/v1/config", fake({}, etag="")),
    "bad header": ("GET", "/v1/config", fake({}, etag="1")),
    "content type": ("GET", "/v1/config", fake({}, **{"Content-Type": "text/html"})),
    "code": ("GET", "/v1/config", fake({"errors": [ERROR | {"code": "colour"}]}, 400, "")),
    "code of another status": ("GET", "/v1/config", fake({"errors": [ERROR]}, 403, "")),
    "no error": ("GET", "/v1/config", fake({"errors": []}, 400, "")),
    "metric": ("GET", "/metrics", Answer(200, {"Content-Type": "text/plain"}, b"secg_colour 1\n")),
    "label": ("GET", "/metrics", Answer(200, {"Content-Type": "text/plain"}, b'secg_ports{colour="a"} 1\n')),
}


@pytest.mark.parametrize("method, path, answer", FAKES.values(), ids=FAKES.keys())
def test_the_undescribed_is_seen(method, path, answer):
    with pytest.raises(Undocumented):
        Contract(SPEC).check(method, path, answer)


@pytest.mark.parametrize("method, path, body", [
    ("PUT", "/v1/config?colour=1", {}), ("PUT", "/v1/config", {"colour": 1}), ("PATCH", "/v1/config", {"acls": {"a": {"x": 1}}}),
    ("PUT", "/v1/acls/a", {"rules": [{"id": "r", "action": "drop", "colour": 1}]}),
    ("PUT", "/v1/services/s", [{"protocol": "tcp", "colour": 1}]),
    ("PUT", "/v1/ports/p", {"interface": "i", "timeouts": {"colour": 1}})])
def test_the_undescribed_that_is_taken_is_seen(method, path, body):
    answer = fake({"generation": 1, "changed": False, "etag": "1", "changes": [], "warnings": [],
                   "ports": {"waiting": [], "failed": []}})
    with pytest.raises(Undocumented, match="not described and taken"):
        Contract(SPEC).check(method, path, answer, json.dumps(body).encode())


def test_the_described_is_not():
    contract = Contract(SPEC)
    contract.check("GET", "/v1/config", fake({"acls": {"a": {"rules": [{"id": "r", "action": "drop"}]}}}))
    contract.check("GET", "/v1/config", fake({"errors": [ERROR]}, 400, ""))
    contract.check("GET", "/metrics", Answer(200, {"Content-Type": "text/plain"}, b'secg_ports{state="failed"} 1\n'))
    assert ("#/components/schemas/Rule", "action") in contract.checker.met
