# SPDX-License-Identifier: Apache-2.0
"""Doctor finds what can be provoked in a namespace, says what to type, and is silent where all is well."""

import json
import os
import shlex
import signal
import socket
import subprocess

import pytest

import foreign as others
import traffic
from lab import BPFFS, BUILD, Path, eventually, run

ACLS = {"web": {"rules": [{"id": "web", "action": "allow", "protocol": "tcp", "dst_ports": 443}]}}


@pytest.fixture
def path(fresh_lab):
    return Path(fresh_lab, is_bridged=False)


@pytest.fixture
def foreign(fresh_lab):
    made = others.Foreign(fresh_lab.folder)
    yield made
    made.close()


def policy(**fields):
    return {"acls": ACLS, "ports": {"p": {"interface": "h0", "from": ["web"], **fields}}}


def findings(daemon, code=None, port=None):
    found = daemon.api.get("/v1/doctor")["findings"]
    return [f for f in found if code in (None, f["code"]) and port in (None, f.get("port"))]


def the(daemon, code, port=None, severity=None):
    [finding] = findings(daemon, code, port)
    assert severity in (None, finding["severity"])
    return finding


def worse_than_info(daemon):
    return {(f["code"], f.get("port")) for f in findings(daemon) if f["severity"] != "info"}


def sgctl_type(daemon, fix):
    """Types what doctor says, with the sgctl and the socket of the test."""
    env = {**os.environ, "PATH": BUILD + ":" + os.environ["PATH"], "SECG_SOCKET": daemon.socket}
    return run("sh", "-c", fix, env=env)


# ── all is well ──────────────────────────────────────────────────────────────────────────────────────


def test_all_is_well(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy())
    assert worse_than_info(daemon) == set()
    done = daemon.sgctl("doctor")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["SEVERITY", "PORT", "CODE", "FINDING"]
    hook = the(daemon, "hook", "p")
    assert "tc (tcx)" in hook["message"] and "TSO" in hook["message"]
    assert any(line.split()[:3] == ["info", "p", "hook"] for line in lines)
    assert any(line.strip() == "type: bpftool net show dev h0" for line in lines)
    assert "h1" in the(daemon, "unguarded")["message"] and "h0" not in the(daemon, "unguarded")["message"]
    assert daemon.bpffs in the(daemon, "bpffs")["message"] and BPFFS in the(daemon, "bpffs")["message"]
    assert "compiled" in the(daemon, "kernel_jit")["message"]
    kernel = daemon.api.get("/v1/status")["kernel"]
    assert ("is there" in the(daemon, "kernel_tcx")["message"]) == kernel["tcx"]


def test_json_is_the_answer(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    done = daemon.sgctl("doctor", "-o", "json")
    assert json.loads(done.stdout) == daemon.api.get("/v1/doctor")
    assert daemon.sgctl("doctor", "what").returncode == 2


def test_offloads_are_those_of_ethtool(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy())
    for state in ("off", "on"):
        path.host.run("ethtool", "-K", "h0", "gro", state, "tso", state)
        said = the(daemon, "offloads", "p")["message"].partition("; off: ")
        side = said[0] if state == "on" else said[2]
        assert {"gro", "tso"} <= set(side.split()), said


# ── ports and hooks ──────────────────────────────────────────────────────────────────────────────────


def test_waiting_port(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"ports": {"w": {"interface": "later0", "from": []}}})
    assert "later0" in the(daemon, "port_waiting", "w", "warning")["message"]
    done = daemon.sgctl("doctor")
    assert done.returncode == 1 and "later0" in done.stdout
    path.host.ip("link", "add", "later0", "type", "ifb")
    daemon.wait_port("w")
    assert worse_than_info(daemon) == set()


def test_foreign_xdp_fails_the_port(fresh_lab, path, foreign):
    foreign.attach(path.host, "h0", "foreign_xdp", others.XDP)
    number = str(foreign.number("foreign_xdp"))
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy(hook="xdp"))
    assert number in the(daemon, "port_failed", "p", "error")["message"]
    finding = the(daemon, "foreign_xdp", "p", "warning")
    assert number in finding["message"] and finding["fix"] == f"bpftool prog show id {number}"
    assert findings(daemon, "hook") == []
    daemon.apply(policy(hook="tc"))
    assert worse_than_info(daemon) == {("foreign_xdp", "p")}
    foreign.detach()
    eventually(lambda: worse_than_info(daemon) == set(), what="the program is gone")


