# SPDX-License-Identifier: Apache-2.0
"""Policy files through sgctl: differences before, export to another host, waiting, watching, formats, colours."""

import json
import os
import pty
import re
import select
import subprocess
import time

import pytest
import yaml

from lab import BUILD, eventually

SGCTL = os.path.join(BUILD, "sgctl")
POLICY = """schema: secg/1
groups: {clients: {prefixes: [10.1.0.0/24, "fd01::/64"], description: "yes"}}
services: {echo: [{protocol: udp, dst_ports: 7}]}
acls:
  web:
    description: |
      two lines: "quoted",
      a\\backslash, ünïcode, tab\t.
    labels: {"on": "off", "52": "1e3", tier: "0x10", "null": "~", date: "2024-01-01", sexa: "1:30"}
    rules:
      - {id: echo, action: allow, src: "@clients", service: echo}
      - {id: "1", action: drop, protocol: tcp, dst_ports: [443, "8000-8100"], labels: {a: "[x]", b: "{y: z}", c: "# d"}}
      - {id: ping, action: allow, protocol: ping}
ports:
  p: {interface: h0, from: [web], to: [], timeouts: {icmp: 5}, default: {from: {action: allow}}, infrastructure: []}
  late: {interface: later0, from: [web], labels: {"": ""}}
"""


