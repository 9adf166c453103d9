# SPDX-License-Identifier: Apache-2.0
"""Policy, sessions and counters outlive the daemon; nothing outlives --detach-all."""

import os
import subprocess

import pytest

import traffic
from lab import BPFFS, Path, eventually, run

PORT = 7200
ACLS = {"web": {"rules": [
    {"id": "tcp", "action": "allow", "protocol": "tcp", "dst_ports": [PORT]},
    {"id": "udp", "action": "allow", "protocol": "udp", "dst_ports": [PORT]}]}}


@pytest.fixture
def path(fresh_lab):
    return Path(fresh_lab, is_bridged=False)


def policy(hook="auto", **more):
    return {"acls": ACLS, "ports": {"p": {"interface": "h0", "hook": hook, "from": ["web"], "to": []}, **more}}


def is_open(path, port, send=traffic.udp):
    result = send(path.client, path.server, path.server_addr[4], 4, port)
    result.close()
    return result.has_request


@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_killed_and_started_again(fresh_lab, path, hook):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy(hook))
    connection = traffic.tcp(path.client, path.server, path.server_addr[4], 4, PORT)
    assert connection.has_reply
    [session] = daemon.sessions()
    counted = daemon.packets("web/tcp")
    generation = daemon.api.get("/v1/status")["generation"]
    etag = daemon.api.request("GET", "/v1/config").headers["ETag"]

    daemon.kill()
    # Nobody is there, the kernel filters on: the session lives, a new one opens, the rest is refused.
    traffic.talk(connection, b"while down")
    assert connection.has_reply
    assert is_open(path, PORT) and not is_open(path, PORT + 1)

    daemon.start()
    assert daemon.port("p")["state"] == "guarded" and daemon.port("p")["hook"] == hook
    assert daemon.api.get("/v1/status")["generation"] == generation
    assert daemon.api.request("GET", "/v1/config").headers["ETag"] == etag
    after = {s["proto"]: s for s in daemon.sessions()}
    assert set(after) == {"tcp", "udp"}
    assert after["tcp"]["sport"] == session["sport"] and after["tcp"]["state"] == "established"
    assert after["tcp"]["rule"] == "web/tcp"
    assert after["tcp"]["orig"]["packets"] > session["orig"]["packets"]
    assert daemon.packets("web/tcp") > counted
    assert daemon.packets("web/udp") == 2
    assert daemon.stats("p")["reasons"]["default"] == 1
    traffic.talk(connection, b"back again")
    assert connection.has_reply
    assert is_open(path, PORT) and not is_open(path, PORT + 1)
    connection.close()
    # And it still takes changes.
    daemon.apply({"acls": {"web": {"rules": []}}, "ports": policy(hook)["ports"]})
    assert not is_open(path, PORT)


def test_never_open_while_restarting(fresh_lab, path):
    """A refused packet does not pass at any moment of ten kills and starts."""
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy("xdp"))
    listener = traffic.make_socket(path.server, 4, traffic.socket.SOCK_DGRAM)
    listener.bind((path.server_addr[4], PORT + 1))
    listener.setblocking(False)
    sender = traffic.make_socket(path.client, 4, traffic.socket.SOCK_DGRAM)
    sender.connect((path.server_addr[4], PORT + 1))
    sent = 0
    for _ in range(10):
        daemon.kill()
        sender.send(b"x")
        process = subprocess.Popen(daemon.command(*daemon.args), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        daemon.process = process
        sent += 1

        def is_up():
            nonlocal sent
            for _ in range(20):
                sender.send(b"x")
            sent += 20
            try:
                return daemon.api.request("GET", "/healthz").status == 200
            except OSError:
                return False

        eventually(is_up, 20, "the daemon answers")
    with pytest.raises(BlockingIOError):
        listener.recv(64)
    assert daemon.stats("p")["reasons"]["default"] == sent
    sender.close()
    listener.close()


def test_stopped_in_order_keeps_filtering(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy())
    daemon.stop()
    assert daemon.process.returncode == 0
    assert is_open(path, PORT) and not is_open(path, PORT + 1)
    daemon.start()
    assert daemon.port("p")["state"] == "guarded"


def test_severed_pin(fresh_lab, path):
    """The interface went while the daemon was away, and came back under its name."""
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy("xdp"))
    daemon.kill()
    path.host.ip("link", "del", "h0")
    fresh_lab.veth(path.client, "c0", path.host, "h0")
    path.client.address("c0", "10.1.0.1/24")
    path.host.address("h0", "10.1.0.254/24")
    path.client.ip("route", "add", "default", "via", "10.1.0.254")
    daemon.start()
    port = daemon.wait_port("p")
    assert port["hook"] == "xdp"
    assert is_open(path, PORT) and not is_open(path, PORT + 1)


