# SPDX-License-Identifier: Apache-2.0
"""
What happens is told: events with names, rates, numbers that go on, and a count of what is lost; to readers
of /v1/events and of sgctl monitor.
"""

import json
import os
import re
import select
import signal
import socket
import subprocess
import time

import pytest

from lab import BUILD, eventually

ACLS = {"web": {"rules": [
    {"id": "let", "action": "allow", "protocol": "udp", "dst_ports": "7000-7999", "log": {"rate": 5}},
    {"id": "all", "action": "allow", "protocol": "udp", "dst_ports": "8000", "log": {"rate": 1000, "what": "all"}},
    {"id": "some", "action": "allow", "protocol": "udp", "dst_ports": "9000", "sample": {"new": 1, "established": 4}},
    {"id": "flood", "action": "allow-stateless", "protocol": "udp", "dst_ports": "9100", "log": {"rate": 1000000}},
    {"id": "deny", "action": "drop", "protocol": "udp", "dst_ports": "6000-6999", "log": True}]}}
PORT = {"interface": "h0", "hook": "tc", "from": "web"}
SERVER = "10.2.0.2"


@pytest.fixture
def told(daemon):
    """The policy, and a place in the stream behind it."""
    daemon.apply({"acls": ACLS, "ports": {"p": PORT}})
    daemon.api.delete("/v1/sessions?all=1")
    eventually(lambda: daemon.port("p")["state"] == "guarded")
    return daemon.api.get("/v1/status")["events"]["last"]


def send(path, *ports, count=1, source=None, address=SERVER):
    with path.client.entered():
        sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
    with sock:
        if source:
            sock.bind(("", source))
        for port in ports:
            for _ in range(count):
                sock.sendto(b"hello", (address, port))
        return sock.getsockname()[1]


def events(daemon, after, *types):
    return [event for event in daemon.api.events(f"after={after}")
            if not types or event["type"] in types]


def wait_events(daemon, after, count, *types):
    return eventually(lambda: (found := events(daemon, after, *types)) and len(found) >= count and found,
                      what=f"{count} {types}, there are {events(daemon, after)}")


# ── what is told of a packet ─────────────────────────────────────────────────────────────────────────


def test_a_rule_with_log_is_told(path, daemon, told):
    source = send(path, 7000)
    [event] = wait_events(daemon, told, 1, "rule_log")
    assert event["seq"] == told + 1 and event["boot_id"] == daemon.api.get("/v1/status")["events"]["boot_id"]
    wanted = {"port": "p", "direction": "from", "verdict": "pass", "acl": "web", "rule": "web/let", "proto": "udp",
              "src": "10.1.0.1", "dst": SERVER, "sport": source, "dport": 7000, "session": False,
              "src_mac": path.client.link("c0")["address"], "dst_mac": path.host.link("h0")["address"]}
    assert wanted.items() <= event.items()
    assert abs(time.time() - time.mktime(time.strptime(event["time"][:19], "%Y-%m-%dT%H:%M:%S")) + time.timezone) < 60


def test_a_dropped_packet_says_why(path, daemon, told):
    send(path, 6000)
    send(path, 6001, address="fd02::2")
    first, second = wait_events(daemon, told, 2, "rule_log")
    assert (first["verdict"], first["reason"], first["rule"]) == ("drop", "rule_drop", "web/deny")
    assert (second["src"], second["dst"], second["dport"]) == ("fd01::1", "fd02::2", 6001)


def test_packets_of_sessions_are_told_where_asked_for(path, daemon, told):
    send(path, 7001, count=3, source=30001)
    assert len(wait_events(daemon, told, 1, "rule_log")) == 1
    send(path, 8000, count=3, source=30002)
    found = wait_events(daemon, told, 4, "rule_log")
    assert [event["session"] for event in found if event["dport" if "dport" in event else "rule"] == 8000] == \
        [False, True, True]


def test_samples_are_one_in_n(path, daemon, told):
    send(path, 9000, count=401, source=30003)
    found = wait_events(daemon, told, 50, "sample")
    sessions = [event["session"] for event in found]
    assert sessions.count(False) == 1 and 50 < sessions.count(True) < 160
    assert {event["rule"] for event in found} == {"web/some"}