def test_foreign_xdp_elsewhere(fresh_lab, path, foreign):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy())
    foreign.attach(path.host, "h1", "foreign_xdp", others.XDP)
    assert worse_than_info(daemon) == {("xdp_redirect", None)}
    assert f"h1 (program {foreign.number('foreign_xdp')})" in the(daemon, "xdp_redirect")["message"]


@pytest.mark.parametrize("direction, kind", [("from", others.TCX_INGRESS), ("to", others.TCX_EGRESS)])
def test_foreign_tc_before_ours(fresh_lab, path, foreign, direction, kind):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy())
    link = foreign.attach(path.host, "h0", "foreign_next", kind, others.BEFORE)
    finding = the(daemon, "foreign_tc", "p", "warning")
    assert f"direction {direction}:" in finding["message"]
    assert finding["fix"].startswith(f"bpftool prog show id {foreign.number('foreign_next')};")
    # A program on the receive side of any interface may hand packets to the peer of a veth.
    redirect = {("redirect_peer", None)} if direction == "from" else set()
    assert worse_than_info(daemon) == {("foreign_tc", "p")} | redirect
    daemon.stop()
    daemon.detach_all()
    daemon.start()
    assert worse_than_info(daemon) == redirect, "attached anew, ours is first"
    os.close(link)
    foreign.links.clear()
    assert worse_than_info(daemon) == set()
    foreign.attach(path.host, "h0", "foreign_next", others.TCX_EGRESS)
    assert worse_than_info(daemon) == set(), "behind ours it is no harm"


def test_foreign_clsact_before_ours(fresh_lab, path, foreign):
    """Without TCX a filter of the same priority may come first."""
    daemon = fresh_lab.daemon(path.host, args=["--max-sessions", "16384", "--without", "tcx"])
    daemon.apply(policy())
    assert "not there" in the(daemon, "kernel_tcx")["message"]
    assert "clsact" in the(daemon, "hook", "p")["message"]
    assert worse_than_info(daemon) == set()
    foreign.clsact(path.host, "h0", "foreign_next", True)
    assert worse_than_info(daemon) == {("foreign_tc", "p"), ("redirect_peer", None)}
    assert str(foreign.number("foreign_next")) in the(daemon, "foreign_tc", "p")["message"]
    foreign.clsact(path.host, "h0", "foreign_next", False)
    assert worse_than_info(daemon) == set()


def test_degraded_by_what_has_gone(fresh_lab, path, foreign):
    """hook auto took TC beside a foreign XDP program; when that goes, only a new attach would take XDP."""
    path.host.ip("link", "add", "ifb7", "type", "ifb")
    path.host.ip("link", "set", "ifb7", "up")
    foreign.attach(path.host, "ifb7", "foreign_xdp", others.XDP, 1 << 1)  # XDP_FLAGS_SKB_MODE
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"ports": {"p": {"interface": "ifb7"}}})
    assert daemon.port("p")["state"] == "degraded"
    assert worse_than_info(daemon) == {("foreign_xdp", "p")}
    foreign.detach()
    assert worse_than_info(daemon) == {("port_degraded", "p")}


def test_generic_xdp_and_its_cure(fresh_lab):
    path = Path(fresh_lab, is_bridged=True)
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"acls": ACLS, "ports": {"p": {"interface": "br0", "hook": "xdp", "from": ["web"]}}})
    assert worse_than_info(daemon) == {("generic_xdp", "p")}
    sgctl_type(daemon, the(daemon, "generic_xdp", "p")["fix"])
    assert daemon.port("p")["hook"] == "tc"
    assert worse_than_info(daemon) == set()


def test_xdp_on_veth_and_its_cure(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy(hook="xdp"))
    assert worse_than_info(daemon) == {("xdp_on_veth", "p")}
    assert "xdp (native)" in the(daemon, "hook", "p")["message"]
    sgctl_type(daemon, the(daemon, "xdp_on_veth", "p")["fix"])
    assert worse_than_info(daemon) == set()


