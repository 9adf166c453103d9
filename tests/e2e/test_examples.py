# SPDX-License-Identifier: Apache-2.0
"""
The policy files of docs/examples keep what their comments promise: each promise has its traffic here, what is
allowed and what is refused, over IPv4 and IPv6, with real sockets. A promise that is added to a file or taken
away is missed by the first test.

A line is "who sign whom protocol port": `>` gets through and is answered, `!` does not get there. Before a
policy is applied, all lines are tried: then everything gets through, so that what is refused later is
refused by the policy.
"""

import collections
import concurrent.futures
import contextlib
import os
import re
import select
import socket
import threading

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import ICMPv6ND_RA, IPv6
from scapy.layers.l2 import ARP, Ether

import stages
import traffic
from lab import ROOT, Lab, eventually
from traffic import TapDevice, tap


def time_has_no_session(stage):
    assert stage.exchange("db2", "time", "udp", 123, 4).has_reply
    assert not [s for s in stage.daemon.sessions() if s.get("dport") == 123]


def only_time_servers_answer(stage):
    """A datagram from port 123 gets in only from a time server."""
    receiver = stage.actors["web1"]
    for family in (4, 6):
        for actor, is_allowed in ((stage.actors["time"], True), (stage.actors["internet"], False)):
            with traffic.make_socket(receiver.ns, family, socket.SOCK_DGRAM) as ear, \
                    traffic.make_socket(actor.ns, family, socket.SOCK_DGRAM) as mouth:
                ear.bind((receiver.addresses[family], 5000))
                mouth.bind((actor.addresses[family], 123))
                mouth.sendto(b"time", (receiver.addresses[family], 5000))
                assert bool(select.select([ear], [], [], traffic.WAIT_S)[0]) == is_allowed, (family, is_allowed)


def advertisement(ns, interface):
    return Ether(src=ns.link(interface)["address"], dst="33:33:00:00:00:01") / \
        IPv6(src="fe80::1", dst="ff02::1", hlim=255) / ICMPv6ND_RA()


def advertisements_go_one_way(stage):
    """One sent by the gateway, one by who is behind the port."""
    for port, actor in (("lan0", "office"), ("lan1", "server")):
        neighbour = stage.actors[actor].ns
        before = stage.daemon.stats(port)
        with tap(stage.host, port) as here, tap(neighbour, "net0") as there:
            here.send(advertisement(stage.host, port))
            assert there.wait(lambda frame: ICMPv6ND_RA in Ether(frame)), port
            there.send(advertisement(neighbour, "net0"))
        eventually(lambda: stage.daemon.stats(port)["ports"][port]["from"]["dropped"] ==
                   before["ports"][port]["from"]["dropped"] + 1, what=f"{port} drops one")
        assert stage.daemon.stats(port)["infrastructure"]["ra"] == before["infrastructure"]["ra"] + 1


MACHINES = ("web1", "web2", "app1", "app2", "db1", "db2")

THREE_TIER = {
    "anyone outside reaches the web servers by HTTP and HTTPS": [
        "internet > web1 tcp 80", "internet > web2 tcp 443", "app1 ! web1 tcp 443", "admin > web1 tcp 443"],
    "nobody from outside reaches the app or the db servers": [
        "internet ! app1 tcp 8080", "internet ! app2 tcp 443", "internet ! db1 tcp 5432", "internet ! db2 udp 53",
        "admin ! db1 tcp 5432"],
    "web servers reach the app servers on 8080 and nothing else there": [
        "web1 > app1 tcp 8080", "web2 > app1 tcp 8080", "web1 > app2 tcp 8080", "web1 ! app1 tcp 22",
        "web1 ! app1 tcp 8081", "web1 ! app1 udp 8080", "web1 ! app1 icmp"],
    "web servers do not reach the db servers": [
        "web1 ! db1 tcp 5432", "web2 ! db2 tcp 5432", "web1 ! db1 icmp"],
    "app servers reach the db servers by PostgreSQL and nothing else there": [
        "app1 > db1 tcp 5432", "app2 > db2 tcp 5432", "app1 ! db1 tcp 22", "app1 ! db1 udp 5432", "app2 ! db1 icmp"],
    "the db servers replicate to each other": ["db1 > db2 tcp 5432", "db2 > db1 tcp 5432", "db1 ! db2 tcp 22"],
    "machines of the web and the app tier do not reach each other within the tier": [
        "web1 ! web2 tcp 443", "web2 ! web1 icmp", "app1 ! app2 tcp 8080", "app2 ! app1 tcp 5432"],
    "the db servers open nothing towards the other tiers": [
        "db1 ! app1 tcp 8080", "db2 ! web1 tcp 443", "db1 ! app2 tcp 5432", "db1 ! web2 icmp"],
    "administrators reach every machine by SSH and ping, others do not": [
        *(f"admin > {name} tcp 22" for name in MACHINES), *(f"admin > {name} icmp" for name in MACHINES),
        "internet ! web1 tcp 22", "internet ! web1 icmp", "internet ! db1 icmp", "admin ! web1 tcp 23"],
    "every machine asks the resolvers for names and no other server": [
        *(f"{name} > resolver udp 53" for name in MACHINES), "app1 > resolver tcp 53", "web1 ! internet udp 53",
        "db1 ! admin udp 53", "web1 ! resolver tcp 22"],
    "every machine asks the time servers for the time, without a session": [
        *(f"{name} > time udp 123" for name in MACHINES), "web1 ! internet udp 123", "time ! web1 udp 124",
        time_has_no_session, only_time_servers_answer],
    "no machine opens anything towards the internet": [
        *(f"{name} ! internet tcp 443" for name in MACHINES), "web1 ! internet icmp",
        "web1 ! internet tcp 8080", "app1 ! internet tcp 5432", "db1 ! internet tcp 5432"],
}