def test_a_default_with_log_is_told(path, daemon):
    daemon.apply({"ports": {"p": {"interface": "h0", "from": [],
                                  "default": {"from": {"action": "drop", "log": {"rate": 2}}}}}})
    after = daemon.api.get("/v1/status")["events"]["last"]
    send(path, 5000)
    [event] = wait_events(daemon, after, 1, "rule_log")
    assert (event["verdict"], event["reason"]) == ("drop", "default") and "rule" not in event


def test_a_default_without_log_is_not_told(path, daemon, told):
    send(path, 5000)
    send(path, 6000)  # that is told, and would be behind it
    assert [event["dport"] for event in wait_events(daemon, told, 1, "rule_log", "drop")] == [6000]


def test_audit_lets_pass_and_tells(path, daemon):
    daemon.apply({"acls": {"web": {"audit": True, "rules": [{"id": "no", "action": "drop", "protocol": "udp"}]}},
                  "ports": {"p": {"interface": "h0", "from": "web"}}})
    after = daemon.api.get("/v1/status")["events"]["last"]
    with path.server.entered():
        ears = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with ears:
        ears.bind((SERVER, 7100))
        ears.settimeout(3)
        send(path, 7100)
        assert ears.recv(64) == b"hello"
    [event] = wait_events(daemon, after, 1, "audit")
    assert (event["verdict"], event["rule"]) == ("pass", "web/no")


def test_audit_tells_why_it_would_have_been(path, daemon):
    rules = [{"id": "no", "action": "drop", "protocol": "udp", "dst_ports": 7100},
             {"id": "refuse", "action": "reject", "protocol": "udp", "dst_ports": 7101}]
    daemon.apply({"acls": {"web": {"rules": rules}},
                  "ports": {"p": {"interface": "h0", "from": "web", "audit": True}}})
    after = daemon.api.get("/v1/status")["events"]["last"]
    send(path, 7100, 7101, 7102)
    assert [(event["verdict"], event.get("reason"), event.get("rule"))
            for event in wait_events(daemon, after, 3, "audit")] == [
        ("pass", "rule_drop", "web/no"), ("pass", "rule_reject", "web/refuse"), ("pass", "default", None)]


def test_other_drops_are_told_too(path, daemon):
    daemon.apply({"acls": {"web": {"rules": [{"id": "tcp", "action": "allow", "protocol": "tcp"}]}},
                  "ports": {"p": {"interface": "h0", "from": "web", "tcp": "strict", "to": []}}})
    after = daemon.api.get("/v1/status")["events"]["last"]
    with path.client.entered():
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    with sock:  # an ACK out of the blue
        sock.sendto(bytes.fromhex("1000 2000 00000001 00000001 5010 ffff 0000 0000"), (SERVER, 0))
    [event] = wait_events(daemon, after, 1, "drop")
    assert (event["reason"], event["verdict"], event["tcp_flags"]) == ("tcp_not_syn", "drop", "ack")


# ── rates ────────────────────────────────────────────────────────────────────────────────────────────


def test_the_rate_holds_and_what_is_kept_back_is_counted(path, daemon, told):
    """acl/49: log rate."""
    send(path, *range(7000, 7100))
    found = eventually(lambda: (got := events(daemon, told, "rule_log", "lost")) and got[-1]["type"] == "lost" and got,
                       timeout=10, what="a lost event")
    told_ = [event for event in found if event["type"] == "rule_log"]
    lost = [event for event in found if event["type"] == "lost"]
    assert 5 <= len(told_) <= 10  # a second may turn in between
    assert len(told_) + sum(event["count"] for event in lost) + \
        sum(event.get("suppressed", 0) for event in told_) == 100
    assert {event["rule"] for event in lost} == {"web/let"} and {event["port"] for event in lost} == {"p"}


def test_the_next_one_says_how_many_were_kept_back(path, daemon, told):
    def kept_back():
        return sum(event.get("suppressed", 0) + event.get("count", 0)
                   for event in events(daemon, told, "rule_log", "lost"))

    send(path, *range(7000, 7050))
    wait_events(daemon, told, 5, "rule_log")
    for _ in range(40):  # until a second has turned
        send(path, 7900)
        time.sleep(0.05)
    eventually(lambda: kept_back() + len(events(daemon, told, "rule_log")) == 90, timeout=10,
               what="told and kept back are what was sent")