def test_mtu(fresh_lab):
    path = Path(fresh_lab, is_bridged=False, mtu=9000)
    daemon = fresh_lab.daemon(path.host, args=["--max-sessions", "16384", "--without", "xdp_frags"])
    daemon.apply(policy(hook="xdp"))
    assert {("mtu_xdp", "p"), ("generic_xdp", "p")} == worse_than_info(daemon)
    assert "MTU 9000" in the(daemon, "mtu_xdp", "p")["message"]
    # What it calls small enough is.
    small = the(daemon, "mtu_xdp", "p")["fix"].split()[-1]
    for ns, name in ((path.host, "h0"), (path.client, "c0")):
        ns.ip("link", "set", name, "mtu", small)
    daemon.apply(policy(hook="tc"))
    daemon.apply(policy(hook="xdp"))
    assert daemon.port("p")["mode"] == "native"
    assert {("xdp_on_veth", "p")} == worse_than_info(daemon)


def test_macvtap(fresh_lab, path):
    path.host.ip("link", "add", "link", "h1", "name", "mv0", "type", "macvtap", "mode", "passthru")
    path.host.ip("link", "set", "mv0", "up")
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"ports": {"lower": {"interface": "h1"}, "vm": {"interface": "mv0"}, "no": {"interface": "h0"}}})
    assert worse_than_info(daemon) == {("macvtap", "lower"), ("macvtap", "vm")}
    assert "mv0" in the(daemon, "macvtap", "lower")["message"]


def test_macvtap_turns_directions(fresh_lab, path):
    """The claim of the finding: what goes to the machine is counted in direction from."""
    path.host.ip("link", "add", "link", "h0", "name", "mv0", "address", "02:00:00:00:00:77", "type", "macvtap",
                 "mode", "bridge")
    path.host.ip("link", "set", "mv0", "up")
    daemon = fresh_lab.daemon(path.host)
    daemon.apply({"ports": {"vm": {"interface": "mv0"}}})
    with traffic.tap(path.client, "c0") as tap:
        tap.send(bytes.fromhex("020000000077" "020000000001" "0800") + bytes(46))
    eventually(lambda: sum(daemon.stats()["ports"]["vm"]["from"].values()) > 0, what="a frame to the machine")
    assert daemon.stats()["ports"]["vm"]["to"]["packets"] == 0


# ── the host ─────────────────────────────────────────────────────────────────────────────────────────


def test_ephemeral(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host, args=["--max-sessions", "16384", "--ephemeral"])
    assert worse_than_info(daemon) == {("ephemeral", None)}