CONTAINER_HOST = {
    "the world reaches the node ports and nothing else of the host": [
        "internet > node tcp 30080", "internet > node tcp 32767", "internet ! node tcp 22", "internet ! node tcp 29999",
        "internet ! node tcp 9100", "internet ! node udp 30080", "internet ! node icmp", "internet ! host tcp 30080"],
    "the world does not reach a container directly": [
        "internet ! front tcp 8080", "internet ! api tcp 9000", "internet ! cache tcp 6379", "internet ! front tcp 9102",
        "internet ! front tcp 30080", "admin ! front tcp 8080"],
    "the proxy on the host reaches front on 8080": [
        "host > front tcp 8080", "host ! front tcp 8081", "host ! api tcp 9000", "host ! cache tcp 6379"],
    "front calls api, api calls cache, and nobody skips a step": [
        "front > api tcp 9000", "api > cache tcp 6379", "front ! cache tcp 6379", "front ! api tcp 22"],
    "nobody calls backwards": [
        "api ! front tcp 8080", "cache ! api tcp 9000", "cache ! front tcp 8080", "api ! front tcp 443"],
    "monitoring reads the metrics of the host and of every container": [
        "monitoring > node tcp 9100", "monitoring > front tcp 9102", "monitoring > api tcp 9102",
        "monitoring > cache tcp 9102", "monitoring ! node tcp 22", "monitoring ! cache tcp 6379",
        "monitoring ! node tcp 9102"],
    "the containers do not read each other's metrics": [
        "front ! api tcp 9102", "api ! cache tcp 9102", "cache ! front tcp 9102", "host ! api tcp 9102"],
    "administrators reach the host by SSH and ping": [
        "admin > node tcp 22", "admin > node icmp", "admin ! host tcp 22", "admin ! node tcp 9100"],
    "api fetches by HTTPS from the world and asks the resolver for names; no other container does": [
        "api > internet tcp 443", "api > resolver udp 53", "api > resolver tcp 53", "api ! internet tcp 80",
        "api ! internet udp 53", "front ! internet tcp 443", "front ! resolver udp 53", "cache ! internet tcp 443",
        "cache ! resolver udp 53", "api ! internet icmp"],
    "no container reaches a service of the host itself": [
        "front ! host tcp 22", "api ! host tcp 443", "api ! node tcp 443", "cache ! host tcp 30080", "front ! node tcp 30080",
        "api ! host icmp"],
    "the host fetches by HTTPS, asks for names and for the time, and opens nothing else": [
        "node > internet tcp 443", "node > resolver udp 53", "node > internet udp 123", "node ! internet tcp 80",
        "node ! internet udp 53", "node ! internet tcp 22", "host ! internet tcp 443",
        "host ! internet udp 123"],
}

