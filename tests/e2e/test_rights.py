# SPDX-License-Identifier: Apache-2.0
"""Who may read and who may write, by the credentials of the peer, primary and supplementary groups."""

import json
import os
import subprocess

import pytest

from lab import Daemon, run

ADMIN, READER = 64001, 64002  # group ids that the daemon's own /etc/group knows


@pytest.fixture(scope="module")
def guarded(lab):
    """A daemon that sees the two groups, without touching the machine's /etc/group."""
    groups = os.path.join(lab.folder, "group")
    with open("/etc/group", encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith(("secg-admin:", "secg-read:"))]
    with open(groups, "w", encoding="utf-8") as file:
        file.writelines([*lines, f"secg-admin:x:{ADMIN}:\n", f"secg-read:x:{READER}:\n"])

    class Private(Daemon):
        def command(self, *extra):
            return ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                    f'mount --bind {groups} /etc/group && exec "$0" "$@"', *super().command(*extra)]

    daemon = Private(lab, lab.namespace("host"), "rights", ["--max-sessions", "16384", "--ephemeral"])
    lab.daemons.append(daemon)
    daemon.start()
    daemon.apply({"groups": {"g": {"prefixes": ["192.0.2.1"]}}})
    return daemon


def request(daemon, gid, supplementary, method, path, body=None, uid=65534):
    groups = ["--groups", ",".join(map(str, supplementary))] if supplementary else ["--clear-groups"]
    command = ["setpriv", "--reuid", uid, "--regid", gid, *groups, "curl", "-s", "-X", method,
               "--unix-socket", daemon.socket, "-w", "\n%{http_code}", f"http://localhost{path}"]
    if body is not None:
        command += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
    text, status = run(*command, timeout=20).stdout.rsplit("\n", 1)
    return int(status), text


READS = ["/v1/status", "/v1/config", "/v1/groups/g", "/v1/acls", "/v1/sessions", "/v1/stats", "/metrics"]
PEERS = {
    "nobody": (65534, [], 403, 403),
    "reader": (READER, [], 200, 403),
    "reader-supplementary": (65534, [READER], 200, 403),
    "admin": (ADMIN, [], 200, 200),
    "admin-supplementary": (65534, [4, ADMIN, 5], 200, 200),
}


@pytest.mark.parametrize("gid, groups, read, write", PEERS.values(), ids=PEERS.keys())
def test_rights(guarded, gid, groups, read, write):
    assert request(guarded, gid, groups, "GET", "/healthz")[0] == 200
    for path in READS:
        status, text = request(guarded, gid, groups, "GET", path)
        assert status == read, path
        if status == 403:
            assert json.loads(text)["errors"][0]["code"] == "forbidden"
    before = guarded.api.request("GET", "/v1/config").headers["ETag"]
    for method, path, body in (("PUT", "/v1/config", {"groups": {"g": {"prefixes": ["192.0.2.1"]}}}),
                               ("PATCH", "/v1/config", {}),
                               ("PUT", "/v1/groups/g", {"prefixes": ["192.0.2.1"]}),
                               ("DELETE", "/v1/sessions?all=1", None)):
        status, text = request(guarded, gid, groups, method, path, body)
        assert status == write, (method, path, text)
    assert request(guarded, gid, groups, "DELETE", "/v1/groups/absent")[0] == (404 if write == 200 else 403)
    assert guarded.api.request("GET", "/v1/config").headers["ETag"] == before


def test_refused_on_the_headers(guarded):
    """A stranger's body is not waited for: the answer comes although none was sent."""
    script = ("import socket,sys; s=socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(sys.argv[1]);"
              "s.sendall(b'PUT /v1/config HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 50000000\\r\\n\\r\\n');"
              "print(s.recv(100).decode())")
    done = run("setpriv", "--reuid", 65534, "--regid", 65534, "--clear-groups", "/usr/bin/python3", "-c", script,
               guarded.socket, timeout=20)
    assert " 403 " in done.stdout.splitlines()[0]


HOLD = """
import socket, sys
held = []
for i in range(300):
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(sys.argv[1])
    try:
        sock.sendall((b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")[i % 3])
    except ConnectionError:
        pass  # one too many
    held.append(sock)
print("held", flush=True)
sys.stdin.read()
"""


def test_strangers_cannot_lock_writers_out(guarded):
    """One without rights holds all the connections it can get; root and other users still get theirs."""
    command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/bin/python3", "-c", HOLD,
               guarded.socket]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as crowd:
        assert crowd.stdout.readline() == "held\n"
        for _ in range(10):
            guarded.api.put("/v1/groups/g", {"prefixes": ["192.0.2.1"]})
        assert request(guarded, READER, [], "GET", "/v1/status", uid=65533)[0] == 200
        crowd.communicate()
    assert request(guarded, 65534, [], "GET", "/healthz")[0] == 200


def test_socket_is_there_for_everyone(guarded):
    assert os.stat(guarded.socket).st_mode & 0o777 == 0o666