def test_private_bpffs(fresh_lab, path):
    """`ip netns exec` hides the bpffs: one that is mounted inside dies with it."""
    daemon = fresh_lab.daemon(path.host, start=False)
    inside = os.path.join(daemon.folder, "bpf")
    os.makedirs(inside)
    command = shlex.join(daemon.command("--max-sessions", "16384"))
    command = command.replace(daemon.bpffs, inside + "/pins")
    process = subprocess.Popen(["unshare", "--mount", "sh", "-c", f"mount -t bpf bpf {inside} && exec {command}"],
                               stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    fresh_lab.processes.append(process)
    daemon.process = process
    daemon.log_path = os.devnull
    daemon.wait_up()
    assert worse_than_info(daemon) == {("bpffs_private", None)}
    daemon.stop()


def test_shared_bpffs_in_a_private_namespace(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host, start=False)
    process = subprocess.Popen(["unshare", "--mount", *daemon.command("--max-sessions", "16384")],
                               stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    fresh_lab.processes.append(process)
    daemon.process = process
    daemon.log_path = os.devnull
    daemon.wait_up()
    assert worse_than_info(daemon) == set()
    assert "process 1 has the same" in the(daemon, "bpffs")["message"]
    daemon.stop()


def test_socket_mode_and_its_cure(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    os.chmod(daemon.socket, 0o600)
    assert worse_than_info(daemon) == {("socket_mode", None)}
    sgctl_type(daemon, the(daemon, "socket_mode")["fix"])
    assert worse_than_info(daemon) == set()


def test_table_memory(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host, args=["--max-sessions", "16384", "--table-memory", "4M"])

    def rules(count):
        return {"acls": {"big": {"rules": [
            {"id": f"r{i}", "action": "allow", "src": f"10.{i >> 8}.{i & 255}.0/24", "protocol": "tcp", "dst_ports": i + 1}
            for i in range(count)]}}, "ports": {"p": {"interface": "h0", "from": ["big"]}}}

    count = 3000
    while not findings(daemon, "table_memory"):
        daemon.apply({})
        answer = daemon.api.request("PUT", "/v1/config", rules(count))
        assert answer.status == 200, f"{count} rules: refused before it was said that memory is short: {answer}"
        count += 200
    assert count > 3200, "not with the first few rules"
    assert the(daemon, "table_memory")["severity"] == "warning"
    daemon.apply({})
    assert findings(daemon, "table_memory") == []


def test_new_sessions(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host, args=["--max-sessions", "4096"])
    daemon.apply({"acls": {"all": {"rules": [{"id": "a", "action": "allow", "protocol": "udp"}]}},
                  "ports": {"p": {"interface": "h0", "from": ["all"]}}})
    maximum = daemon.api.get("/v1/status")["sessions"]["new_max"]
    assert findings(daemon, "new_sessions_full") == []
    with traffic.make_socket(path.client, 4, socket.SOCK_DGRAM) as sender:
        for i in range(2 * maximum):
            sender.sendto(b"x", (f"10.2.0.{2 + i % 200}", 1024 + i // 200))
    assert the(daemon, "new_sessions_full")["severity"] == "warning"


def test_vhost_user(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    name = os.path.join(fresh_lab.folder, "vm1-vhost-user")
    with path.host.entered():
        listener = socket.socket(socket.AF_UNIX)
    with listener:
        listener.bind(name)
        assert worse_than_info(daemon) == {("vhost_user", None)}
        assert name in the(daemon, "vhost_user")["message"]
    assert worse_than_info(daemon) == set()


# ── SSH ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def ssh(path):
    """A listener on port 22 of the host with one client per family, and what they send one another."""
    with path.host.entered():
        listener = socket.create_server(("", 22), family=socket.AF_INET6, dualstack_ipv6=True)
    with path.client.entered():
        clients = [socket.create_connection((address, 22), 5) for address in ("10.1.0.254", "fd01::fe")]
    servers = [listener.accept()[0] for _ in clients]
    yield list(zip(clients, servers))
    for sock in (listener, *clients, *servers):
        sock.close()


def passes(pair):
    client, server = pair
    server.settimeout(0.5)
    client.send(b"x")
    try:
        return server.recv(16) != b""
    except TimeoutError:
        return False


def test_ssh_is_cut_and_cured(fresh_lab, path, ssh):
    daemon = fresh_lab.daemon(path.host)
    answer = daemon.api.put("/v1/config?dry_run=1", policy(to=[]))
    assert [w["code"] for w in answer["warnings"]] == ["ssh_cut", "ssh_cut"]
    assert {w["field"] for w in answer["warnings"]} == {"ports.p"}
    text = " ".join(w["message"] for w in answer["warnings"])
    for client, _ in ssh:
        assert client.getsockname()[0] in text and str(client.getsockname()[1]) in text
    assert findings(daemon, "ssh_cut") == [], "a dry run changes nothing"
    answer = daemon.apply(policy(to=[]))
    assert [w["code"] for w in answer["warnings"]] == ["ssh_cut", "ssh_cut"]
    assert worse_than_info(daemon) == {("ssh_cut", "p")}
    assert not any(passes(pair) for pair in ssh), "it is true"
    first, second = findings(daemon, "ssh_cut")
    assert first["fix"] == second["fix"] and first["severity"] == "error"
    sgctl_type(daemon, first["fix"])
    assert worse_than_info(daemon) == set()
    assert daemon.api.get("/v1/ports/p")["from"] == ["ssh-in", "web"]
    eventually(lambda: all(passes(pair) for pair in ssh), what="both are back")


def test_the_cure_leaves_other_rules_alone(fresh_lab, path, ssh):
    daemon = fresh_lab.daemon(path.host)
    mine = {"rules": [{"id": "ssh", "action": "allow", "src": ["10.1.0.9"], "service": "ssh"}]}
    daemon.apply({"acls": {"ssh-in": mine}, "ports": {"p": {"interface": "h0", "from": ["ssh-in"]}}})
    sgctl_type(daemon, findings(daemon, "ssh_cut")[0]["fix"])
    assert worse_than_info(daemon) == set()
    assert daemon.api.get("/v1/ports/p")["from"] == ["ssh-in-2", "ssh-in"]
    assert daemon.api.get("/v1/acls/ssh-in")["rules"][0]["src"] == ["10.1.0.9"]


def test_ssh_that_is_admitted(fresh_lab, path, ssh):
    daemon = fresh_lab.daemon(path.host)
    acls = {"admin": {"rules": [{"id": "ssh", "action": "allow", "src": ["10.1.0.1", "fd01::1"], "service": "ssh"}]}}
    answer = daemon.apply({"acls": acls, "ports": {"p": {"interface": "h0", "from": ["admin"], "to": []}}})
    assert answer["warnings"] == [] and worse_than_info(daemon) == set()
    assert all(passes(pair) for pair in ssh)
    # Another interface is not its way in.
    answer = daemon.apply({"acls": ACLS, "ports": {"q": {"interface": "h1", "from": []}}})
    assert answer["warnings"] == [] and worse_than_info(daemon) == set()


def test_ssh_answers_are_cut(fresh_lab, path, ssh):
    daemon = fresh_lab.daemon(path.host)
    acls = {"bare": {"rules": [{"id": "ssh", "action": "allow-stateless", "service": "ssh"}]}}
    daemon.apply({"acls": acls, "ports": {"p": {"interface": "h0", "from": ["bare"], "to": []}}})
    assert worse_than_info(daemon) == {("ssh_cut", "p")}
    sgctl_type(daemon, findings(daemon, "ssh_cut")[0]["fix"])
    assert worse_than_info(daemon) == set()
    assert daemon.api.get("/v1/ports/p")["to"] == ["ssh-out"]


def test_ssh_through_a_member_of_a_bridge(fresh_lab):
    path = Path(fresh_lab, is_bridged=True)
    daemon = fresh_lab.daemon(path.host)
    with path.host.entered():
        listener = socket.create_server(("10.1.0.254", 22))
    with path.client.entered():
        client = socket.create_connection(("10.1.0.254", 22), 5)
    with listener, client, listener.accept()[0]:
        daemon.apply({"ports": {"p": {"interface": "h0", "from": []}}})
        assert "another of its bridge" in the(daemon, "ssh_cut", "p", "warning")["message"]
        daemon.apply({"ports": {"b": {"interface": "br0", "from": []}}})
        assert the(daemon, "ssh_cut", "b", "error")["fix"].startswith("echo ")


# ── without a daemon ─────────────────────────────────────────────────────────────────────────────────


def local(daemon, *command):
    done = run(*command, os.path.join(BUILD, "sgctl"), "--socket", daemon.socket, "doctor", "-o", "json", check=False)
    return done.returncode, {f["code"]: f for f in json.loads(done.stdout)["findings"]}


def test_no_daemon(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    status, found = local(daemon)
    assert status == 0 and "socket_missing" not in found
    os.kill(daemon.process.pid, signal.SIGKILL)
    daemon.process.wait()
    status, found = local(daemon)
    assert status == 3 and found["socket_stale"]["severity"] == "error" and "socket_missing" not in found
    os.unlink(daemon.socket)
    status, found = local(daemon)
    assert status == 3 and daemon.socket in found["socket_missing"]["message"]
    assert found["socket_missing"]["fix"].endswith("secgd")
    assert "uid 0" in found["rights"]["message"]


def test_another_socket(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    os.rename(daemon.socket, daemon.socket + "2")
    # Daemons of other networks, such as another test run's, are not meant.
    status, found = local(daemon, "nsenter", f"--net={path.host.path}")
    assert status == 3 and f"(process {daemon.process.pid})" in found["daemon_running"]["message"]
    status, found = local(daemon, "nsenter", f"--net={path.client.path}")
    assert status == 3 and "in this network namespace" in found["daemon_missing"]["message"]
    os.rename(daemon.socket + "2", daemon.socket)


def test_nobody_may_not_read(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    status, found = local(daemon, "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
    assert status == 2 and found["rights"]["severity"] == "error"
    assert "usermod -aG secg-read" in found["rights"]["fix"]