GATEWAY = {
    "the internet reaches the published services of the servers: HTTPS and mail": [
        "internet > server tcp 443", "internet > server tcp 25"],
    "the internet reaches nothing else of the servers, and nothing of the office": [
        "internet ! server tcp 22", "internet ! server tcp 80", "internet ! server udp 443", "internet ! office tcp 443",
        "internet ! office icmp", "internet ! office udp 53", "router1 ! server tcp 179"],
    "the office reaches the web: by HTTP and HTTPS out there, by HTTPS on the servers": [
        "office > internet tcp 80", "office > internet tcp 443", "office > internet udp 443", "office > server tcp 443",
        "office ! server tcp 80", "office ! internet tcp 8080", "office ! gateway-lan0 tcp 22"],
    "the office sends no mail": ["office ! internet tcp 25", "office ! server tcp 25", "office ! internet tcp 587"],
    "the servers deliver mail and fetch by HTTPS, and open nothing towards the office": [
        "server > internet tcp 25", "server > internet tcp 443", "server ! internet tcp 80", "server ! internet icmp",
        "server ! office tcp 443", "server ! office tcp 25", "server ! office icmp"],
    "the gateway answers names for both LANs, not for the internet, and asks the internet itself": [
        "office > gateway-lan0 udp 53", "office > gateway-lan0 tcp 53", "server > gateway-lan1 udp 53",
        "internet ! gateway udp 53", "internet ! gateway tcp 53", "internet ! gateway tcp 443",
        "gateway > internet udp 53", "gateway > internet tcp 53",
        "gateway > internet udp 123", "office ! internet udp 53", "server ! internet udp 53"],
    "nothing leaves, and nothing is taken from the office, under a source address that is not ours": [
        "foreign ! internet tcp 443", "foreign-here ! internet udp 53", "foreign-here ! internet tcp 443",
        "foreign-here ! internet tcp 80", "foreign-here ! internet tcp 25", "foreign-here ! internet icmp",
        "foreign ! gateway-lan0 udp 53", "foreign ! gateway-lan0 icmp", "foreign ! server tcp 443"],
    "either neighbour and the gateway open BGP sessions with each other, and BFD": [
        "router1 > gateway tcp 179", "router2 > gateway tcp 179", "gateway > router1 tcp 179", "gateway > router2 tcp 179",
        "router1 > gateway udp 3784", "gateway > router2 udp 3784"],
    "nobody else speaks BGP with the gateway": [
        "stranger ! gateway tcp 179", "internet ! gateway tcp 179", "gateway ! stranger tcp 179",
        "office ! gateway-lan0 tcp 179", "stranger ! gateway udp 3784", "server ! gateway-lan1 tcp 179"],
    "the gateway and the servers answer to ping, the office only sends it": [
        "internet > gateway icmp", "internet > server icmp", "office > internet icmp", "office > server icmp",
        "office > gateway-lan0 icmp", "internet ! office icmp", "gateway-lan0 ! office icmp"],
    "monitoring in the office reads SNMP and metrics of the gateway, others do not": [
        "monitoring > gateway-lan0 udp 161", "monitoring > gateway-lan0 tcp 9100", "monitoring ! server udp 161",
        "office ! gateway-lan0 udp 161", "office ! gateway-lan0 tcp 9100", "internet ! gateway udp 161",
        "server ! gateway-lan1 tcp 9100"],
    "administrators reach the gateway and the servers by SSH, others do not": [
        "admin > gateway-lan0 tcp 22", "admin > server tcp 22", "office ! gateway-lan0 tcp 22", "office ! server tcp 22",
        "internet ! gateway tcp 22", "server ! gateway-lan1 tcp 22", "admin ! internet tcp 22",
        "gateway-lan1 ! server tcp 22"],
    "router advertisements go out to the LANs and are not taken from them": [advertisements_go_one_way],
}

EXAMPLES = {"three-tier": (stages.three_tier, THREE_TIER), "container-host": (stages.container_host, CONTAINER_HOST),
            "gateway": (stages.gateway, GATEWAY)}


def path_of(example):
    return os.path.join(ROOT, "docs/examples", example + ".yaml")


def promises_in(example):
    with open(path_of(example), encoding="utf-8") as file:
        return re.findall(r"^#   - (.*)$", file.read(), re.MULTILINE)


def take_apart(line):
    source, sign, target, protocol, *port = line.split()
    assert sign in ">!", line
    return source, target, protocol, int(port[0]) if port else None, sign == ">"


def lines_of(promises):
    return dict.fromkeys(line for lines in promises.values() for line in lines if isinstance(line, str))


def exchange_all(stage, lines):
    """(line, family, exchange) of each line and family, several at a time; never two with one listener."""
    busy = collections.defaultdict(threading.Lock)

    def one(item):
        line, family = item
        source, target, protocol, port, _ = take_apart(line)
        with busy[stage.actors[target].ns, protocol, port, family]:
            return line, family, stage.exchange(source, target, protocol, port, family)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(one, [(line, family) for line in lines for family in (4, 6)]))