# ── the engine's own ─────────────────────────────────────────────────────────────────────────────────


def test_commits_and_states_are_told(path, daemon, told):
    answer = daemon.api.put("/v1/ports/q", {"interface": "later0"})
    commit, state = events(daemon, told)
    assert (commit["type"], commit["generation"], commit["etag"]) == \
        ("commit", answer["generation"], int(answer["etag"]))
    assert (state["type"], state["port"], state["state"]) == ("port_state", "q", "waiting")
    path.host.ip("link", "add", "later0", "type", "veth", "peer", "name", "later1")
    wait = wait_events(daemon, state["seq"], 1, "port_state")
    assert wait[-1]["port"] == "q" and wait[-1]["state"] in ("guarded", "degraded")
    path.host.ip("link", "del", "later0")
    assert wait_events(daemon, wait[-1]["seq"], 1, "port_state")[0]["state"] == "waiting"
    daemon.api.delete("/v1/ports/q")


# ── readers ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_stream_goes_on_while_the_daemon_works(path, daemon, told):
    with daemon.api.follow() as stream:
        for index in range(5):
            daemon.api.put("/v1/groups/g", {"description": str(index)})
            send(path, 6000)
            assert [next(stream)["type"], next(stream)["type"]] == ["commit", "rule_log"]


def test_a_stream_is_of_the_types_asked_for(path, daemon, told):
    with daemon.api.follow(f"after={told}&types=commit") as stream:
        send(path, 6000)
        daemon.api.put("/v1/groups/g", {"description": "types"})
        assert next(stream)["type"] == "commit"
    answer = daemon.api.request("GET", "/v1/events?types=commit,colour")
    assert answer.status == 400 and [error["field"] for error in answer.errors] == ["query.types"]
    for known in ("acquire", "expire", "mapping", "sa_missing", "flushed", "session_80", "session_full"):
        assert daemon.api.events(f"types={known}") == []


def test_what_is_not_there_is_gone(daemon, told):
    assert daemon.api.request("GET", f"/v1/events?after={told + 1000000}").status == 410
    assert daemon.api.request("GET", f"/v1/events?after={told}").status == 200


def flood(path, daemon, count):
    """Events of a rule without a rate, many more than the daemon keeps."""
    for start in range(0, count, 2000):
        send(path, 9100, count=2000, source=30100)
        eventually(lambda: daemon.stats()["rules"]["web/flood"]["packets"] >= start + 2000)


def test_a_slow_reader_is_told_how_many_it_lost(path, daemon, told):
    """What it reads, and what it is told of, is all there was."""
    base = daemon.stats()["rules"]["web/flood"]["packets"]
    assert base == 0
    with daemon.api.follow(f"after={told}", timeout=20) as stream:
        flood(path, daemon, 40000)
        last = daemon.api.get("/v1/status")["events"]["last"]
        lost, seq = 0, told
        while seq < last:
            event = next(stream)
            if event["type"] == "lost" and event["seq"] != seq + 1:
                lost += event["count"]
                assert event["seq"] == seq + event["count"]
            else:
                assert event["seq"] == seq + 1
            seq = event["seq"]
    assert lost > 0
    assert daemon.api.request("GET", f"/v1/events?after={told}").status == 410
    status = daemon.api.get("/v1/status")["events"]
    assert status["last"] - status["first"] < 16384
    assert daemon.api.events(f"after={status['first'] - 1}")[0]["seq"] == status["first"]


def test_the_daemon_answers_while_a_reader_sleeps(daemon, told):
    with daemon.api.follow() as first, daemon.api.follow() as second:
        start = time.monotonic()
        for _ in range(20):
            daemon.api.get("/v1/status")
        assert time.monotonic() - start < 10
        daemon.api.put("/v1/groups/g", {"description": "both"})
        assert next(first)["seq"] == next(second)["seq"]


def test_a_reader_that_goes_without_reading_gives_its_place_back(daemon, told):
    """Such an end is an error of the socket, not an end of file; nothing may happen that is told for hours."""
    files = f"/proc/{daemon.process.pid}/fd"
    before = len(os.listdir(files))
    readers = [socket.socket(socket.AF_UNIX) for _ in range(20)]
    for reader in readers:
        reader.connect(daemon.socket)
        reader.sendall(b"GET /v1/events HTTP/1.1\r\nHost: secg\r\n\r\n")
    for reader in readers:
        assert select.select([reader], [], [], 5)[0]  # its answer has begun, and stays unread
        reader.close()
    eventually(lambda: len(os.listdir(files)) <= before, what="no place is held")


