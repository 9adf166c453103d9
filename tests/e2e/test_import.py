# SPDX-License-Identifier: Apache-2.0
"""sgctl import: what other tools show becomes this policy and this list of what is left, to the letter."""

import json
import os
import random
import subprocess

import pytest
import yaml

from lab import BUILD

SGCTL = os.path.join(BUILD, "sgctl")
FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "import")
OVN = ["ovn/ACL.json", "ovn/Port_Group.json", "ovn/Address_Set.json", "ovn/Logical_Switch.json",
       "ovn/Logical_Switch_Port.json", "ovn/Meter.json", "ovn/Meter_Band.json"]
SHOWN = ["vpp/show-acl.txt", "vpp/show-interface-acls.txt", "vpp/show-macip.txt", "vpp/show-macip-interface.txt"]
CASES = {
    "neutron-api": ["neutron", "neutron/security-groups.json", "neutron/security-group-rules-bulk.json",
                    "neutron/port-address-pairs.json", "neutron/address-groups.json"],
    "neutron-client": ["neutron", "neutron/client-groups.json", "neutron/client-rules.json",
                       "neutron/address-groups.json"],
    "ovn": ["ovn", *OVN],
    "ovn-interfaces": ["ovn", *OVN, "ovn/Interface.json"],
    "ovn-tiers": ["ovn", "ovn/tiers.json", "--map", "vm1=tap7"],
    "vpp-commands": ["vpp", "vpp/usecase-stateful.txt", "--map", "1=eth1", "--map", "2=eth2"],
    "vpp-shown": ["vpp", *SHOWN, "--map", "1=tap1", "--map", "2=tap2"],
    "vpp-agent": ["vpp", "vpp/agent-test.txt"],
    "vpp-dump": ["vpp", "vpp/acl-dump.txt", "--map", "1=tap1"],
}


def run(*words, **options):
    return subprocess.run([SGCTL, "import", *words], cwd=FIXTURES, capture_output=True, text=True, check=False,
                          timeout=60, **options)


def expected(name):
    with open(os.path.join(FIXTURES, "expected", name), encoding="utf-8") as file:
        return file.read()


@pytest.mark.parametrize("case", CASES)
def test_becomes_this_policy_and_leaves_this(case):
    done = run(*CASES[case])
    assert done.stdout == expected(case + ".policy")
    assert done.stderr == expected(case + ".left")
    assert done.returncode == (1 if done.stderr else 0)


@pytest.mark.parametrize("case", CASES)
def test_the_policy_is_one_that_the_daemon_takes(case, daemon):
    policy = run(*CASES[case]).stdout
    done = daemon.sgctl("apply", "-f", "-", "--dry-run", "--replace", stdin=policy)
    assert done.returncode == 1, done.stderr
    assert set(yaml.safe_load(policy)) <= {"schema", "groups", "security_groups", "acls", "macip", "ports"}


def test_one_file_may_hold_all_tables():
    text = "".join(open(os.path.join(FIXTURES, path), encoding="utf-8").read() for path in OVN)
    done = run("ovn", "-", input=text)
    assert done.stdout == expected("ovn.policy")
    assert done.stderr.splitlines()[0].startswith("<stdin>:")
    assert len(done.stderr.splitlines()) == len(expected("ovn.left").splitlines())


