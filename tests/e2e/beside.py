# SPDX-License-Identifier: Apache-2.0
"""What the tests of docs/coexistence.md have in common: a small policy, nftables, what gets through."""

import json

import pytest

import traffic

PORT = 7000
ALLOWED = [PORT, PORT + 2]
ACLS = {"web": {"rules": [{"id": "udp", "action": "allow", "protocol": "udp", "dst_ports": ALLOWED}]}}


def policy(interface="h0", **fields):
    return {"acls": ACLS, "ports": {"p": {"interface": interface, "from": ["web"], "to": [], **fields}}}


def allow(**match):
    return {"rules": [{"id": "a", "action": "allow", "protocol": "udp", **match}]}


def reaches(client, server, address, port=PORT, source=None):
    """(the request arrived, its answer came back)"""
    family = 6 if ":" in address else 4
    result = traffic.udp(client, server, address, family, port, source)
    result.close()
    return result.has_request, result.has_reply


THROUGH, REFUSED = (True, True), (False, False)


def make_link(ns, *words):
    """`ip link add …`, or the test is skipped where the kernel has no such device."""
    done = ns.ip("link", "add", *words, check=False)
    kind = words[words.index("type") + 1]
    if "Unknown device type" in done.stderr:
        pytest.skip(f"this kernel has no {kind} devices")
    assert done.returncode == 0, done.stderr


def nft(ns, rules):
    done = ns.run("nft", "-f", "-", input=rules, check=False)
    if "No such file" in done.stderr or "not supported" in done.stderr:
        pytest.skip(f"this kernel's nftables cannot: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr


def counter(ns, name):
    """Packets of a named counter of nftables."""
    listed = json.loads(ns.run("nft", "-j", "list", "counters").stdout)["nftables"]
    return next(c["counter"]["packets"] for c in listed if c.get("counter", {}).get("name") == name)


def dropped(daemon, port, direction):
    return daemon.stats(port)["ports"][port][direction]["dropped"]


def doctor(daemon, code):
    return [f for f in daemon.api.get("/v1/doctor")["findings"] if f["code"] == code]