# ── sgctl monitor ────────────────────────────────────────────────────────────────────────────────────


class Monitor:
    def __init__(self, daemon, *args):
        self.process = subprocess.Popen(
            [os.path.join(BUILD, "sgctl"), "--socket", daemon.socket, "monitor", *args],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.communicate()

    def until(self, dport, action=lambda: None):
        """The event of a packet to that port; `action` is repeated meanwhile, as a rate may keep one back."""
        buffer, end = b"", time.monotonic() + 15
        while time.monotonic() < end:
            action()
            if select.select([self.process.stdout], [], [], 0.3)[0]:
                buffer += os.read(self.process.stdout.fileno(), 65536)
            *lines, buffer = buffer.split(b"\n")
            for event in map(json.loads, lines):
                if event.get("dport") == dport:
                    return event
        raise AssertionError(f"no event of port {dport}")

    def end(self):
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out, err


def test_monitor_prints_a_line_an_event(path, daemon, told):
    source = send(path, 6000)
    with Monitor(daemon, "--after", str(told), "--count", "1") as monitor:
        code, out, err = monitor.end()
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"\d\d:\d\d:\d\d\.\d{{3}} rule_log     p from +drop   udp 10\.1\.0\.1:{source} > "
                        rf"10\.2\.0\.2:6000 by web/deny\n", out), out
    assert "\033" not in out


def test_monitor_prints_json(path, daemon, told):
    send(path, 6000)
    wait_events(daemon, told, 1, "rule_log")
    code, out, _ = Monitor(daemon, "-o", "json", "--after", str(told), "--count", "1").end()
    assert code == 0 and json.loads(out) == events(daemon, told)[0]


@pytest.mark.parametrize("args, ports", [
    (["--types", "rule_log", "--verdict", "drop"], [6000, 6001]),
    (["--rule", "web/let"], [7000, 7002]),
    (["--rule", "let"], [7000, 7002]),
    (["--acl", "web", "--dport", "6001"], [6001]),
    (["--port", "p", "--direction", "from", "--dst", "10.2.0.0/16", "--proto", "udp"], [6000, 7000, 6001]),
    (["--dst", "fd02::/64"], [7002]),
    (["--src", "fd01::1", "--reason", "rule_drop"], []),
    (["--port", "nothing"], []),
    (["--types", "drop"], []),
], ids=str)
def test_monitor_filters(path, daemon, told, args, ports):
    send(path, 6000, 7000, 6001)
    send(path, 7002, address="fd02::2")
    wait_events(daemon, told, 4, "rule_log")
    code, out, _ = Monitor(daemon, "-o", "json", "--after", str(told), "--duration", "1", *args).end()
    assert code == 0
    assert [json.loads(line)["dport"] for line in out.splitlines()] == ports


def test_monitor_exits_as_it_went(daemon, told):
    assert daemon.sgctl("monitor", "--types", "colour").returncode == 2
    assert daemon.sgctl("monitor", "--after", "999999999").returncode == 2
    assert daemon.sgctl("monitor", "--dport", "x").returncode == 2
    assert daemon.sgctl("monitor", "--src", "10.0.0.0/33").returncode == 2
    assert daemon.sgctl("monitor", "colour").returncode == 2
    assert daemon.sgctl("monitor", "--count", "1", "--duration", "1", "--types", "drop").returncode == 4
    assert daemon.sgctl("--socket", "/nowhere", "monitor").returncode == 3


def test_monitor_goes_on_after_a_restart(path, daemon, told):
    with Monitor(daemon, "-o", "json", "--types", "rule_log") as monitor:
        monitor.until(6001, lambda: send(path, 6001))
        time.sleep(1.1)
        daemon.stop()
        send(path, 6002)  # while nobody is there to tell: the ring keeps it
        daemon.start()
        event = monitor.until(6002)
        assert event["boot_id"] == daemon.api.get("/v1/status")["events"]["boot_id"]
        monitor.until(6003, lambda: send(path, 6003))
        monitor.process.terminate()
        _, _, err = monitor.end()
    assert "waiting for it" in err and "another run" in err
