# SPDX-License-Identifier: Apache-2.0
"""sgctl as a person and a script use it: files in, tables and JSON out, exit codes."""

import json
import os
import re

import pytest

import traffic
from lab import BUILD, run

PORT = 7500
YAML = f"""# a policy as a person writes it
schema: secg/1
groups:
  clients: {{prefixes: [10.1.0.0/24, "fd01::/64"]}}
acls:
  web:
    rules:
      - id: echo
        action: allow
        src: "@clients"
        protocol: udp
        dst_ports: {PORT}
      - {{id: ping, action: allow, protocol: ping}}
ports:
  p: {{interface: h0, from: [web], to: []}}
"""


@pytest.fixture
def files(lab, daemon):
    """Writes a file and names it."""
    daemon.apply({})

    def write(name, content):
        path = os.path.join(lab.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def test_apply_yaml_and_json(daemon, path, files):
    done = daemon.sgctl("apply", "-f", files("a.yaml", YAML))
    assert done.returncode == 0, done.stderr
    assert daemon.port("p")["state"] == "guarded"
    result = traffic.udp(path.client, path.server, path.server_addr[4], 4, PORT)
    result.close()
    assert result.has_reply
    # apply merges: what another file does not name stays.
    done = daemon.sgctl("apply", "-f", files("b.json", {"groups": {"more": {"prefixes": ["192.0.2.1"]}}}))
    assert done.returncode == 0, done.stderr
    assert set(daemon.api.get("/v1/groups")) == {"clients", "more"}
    assert daemon.sgctl("apply", "-f", files("a.yaml", YAML)).returncode == 0


def test_get(daemon, files):
    daemon.sgctl("apply", "-f", files("a.yaml", YAML), check=True)
    done = daemon.sgctl("get", "ports")
    assert done.returncode == 0
    assert "p" in done.stdout.split() and "h0" in done.stdout and "guarded" in done.stdout
    assert json.loads(daemon.sgctl("-o", "json", "get", "acls").stdout) == daemon.api.get("/v1/acls")
    assert json.loads(daemon.sgctl("get", "acls", "web", "-o", "json").stdout) == daemon.api.get("/v1/acls/web")
    assert "clients" in daemon.sgctl("get", "groups").stdout
    for words in (("get", "acls", "absent"), ("delete", "acl", "absent")):
        done = daemon.sgctl(*words)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", "sgctl: there is no acl absent\n")
    assert daemon.sgctl("stats", "--port", "nope").stderr == "sgctl: there is no port nope\n"
    assert daemon.sgctl("sessions", "--sport", "x").stderr.startswith("sgctl: --sport: must be ")


WEARER = """
security_groups:
  db: {rules: [{id: app, direction: to, remote: ["@db"], service: postgres}], description: d}
macip: {vms: {entries: [{mac: "52:54:00:00:00:01", prefixes: [10.1.0.0/24]}, {prefixes: []}, {mac: "52:54:00:00:00:02"}]}}
groups: {g: {ports: [vm], select: {tier: web, zone: "1"}}}
acls: {audited: {audit: true, rules: [{id: r, action: reject, vlan: 7, src_mac: "52:54:00:00:00:01"}]}}
ports:
  vm: {interface: absent0, from: [audited], security_groups: [db], macip: vms}
  bare: {interface: absent1, security_groups: []}
"""


def table(text):
    """Cells of a table, by line."""
    return [re.split("  +", line.rstrip()) for line in text.splitlines()]


def test_get_of_security_groups_and_senders(daemon, files):
    assert daemon.sgctl("apply", "-f", files("w.yaml", WEARER)).returncode == 0
    assert table(daemon.sgctl("get", "security_groups").stdout)[1:] == [["db", "1", "yes", "d"]]
    for kind in ("security_group", "security-group", "security-groups"):
        assert table(daemon.sgctl("get", kind, "db").stdout)[1:] == [["app", "to", "both", "@db", "service postgres"]]
    assert table(daemon.sgctl("get", "macip").stdout)[1][:4] == ["vms", "3", "no", "no"]
    assert table(daemon.sgctl("get", "macip", "vms").stdout)[1:] == [
        ["52:54:00:00:00:01", "10.1.0.0/24"], ["any", "none"], ["52:54:00:00:00:02", "any"]]
    assert table(daemon.sgctl("get", "group", "g").stdout)[1:] == [["port", "vm"], ["ports with", "tier=web,zone=1"]]
    assert "yes" in daemon.sgctl("get", "acls").stdout
    assert "src_mac=52:54:00:00:00:01 vlan=7" in daemon.sgctl("get", "acl", "audited").stdout
    ports = {line[0]: line for line in table(daemon.sgctl("get", "ports").stdout)}
    assert ports["vm"][3:5] == ["audited,sg:db", "sg:db"] and ports["bare"][3:5] == ["(open)", "(open)"]
    done = daemon.sgctl("delete", "security_group", "db")
    assert done.returncode == 2 and "ports.vm.security_groups" in done.stderr
    assert daemon.sgctl("get", "securty_groups").stderr.count("did you mean 'security_groups'?") == 1
    assert "outermost VLAN" in daemon.sgctl("explain", "rule.vlan").stdout
    assert daemon.sgctl("explain", "sg.stateful").returncode == 0


def test_delete(daemon, files):
    daemon.sgctl("apply", "-f", files("a.yaml", YAML), check=True)
    done = daemon.sgctl("delete", "groups", "clients")
    assert done.returncode == 2
    assert done.stderr == "sgctl: group clients is in use: acls.web.rules[0].src; take it out there first\n"
    assert daemon.sgctl("delete", "ports", "p").returncode == 0
    assert daemon.api.get("/v1/ports") == {}
    assert daemon.sgctl("delete", "ports", "p").returncode == 2


def test_sessions_and_stats(daemon, path, files):
    daemon.sgctl("apply", "-f", files("a.yaml", YAML), check=True)
    daemon.api.delete("/v1/sessions?all=1")
    result = traffic.udp(path.client, path.server, path.server_addr[6], 6, PORT)
    result.close()
    done = daemon.sgctl("sessions")
    assert done.returncode == 0
    for word in ("udp", "fd01::1", "fd02::2", str(PORT), "two_way", "echo"):
        assert word in done.stdout, (word, done.stdout)
    assert len(json.loads(daemon.sgctl("sessions", "-o", "json").stdout)["sessions"]) == 1
    assert daemon.sgctl("sessions", "--rule", "web/echo").stdout.count("web/echo") == 1
    for words, message in ((("--rule", "web/nope"), "acl web has no rule nope"),
                           (("--acl", "web", "--rule", "nope"), "acl web has no rule nope"),
                           (("--delete", "--rule", "web/nope"), "acl web has no rule nope"),
                           (("--acl", "nope"), "there is no acl nope")):
        done = daemon.sgctl("sessions", *words)
        assert done.returncode == 2 and done.stdout == "" and message in done.stderr, words
    done = daemon.sgctl("stats")
    assert done.returncode == 0 and "web/echo" in done.stdout
    assert json.loads(daemon.sgctl("stats", "-o", "json").stdout)["rules"]["web/echo"]["packets"] >= 2
    # A rule that is gone, and a direction that has become open.
    daemon.api.patch("/v1/config", {"ports": {"p": {"on_change": "keep", "from": []}}, "acls": {"web": None}})
    assert "(rule is gone)" in daemon.sgctl("sessions").stdout
    daemon.api.patch("/v1/config", {"ports": {"p": {"from": None}}})
    assert "(no rule)" in daemon.sgctl("sessions").stdout


def test_refusals_name_the_file_and_the_line(daemon, files):
    bad = files("bad.yaml", YAML.replace("protocol: udp", "protocol: upd"))
    before = daemon.api.get("/v1/config")
    done = daemon.sgctl("apply", "-f", bad)
    assert done.returncode == 2
    line = YAML.splitlines().index("        protocol: udp") + 1
    assert f"{bad}:{line}" in done.stderr
    assert daemon.api.get("/v1/config") == before
    done = daemon.sgctl("apply", "-f", files("twice.yaml", "acls: {}\nacls: {}\n"))
    assert done.returncode == 2 and "twice.yaml:2" in done.stderr
    assert daemon.sgctl("apply", "-f", files("cut.json", '{"acls": {')).returncode == 2
    assert daemon.sgctl("apply", "-f", "/nonexistent.yaml").returncode == 2


def test_wrong_use(daemon):
    for words in ((), ("wibble",), ("apply",), ("get", "wibble"), ("-o", "xml", "get", "ports")):
        done = daemon.sgctl(*words)
        assert done.returncode == 2 and done.stderr and not done.stdout, words
    for words, meant in ((("aply",), "sgctl apply"), (("watch",), "stats -w"), (("show",), "sgctl get"),
                         (("get", "prots"), "'ports'"), (("delete", "gruop", "x"), "'group'")):
        done = daemon.sgctl(*words)
        assert done.returncode == 2 and "did you mean" in done.stderr and meant in done.stderr, words
    done = daemon.sgctl("--help")
    assert done.returncode == 0 and "apply" in done.stdout


def test_no_daemon(lab):
    done = run(os.path.join(BUILD, "sgctl"), "--socket", os.path.join(lab.folder, "nothing.sock"), "get", "ports",
               check=False)
    assert done.returncode == 3 and "nothing.sock" in done.stderr


def test_socket_from_the_environment(daemon):
    done = run(os.path.join(BUILD, "sgctl"), "get", "ports", check=False,
               env=os.environ | {"SECG_SOCKET": daemon.socket})
    assert done.returncode == 0