def test_port_that_left_the_policy_while_away_stays_out(fresh_lab, path):
    """State and pins disagree after a crash between the two: the stored policy holds."""
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy(q={"interface": "h1", "from": [], "to": []}))
    daemon.api.delete("/v1/ports/q")
    daemon.kill()
    daemon.start()
    assert set(daemon.api.get("/v1/status")["ports"]) == {"p"}
    assert is_open(path, PORT)


def test_two_daemons_side_by_side(fresh_lab):
    one, two = Path(fresh_lab, False), None
    fresh_lab.prefix += "b"
    two = Path(fresh_lab, False)
    first, second = fresh_lab.daemon(one.host, "one"), fresh_lab.daemon(two.host, "two")
    first.apply(policy())
    second.apply({"acls": {"web": {"rules": [{"id": "r", "action": "allow", "protocol": "udp",
                                              "dst_ports": [PORT + 1]}]}}, "ports": policy()["ports"]})
    assert is_open(one, PORT) and not is_open(one, PORT + 1)
    assert is_open(two, PORT + 1) and not is_open(two, PORT)
    assert len(first.sessions()) == 1 and len(second.sessions()) == 1
    first.stop()
    first.detach_all()
    assert is_open(one, PORT + 1)
    assert is_open(two, PORT + 1) and not is_open(two, PORT)
    assert second.port("p")["state"] == "guarded"


def test_second_daemon_on_the_same_folders_is_refused(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy())
    again = run(*daemon.command(), check=False, timeout=20)
    assert again.returncode != 0 and again.stderr.strip()
    assert daemon.port("p")["state"] == "guarded"
    assert is_open(path, PORT) and not is_open(path, PORT + 1)


def test_ephemeral(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host, args=["--max-sessions", "16384", "--ephemeral"])
    daemon.apply(policy())
    assert is_open(path, PORT) and not is_open(path, PORT + 1)
    assert not os.path.exists(daemon.bpffs)
    daemon.kill()
    eventually(lambda: is_open(path, PORT + 1), 5, "programs go with their process")
    daemon.start()
    daemon.stop()
    with open(daemon.log_path, encoding="utf-8") as log:
        text = log.read()
    assert "loading the data path" in text and "nothing is pinned" in text and "goes on filtering" not in text


def test_private_mount_namespace_is_refused(fresh_lab, path):
    """Pins in a bpffs that ends with the process's mount namespace would take the policy with them."""
    daemon = fresh_lab.daemon(path.host, start=False)
    private = ["unshare", "--mount", "--propagation", "private"]
    command = " ".join(daemon.command())
    refused = run(*private, "sh", "-c", f"while umount -l {BPFFS} 2>&-; do :; done; exec {command}", check=False, timeout=20)
    assert refused.returncode != 0
    assert "--ephemeral" in refused.stderr
    # With the host's own bpffs in sight there is nothing to fear.
    daemon.process = subprocess.Popen([*private, *daemon.command()], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    daemon.wait_up()
    daemon.apply(policy())
    daemon.kill()
    assert is_open(path, PORT) and not is_open(path, PORT + 1)


@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_detach_all_leaves_nothing(fresh_lab, path, hook):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy(hook, q={"interface": "h1", "hook": hook, "from": [], "to": []}))
    assert not is_open(path, PORT + 1)
    tags = {value for port in ("p", "q") for key, value in daemon.port(port).items() if key.startswith("prog_tag")}
    assert tags
    daemon.stop()
    assert os.path.isdir(daemon.bpffs)
    assert daemon.detach_all().stderr == "", "libbpf has nothing to say to the user"
    assert is_open(path, PORT + 1)
    assert not os.path.exists(daemon.bpffs)
    assert "xdp" not in path.host.link("h0") and "xdp" not in path.host.link("h1")
    daemon.detach_all()  # once more is no error


def test_other_session_size_is_told_and_kept(fresh_lab, path):
    daemon = fresh_lab.daemon(path.host)
    daemon.apply(policy())
    size = daemon.api.get("/v1/status")["sessions"]["max"]
    assert is_open(path, PORT)
    daemon.kill()
    daemon.args = ["--max-sessions", "65536"]
    daemon.start()
    assert daemon.api.get("/v1/status")["sessions"]["max"] == size
    assert len(daemon.sessions()) == 1
    assert "keeps its size" in daemon.log()