@pytest.fixture
def files(lab, daemon):
    daemon.apply({})

    def write(name, content):
        path = os.path.join(lab.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        return path

    return write


def test_diff(daemon, files):
    path = files("a.yaml", POLICY)
    done = daemon.sgctl("diff", "-f", path)
    assert done.returncode == 1 and done.stderr == ""
    assert "+ groups.clients: {description: \"yes\", prefixes: [10.1.0.0/24, \"fd01::/64\"]}\n" in done.stdout
    assert "+     - {id: ping, action: allow, protocol: [ping]}\n" in done.stdout
    assert daemon.api.get("/v1/config") == {}, "nothing was applied"
    shown = done.stdout.splitlines()[:-1]
    applied = daemon.sgctl("apply", "-f", path, check=True)
    assert applied.stdout.splitlines()[:-1] == shown, "what happens is told as what would"
    done = daemon.sgctl("diff", "-f", path, "--replace")
    assert (done.returncode, done.stderr) == (0, "") and "no change" in done.stdout

    other = files("b.yaml", POLICY.replace("8000-8100", "9000-9100").replace("icmp: 5", "icmp: 6"))
    done = daemon.sgctl("diff", "-f", other)
    assert done.returncode == 1
    assert "- acls.web.rules[1].dst_ports[1] (rule 1): 8000-8100\n" in done.stdout.replace('"', "")
    assert "+ acls.web.rules[1].dst_ports[1] (rule 1): 9000-9100\n" in done.stdout.replace('"', "")
    assert "~ ports.p.timeouts.icmp: 5 → 6\n" in done.stdout
    # Without --replace what a file does not name is no difference.
    only = files("c.yaml", "groups: {clients: {prefixes: [10.1.0.0/24, 'fd01::/64']}}\n")
    assert daemon.sgctl("diff", "-f", only).returncode == 0
    done = daemon.sgctl("diff", "--replace", "-f", only)
    assert done.returncode == 1 and "- ports.p:" in done.stdout
    dry = daemon.sgctl("apply", "--dry-run", "--replace", "-f", only)
    assert dry.returncode == 1 and dry.stdout.splitlines()[:-1] == done.stdout.splitlines()[:-1]
    assert json.loads(daemon.sgctl("diff", "-f", other, "-o", "json").stdout)["changed"] is True
    assert daemon.sgctl("diff", "-f", files("d.yaml", "acl: {}\n")).returncode == 2
    assert daemon.sgctl("diff", "-f", path, "--dry-run").returncode == 2, "it has no such option"


def test_directory_and_stdin(daemon, files):
    files("dir/1.yaml", "groups: {a: {prefixes: [192.0.2.1]}}\n")
    folder = os.path.dirname(files("dir/2.json", '{"groups": {"b": {"groups": ["a"]}}}'))
    done = daemon.sgctl("apply", "-f", folder, "-f", "-", stdin="groups: {c: {prefixes: [192.0.2.2]}}\n")
    assert done.returncode == 0, done.stderr
    assert set(daemon.api.get("/v1/groups")) == {"a", "b", "c"}
    # A mistake in one of them: told in that file; nothing of the others is applied.
    files("dir/3.yaml", "groups:\n  d: {prefixes: [192.0.2.300]}\n")
    files("dir/1.yaml", "groups: {a: {prefixes: [192.0.2.3]}}\n")
    done = daemon.sgctl("apply", "-f", folder)
    assert done.returncode == 2 and f"{folder}/3.yaml:2:18: groups.d.prefixes[0]" in done.stderr
    assert daemon.api.get("/v1/groups/a") == {"prefixes": ["192.0.2.1"]}
    done = daemon.sgctl("apply", "-f", "-", stdin="groups: {d: {prefixes: x}}\n")
    assert done.returncode == 2 and "sgctl: <stdin>:1:24: groups.d.prefixes" in done.stderr


def test_export_restores_on_another_host(lab, path, daemon, files):
    daemon.sgctl("apply", "-f", files("a.yaml", POLICY), check=True)
    exported = daemon.sgctl("export", check=True).stdout
    assert exported.startswith("schema: secg/1\n")
    other = lab.daemon(path.server, name="other")
    done = other.sgctl("apply", "--replace", "-f", "-", stdin=exported)
    assert done.returncode == 0, done.stderr
    assert other.api.get("/v1/config") == daemon.api.get("/v1/config")
    assert other.sgctl("export").stdout == exported
    # The same through JSON.
    other.apply({})
    exported = daemon.sgctl("export", "-o", "json", check=True).stdout
    assert other.sgctl("apply", "-f", files("export.json", exported)).returncode == 0
    assert other.api.get("/v1/config") == daemon.api.get("/v1/config")
    other.stop()


def test_wait(daemon, path, files):
    daemon.sgctl("apply", "-f", files("a.yaml", POLICY), check=True)
    done = daemon.sgctl("wait", "ports", "p", "--for=guarded", "--timeout", "5")
    assert done.returncode == 0 and "guarded" in done.stdout, done.stderr
    start = time.monotonic()
    done = daemon.sgctl("wait", "ports", "--timeout", "1")
    assert done.returncode == 4 and done.stdout == "" and 0.9 < time.monotonic() - start < 3
    assert done.stderr.startswith("sgctl: port late is waiting, not guarded, after 1 s")
    assert daemon.sgctl("wait", "port", "late", "--for", "waiting").returncode == 0
    waiting = subprocess.Popen([SGCTL, "--socket", daemon.socket, "wait", "ports", "--timeout", "10"],
                               stdout=subprocess.DEVNULL)
    time.sleep(0.3)
    assert waiting.poll() is None
    path.host.ip("link", "add", "later0", "type", "veth", "peer", "name", "later1")
    try:
        assert waiting.wait(timeout=5) == 0
        assert set(json.loads(daemon.sgctl("wait", "ports", "-o", "json").stdout)) == {"p", "late"}
    finally:
        path.host.ip("link", "del", "later0")
    for words in (("ports", "absent"), (), ("acls",), ("ports", "--for", "glory")):
        assert daemon.sgctl("wait", *words).returncode == 2, words


def test_wait_for_the_daemon(lab, path):
    late = lab.daemon(path.server, name="late", start=False)
    start = time.monotonic()
    done = late.sgctl("wait", "ports", "--timeout", "1")
    assert done.returncode == 3 and done.stderr.startswith("sgctl: no daemon at "), done.stderr
    assert done.stderr.count("\n") == 1 and 0.9 < time.monotonic() - start < 3
    waiting = subprocess.Popen([SGCTL, "--socket", late.socket, "wait", "ports", "--timeout", "30"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(0.3)
    assert waiting.poll() is None
    late.start()
    assert waiting.communicate(timeout=10) == (None, "") and waiting.returncode == 0, "there are no ports"
    late.apply({"ports": {"p": {"interface": "absent0"}}})
    waiting = subprocess.Popen([SGCTL, "--socket", late.socket, "wait", "ports", "--timeout", "3"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    late.stop()
    assert "has gone" in waiting.communicate(timeout=10)[1] and waiting.returncode == 4


class Watched:
    def __init__(self, daemon, *words):
        self.process = subprocess.Popen([SGCTL, "--socket", daemon.socket, *words], stdout=subprocess.PIPE)
        self.text = ""

    def until(self, pattern):
        def look():
            if select.select([self.process.stdout], [], [], 0.05)[0]:
                self.text += os.read(self.process.stdout.fileno(), 65536).decode()
            return re.search(pattern, self.text)

        return eventually(look, what=f"{pattern!r} in {self.text!r}")

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def test_watch(daemon, files):
    watched = Watched(daemon, "get", "groups", "--watch", "-o", "json")
    tables = Watched(daemon, "get", "groups", "-w")
    stats = Watched(daemon, "stats", "-w", "--interval", "1", "-o", "yaml")
    try:
        watched.until(r"^\{\}\n$")
        tables.until("NAME")
        stats.until("^---\n")
        time.sleep(1.5)
        assert watched.text == "{}\n", "only what has changed is printed"
        daemon.sgctl("apply", "-f", files("g.yaml", "groups: {new: {prefixes: [192.0.2.1]}}\n"), check=True)
        watched.until('"new"')
        tables.until("new")
        assert [json.loads(line) for line in watched.text.splitlines()] == [
            {}, {"new": {"prefixes": ["192.0.2.1"]}}]
        assert "\033" not in tables.text
        daemon.sgctl("apply", "-f", files("h.yaml", POLICY), check=True)
        stats.until("\n---\n(.|\n)*web/echo")
        assert "web/echo" in list(yaml.safe_load_all(stats.text))[-1]["rules"]
    finally:
        for each in (watched, tables, stats):
            each.end()
    assert daemon.sgctl("get", "groups", "-w", "--interval", "0").returncode == 2
    done = daemon.sgctl("get", "group", "absent", "-w")
    assert done.returncode == 2 and "absent" in done.stderr


def test_yaml_is_the_json(daemon, files):
    daemon.sgctl("apply", "-f", files("a.yaml", POLICY), check=True)
    for words in (("get", "config"), ("get", "acls"), ("get", "acl", "web"), ("get", "port", "p"), ("get", "status"),
                  ("stats",), ("sessions",), ("export",), ("delete", "port", "late")):
        if words[0] == "delete":
            as_json = daemon.api.ok("PATCH", "/v1/config?dry_run=1", {"ports": {"late": None}})["changes"]
            assert yaml.safe_load(daemon.sgctl(*words, "-o", "yaml").stdout)["changes"] == as_json
            continue
        as_json = json.loads(daemon.sgctl(*words, "-o", "json").stdout)
        as_yaml = yaml.safe_load(daemon.sgctl(*words, "-o", "yaml").stdout)  # PyYAML reads YAML 1.1
        if words[0] != "stats":
            assert as_yaml == as_json, words
        assert set(as_yaml) == set(as_json)


def on_a_terminal(daemon, *words, **environment):
    """What sgctl writes to a terminal."""
    leader, follower = pty.openpty()
    keep = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen([SGCTL, "--socket", daemon.socket, *words], stdout=follower, stderr=follower,
                               env=keep | {"TERM": "xterm"} | environment)
    os.close(follower)
    text = b""
    try:
        while chunk := os.read(leader, 65536):
            text += chunk
    except OSError:  # the other end is closed
        pass
    os.close(leader)
    process.wait()
    return text.decode()


def test_colours(daemon, files):
    path = files("a.yaml", POLICY)
    wrong = files("wrong.yaml", "acl: {}\n")
    daemon.sgctl("apply", "-f", path, check=True)
    more = files("more.yaml", "groups: {more: {prefixes: [192.0.2.1]}}\n")
    for words in (("get", "ports"), ("diff", "-f", more), ("apply", "-f", wrong)):
        assert "\033[" in on_a_terminal(daemon, *words), words
        for plain in (on_a_terminal(daemon, *words, "--no-color"), on_a_terminal(daemon, *words, NO_COLOR="1"),
                      on_a_terminal(daemon, *words, TERM="dumb")):
            assert "\033" not in plain, words
        done = daemon.sgctl(*words)
        assert "\033" not in done.stdout + done.stderr, words
    coloured = on_a_terminal(daemon, "get", "ports")
    assert re.sub("\033\\[[0-9]*m", "", coloured).replace("\r", "") == daemon.sgctl("get", "ports").stdout


def test_no_terminal_is_steered_by_names(daemon):
    """A description with an escape sequence is data in a table, a difference and YAML."""
    daemon.apply({"groups": {"g": {"prefixes": ["192.0.2.1"], "description": "\033[31mred\u0085\x07\u009b1m"}}})
    for words in (("get", "groups"), ("export",), ("get", "groups", "-o", "yaml")):
        text = daemon.sgctl(*words).stdout
        assert "red" in text and "\033" not in text and "\x07" not in text and "\u009b" not in text, words
    assert yaml.safe_load(daemon.sgctl("export").stdout)["groups"]["g"]["description"] == "\033[31mred\u0085\x07\u009b1m"
    text = daemon.sgctl("apply", "--replace", "--dry-run", "-f", "-", stdin="{}").stdout
    assert "red" in text and "\033" not in text and "\u009b" not in text