def set_up(lab, example):
    build, promises = EXAMPLES[example]
    made = build(lab)
    made.promises = promises
    made.daemon = lab.daemon(made.host)
    for line, family, done in exchange_all(made, lines_of(promises)):
        assert done.has_request and done.has_reply, f"IPv{family}, no policy yet: {line}"
    applied = made.daemon.sgctl("apply", "-f", path_of(example))
    assert applied.returncode == 0, applied.stdout + applied.stderr
    for port in made.daemon.api.get("/v1/ports"):
        made.daemon.wait_port(port)
    return made


@pytest.fixture(scope="module")
def made_stages():
    with contextlib.ExitStack() as labs:
        yield labs, {}


@pytest.fixture
def stage(request, made_stages):
    """One for all tests of an example."""
    labs, made = made_stages
    if request.param not in made:
        made[request.param] = set_up(labs.enter_context(Lab()), request.param)
    return made[request.param]


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_promise_is_tried(example):
    promises = EXAMPLES[example][1]
    assert promises_in(example) == list(promises)


@pytest.mark.parametrize("stage, promise", [(example, promise) for example, (_, promises) in EXAMPLES.items()
                                            for promise in promises], indirect=["stage"])
def test_promise(stage, promise):
    lines = stage.promises[promise]
    wrong = []
    for line, family, done in exchange_all(stage, [line for line in lines if isinstance(line, str)]):
        is_allowed = take_apart(line)[-1]
        if (done.has_request, done.has_reply) != (is_allowed, is_allowed):
            wrong.append(f"IPv{family} {line}: {done}")
    assert not wrong, "\n".join(wrong)
    for check in lines:
        if callable(check):
            check(stage)


@pytest.mark.parametrize("stage", EXAMPLES, indirect=True)
def test_every_rule_is_needed(stage):
    """What is allowed is allowed by a rule, and no rule is there for nothing."""
    exchange_all(stage, [line for line in lines_of(stage.promises) if take_apart(line)[-1]])
    hit = {name for name, count in stage.daemon.stats()["rules"].items() if count["packets"]}
    allowing = {f"{acl}/{rule['id']}" for acl, fields in stage.daemon.api.get("/v1/acls").items()
                for rule in fields["rules"] if rule["action"] != "drop"}
    assert allowing <= hit, allowing - hit


def test_three_tier_on_taps(fresh_lab):
    """The interfaces of the hypervisor's file are taps, as a virtual machine has them: what the machine writes
    into its tap is judged, and so is what it reads."""
    host = fresh_lab.namespace("host")
    taps = {name: TapDevice(host, f"tap-{name}") for name in MACHINES}
    fresh_lab.bridge(host, "br0", *(f"tap-{name}" for name in MACHINES))
    daemon = fresh_lab.daemon(host)
    applied = daemon.sgctl("apply", "-f", path_of("three-tier"))
    assert applied.returncode == 0, applied.stdout + applied.stderr
    for name in MACHINES:
        port = daemon.wait_port(name)
        assert (port["hook"], port["mode_to"]) == ("tc", "tcx")
    macs = {name: f"02:00:00:00:00:{i:02x}" for i, name in enumerate(MACHINES, 1)}
    addresses = {name: f"10.20.{i // 2 + 1}.{11 + i % 2}" for i, name in enumerate(MACHINES)}

    def syn(source, target, port):
        return Ether(src=macs[source], dst=macs[target]) / IP(src=addresses[source], dst=addresses[target]) / \
            TCP(sport=1234, dport=port)

    with contextlib.ExitStack() as stack:
        for each in taps.values():
            stack.callback(each.close)
        for name, each in taps.items():  # the bridge learns who is where
            each.write(bytes(Ether(src=macs[name], dst="ff:ff:ff:ff:ff:ff") / ARP(psrc=addresses[name])))
        for source, target, port, is_allowed in (
                ("web1", "app1", 8080, True), ("web1", "app1", 22, False), ("web2", "db1", 5432, False),
                ("app2", "db2", 5432, True), ("db1", "web1", 443, False)):
            frame = bytes(syn(source, target, port))
            taps[source].write(frame)
            assert (frame in taps[target].read(0.3)) == is_allowed, (source, target, port)
        # Judged twice: as it left one machine, and as it reached the other.
        assert daemon.packets("web-from/app") == daemon.packets("app-to/web") == 1