def verdict(daemon, port, direction, *words):
    done = daemon.sgctl("trace", "-o", "json", "--port", port, direction, *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["verdict"]


def test_tiers_of_ovn_decide_as_there(daemon):
    """OVN: 10/8 is passed to the tenant's tier, 203.0.113/24 is dropped before it, what is outside both passes."""
    policy = run("ovn", "ovn/tiers.json", "--map", "vm1=h0").stdout
    daemon.sgctl("apply", "--replace", "-f", "-", stdin=policy, check=True)
    asked = {source: [verdict(daemon, "vm1", "--to", "tcp", f"{source}:999", f"10.0.0.11:{port}") for port in (443, 80)]
             for source in ("10.1.1.1", "203.0.113.5", "192.0.2.1")}
    assert asked == {"10.1.1.1": ["pass", "drop"], "203.0.113.5": ["drop", "drop"], "192.0.2.1": ["pass", "drop"]}
    assert verdict(daemon, "vm1", "--from", "tcp", "10.0.0.11:999", "203.0.113.5:80") == "pass"


def northbound(acls, ports, groups=(), options=None):
    """Tables as ovn-nbctl lists them: acls (id, owner, direction, priority, match, action, tier), ports by name."""
    def refs(ids):
        return ["set", [["uuid", i] for i in ids]]

    def owned(owner):
        return refs(acl[0] for acl in acls if acl[1] == owner)

    tables = [
        (["_uuid", "action", "direction", "match", "priority", "tier"],
         [[["uuid", i], action, direction, match, priority, tier]
          for i, _, direction, priority, match, action, tier in acls]),
        (["_uuid", "acls", "name", "other_config", "ports"],
         [[["uuid", "s"], owned("sw"), "sw", ["map", []], refs(name for name in ports)]]),
        (["_uuid", "addresses", "enabled", "name", "parent_name", "port_security", "type"],
         [[["uuid", name], ["set", []], port.get("enabled", ["set", []]), name, port.get("parent", ["set", []]),
           ["set", []], ""] for name, port in ports.items()]),
        (["_uuid", "acls", "name", "ports"],
         [[["uuid", name], owned(name), name, refs(ports)] for name in groups]),
        (["connections", "nb_cfg", "options"], [[["set", []], 0, ["map", list((options or {}).items())]]]),
    ]
    return "".join(json.dumps({"headings": headings, "data": data}) for headings, data in tables)


def test_a_tier_with_pass_is_one_list():
    """`pass` leaves all ACLs of its tier in OVN, whoever they belong to, and one list here."""
    acls = [("a", "sw", "to-lport", 20, "ip4.src == 10.0.0.0/8", "pass", 0), ("b", "g", "to-lport", 10, "ip4", "drop", 0),
            ("c", "g", "to-lport", 20, "tcp", "allow-related", 1), ("d", "sw", "to-lport", 10, "ip4", "drop", 1)]
    done = run("ovn", input=northbound(acls, {"vm1": {}}, ["g"]))
    assert (done.returncode, done.stderr) == (0, "")
    policy = yaml.safe_load(done.stdout)
    assert policy["ports"]["vm1"]["to"] == ["sw.g-to", "g-to-tier1", "sw-to-tier1", "ovn-default"]
    assert [rule["action"] for rule in policy["acls"]["sw.g-to"]["rules"]] == ["pass", "drop"]


def test_default_drop_and_closed_ports_of_ovn():
    acls = [("a", "sw", "to-lport", 1, "tcp", "allow", 0)]
    ports = {"vm1": {}, "off": {"enabled": False}, "child": {"parent": "vm1"}}
    done = run("ovn", input=northbound(acls, ports, options={"default_acl_drop": "true"}))
    policy = yaml.safe_load(done.stdout)
    assert policy["acls"] == {"sw-to": {"rules": [{"id": "acl-a", "action": "allow-stateless", "protocol": ["tcp"]}]}}
    assert policy["ports"] == {"vm1": {"interface": "vm1", "to": ["sw-to"]},
                               "off": {"interface": "off", "from": [], "to": []}}
    assert done.returncode == 1 and "port child: is inside port vm1 by a tag" in done.stderr


def test_words_of_neutron_are_turned_round(daemon):
    """Neutron: ingress goes to the instance."""
    rules = [{"id": "in", "direction": "ingress", "ethertype": "IPv4", "security_group_id": "g", "protocol": "tcp",
              "port_range_min": 80, "port_range_max": 80},
             {"id": "out", "direction": "egress", "ethertype": "IPv4", "security_group_id": "g", "protocol": "udp",
              "remote_ip_prefix": "192.0.2.53/32"}]
    answer = {"security_groups": [{"id": "g", "name": "web", "security_group_rules": rules}],
              "ports": [{"id": "p", "name": "vm", "security_groups": ["g"]}]}
    done = run("neutron", "--map", "p=h0", input=json.dumps(answer))
    assert (done.returncode, done.stderr) == (0, "")
    daemon.sgctl("apply", "--replace", "-f", "-", stdin=done.stdout, check=True)
    assert verdict(daemon, "vm", "--to", "tcp", "192.0.2.9:999", "10.0.0.1:80") == "pass"
    assert verdict(daemon, "vm", "--from", "tcp", "10.0.0.1:999", "192.0.2.9:80") == "drop"
    assert verdict(daemon, "vm", "--from", "udp", "10.0.0.1:999", "192.0.2.53:53") == "pass"
    assert verdict(daemon, "vm", "--to", "udp", "192.0.2.53:999", "10.0.0.1:53") == "drop"


def test_input_of_vpp_comes_from_the_interface(daemon):
    policy = run("vpp", "vpp/agent-test.txt", "-", "--map", "1=h0",
                 input="sw_if_index 1:\n  input acl(s): 2\n  output acl(s): 1\n").stdout
    daemon.sgctl("apply", "--replace", "-f", "-", stdin=policy, check=True)
    assert verdict(daemon, "h0", "--from", "tcp", "192.168.1.2:999", "10.10.10.10:80") == "drop"
    assert verdict(daemon, "h0", "--from", "tcp", "192.168.1.2:999", "10.10.10.10:8080") == "pass"
    assert verdict(daemon, "h0", "--to", "udp", "192.168.1.2:999", "10.10.10.10:9000") == "drop"
    assert verdict(daemon, "h0", "--to", "tcp", "192.168.1.2:999", "10.10.10.10:80") == "pass"


PORTS = {
    "security_groups": [{"id": "g1", "name": "Web Tier", "stateful": False, "security_group_rules": [
        {"id": "r1", "direction": "ingress", "ethertype": "IPv4", "security_group_id": "g1", "remote_group_id": "g1"}]}],
    "ports": [
        {"id": "11111111-2222-3333-4444-555555555555", "mac_address": "FA:16:3E:00:00:01", "binding:host_id": "here",
         "fixed_ips": [{"ip_address": "10.0.0.1"}], "security_groups": ["g1"],
         "allowed_address_pairs": [{"ip_address": "10.9.0.0/24"}, {"ip_address": "10.0.0.9", "mac_address":
                                                                   "00:00:5e:00:01:07"}]},
        {"id": "22222222-2222-3333-4444-555555555555", "mac_address": "fa:16:3e:00:00:02", "binding:host_id": "there",
         "fixed_ips": [{"ip_address": "10.0.0.2"}], "security_groups": ["g1"]},
        {"id": "33333333-2222-3333-4444-555555555555", "mac_address": "fa:16:3e:00:00:03", "binding:host_id": "here",
         "fixed_ips": [], "security_groups": [], "port_security_enabled": False},
        {"id": "44444444-2222-3333-4444-555555555555", "mac_address": "fa:16:3e:00:00:04", "binding:host_id": "here",
         "fixed_ips": [{"ip_address": "10.0.0.4"}], "security_groups": []},
        {"id": "router", "device_owner": "network:router_interface", "mac_address": "fa:16:3e:00:00:05"},
    ]}


def test_neutron_ports_of_other_hosts_are_addresses():
    done = run("neutron", "--host", "here", "--map", "33333333-2222-3333-4444-555555555555=veth3",
               input=json.dumps(PORTS))
    assert (done.returncode, done.stderr) == (0, "")
    policy = yaml.safe_load(done.stdout)
    assert policy["groups"] == {"web-tier-elsewhere": {"prefixes": ["10.0.0.2"]}}
    group = policy["security_groups"]["web-tier"]
    assert group["stateful"] is False
    assert group["rules"] == [{"id": "r1", "direction": "to", "family": "ipv4",
                               "remote": ["@web-tier", "@web-tier-elsewhere"]}]
    ports = {port["interface"]: port for port in policy["ports"].values()}
    assert sorted(ports) == ["tap11111111-22", "tap44444444-22", "veth3"]
    first = ports["tap11111111-22"]
    assert first["security_groups"] == ["web-tier"] and "anti_spoof" not in first
    assert first["addresses"] == [{"mac": "fa:16:3e:00:00:01", "ips": ["10.0.0.1", "10.9.0.0/24"]},
                                  {"mac": "00:00:5e:00:01:07", "ips": ["10.0.0.9"]}]
    assert ports["veth3"]["anti_spoof"] is False and "to" not in ports["veth3"]
    closed = ports["tap44444444-22"]
    assert (closed["from"], closed["to"]) == ([], []), "port security without a group lets nothing through"


def test_json_says_the_same_as_yaml():
    done = run(*CASES["neutron-api"], "-o", "json")
    assert yaml.safe_load(done.stdout) == yaml.safe_load(expected("neutron-api.policy"))


@pytest.mark.parametrize("kind, text, told", [
    ("neutron", "", "<stdin>: is empty"),
    ("neutron", "{\n  \"security_groups\": [\n", "<stdin>:"),
    ("neutron", "\n\n{\"ports\": 3}", "<stdin>:3:2: ports: must be a list"),
    ("neutron", "{\"ports\": [{}]}", "<stdin>:1:12: ports[0]: must be an object with an id"),
    ("neutron", "{\"cats\": []}", "<stdin>: holds none of security_groups"),
    ("neutron", "{\"security_group_rules\":\n[{\"id\": \"a\", \"security_group_id\": \"b\"}]}",
     "<stdin>:2:2: security_group_rules[0]: needs a direction"),
    ("neutron", "[{\"ID\": \"a\", \"Direction\": \"ingress\", \"IP Protocol\": null}]",
     "<stdin>:1:2: [0]: does not show the security group of each rule"),
    ("ovn", "[]", "<stdin>: is no table of ovn-nbctl"),
    ("ovn", "{\"headings\": [\"name\", \"addresses\"], \"data\": [[\"x\"]]}",
     "<stdin>:1:46: data[0]: has another number of columns"),
    ("ovn", "{\"headings\": [\"a\"], \"data\": []}", "no file shows the table ACL"),
    ("vpp", "vpp# show acl-plugin acl\nWhat?\n", "<stdin>:2:1: is nothing that VPP shows"),
    ("vpp", "acl-index 0 count 1 tag {}\n 0: ipv4 permit src 10.0.0.0/33 dst 0.0.0.0/0 proto 0\n",
     "<stdin>:2:1: '10.0.0.0/33' is no prefix of its family"),
    ("vpp", "acl-index 0 count 1 tag {}\n 0: ipv4 permit src ::/0\n", "<stdin>:2:1: '::/0' is no prefix of its family"),
    ("vpp", "acl-index 0 count 1 tag {}\n 0: ipv4 allow src 0.0.0.0/0\n", "<stdin>:2:1: 'allow' is not a word"),
])
def test_what_cannot_be_read_is_refused_with_its_place(kind, text, told):
    done = run(kind, input=text)
    assert done.returncode == 2 and done.stdout == ""
    assert told in done.stderr, done.stderr


@pytest.mark.parametrize("words, told", [
    (["nova"], "cannot import 'nova'"),
    ([], "import what?"),
    (["ovn", "--map", "vm1"], "--map takes NAME=INTERFACE"),
    (["ovn", "/nonexistent"], "/nonexistent: No such file"),
    (["ovn", "-", "-"], "stdin can be read only once"),
])
def test_misuse_is_told(words, told):
    done = run(*words, input="{}")
    assert done.returncode == 2 and told in done.stderr and done.stdout == ""


@pytest.mark.parametrize("case", CASES)
def test_damaged_files_end_in_words(case, tmp_path):
    """Cut, turned and doubled bytes: a policy or a refusal, never a crash."""
    chance = random.Random(case)
    words = list(CASES[case])
    paths = [i for i, word in enumerate(words) if os.path.exists(os.path.join(FIXTURES, word)) and "/" in word]
    for number in range(25):
        index = chance.choice(paths)
        with open(os.path.join(FIXTURES, words[index]), "rb") as file:
            content = bytearray(file.read())
        for _ in range(chance.choice((1, 1, 3, 10))):
            at = chance.randrange(len(content))
            how = chance.randrange(4)
            if how == 0:
                del content[at:]
            elif how == 1:
                content[at] = chance.randrange(256)
            elif how == 2:
                content[at:at] = content[at:at + chance.randrange(1, 40)]
            else:
                del content[at:at + chance.randrange(1, 40)]
            content = content or bytearray(b"x")
        damaged = tmp_path / f"{number}"
        damaged.write_bytes(content)
        done = run(*words[:index], str(damaged), *words[index + 1:], errors="replace")
        assert done.returncode in (0, 1, 2), (number, done)
        assert (done.returncode == 2) == (done.stdout == ""), (number, done)
