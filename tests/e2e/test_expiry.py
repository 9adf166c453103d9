# SPDX-License-Identifier: Apache-2.0
"""
Sessions that expire: both ends of an idle TCP session are told where the port asks for it, whichever way it
was opened, and nobody where it does not. acl/25
"""

import socket

import pytest

import traffic
from lab import Lab, Path, eventually

ACLS = {"open": {"rules": [{"id": "tcp", "action": "allow", "protocol": "tcp"}]}}
WAIT_S = 15  # the timeout, a second of grace, and a round of the sweep


@pytest.fixture(scope="module", params=["routed", "bridged"])
def way(request):
    with Lab() as lab:
        path = Path(lab, is_bridged=request.param == "bridged")
        yield path, lab.daemon(path.host)


def ends_of(way, family, interface, direction, **fields):
    """An open TCP connection from client to server, and the session that lets it pass."""
    path, daemon = way
    daemon.apply({"acls": ACLS, "ports": {"p": {
        "interface": interface, direction: "open", {"from": "to", "to": "from"}[direction]: [],
        "timeouts": {"tcp_established": 2}, **fields}}})
    daemon.api.delete("/v1/sessions?all=1")
    result = traffic.tcp(path.client, path.server, path.server_addr[family], family)
    assert result.has_reply, daemon.stats()["reasons"]
    sender, _, accepted = result.sockets
    return result, sender, accepted


def resets(daemon):
    [line] = [line for line in daemon.api.request("GET", "/metrics").raw.decode().splitlines()
              if line.startswith("secg_resets_total ")]
    return int(line.split()[1])


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("interface, direction", [("h0", "from"), ("h1", "to")])
def test_both_ends_of_an_expired_session_are_reset(way, family, interface, direction):
    """acl/25"""
    _, daemon = way
    before = resets(daemon)
    result, sender, accepted = ends_of(way, family, interface, direction, reset_on_expiry=True)
    for end in (sender, accepted):
        end.settimeout(WAIT_S)
        with pytest.raises(ConnectionResetError):
            end.recv(1)
    assert resets(daemon) == before + 2
    result.close()


def test_the_host_as_an_end_is_reset_too(way):
    path, daemon = way
    daemon.apply({"acls": ACLS, "ports": {"p": {"interface": "h0", "from": "open", "to": [], "reset_on_expiry": True,
                                                "timeouts": {"tcp_established": 2}}}})
    result = traffic.tcp(path.client, path.host, "10.1.0.254")
    assert result.has_reply
    sender, _, accepted = result.sockets
    for end in (sender, accepted):
        end.settimeout(WAIT_S)
        with pytest.raises(ConnectionResetError):
            end.recv(1)
    result.close()


def test_nobody_is_told_where_it_is_not_asked_for(way):
    _, daemon = way
    before = resets(daemon)
    result, sender, accepted = ends_of(way, 4, "h0", "from")
    eventually(lambda: not daemon.sessions(), WAIT_S, "the session has expired")
    for end in (sender, accepted):
        end.settimeout(traffic.WAIT_S)
        with pytest.raises(socket.timeout):
            end.recv(1)
    assert resets(daemon) == before
    result.close()
