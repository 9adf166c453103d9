# SPDX-License-Identifier: Apache-2.0
"""What the kernel counts: a driver's counters, the stack's."""

import re


def nic(ns, interface, pattern):
    """Sum of the driver's counters whose names match."""
    lines = ns.run("ethtool", "-S", interface).stdout.splitlines()
    pairs = [line.strip().rpartition(": ") for line in lines[1:]]
    found = [int(value) for name, _, value in pairs if re.fullmatch(pattern, name)]
    assert found, f"{interface} has no counter {pattern}"
    return sum(found)


def udp(ns):
    """Of the stack, both families."""
    with ns.entered():
        with open("/proc/thread-self/net/snmp", encoding="ascii") as lines:
            names, values = [line.split()[1:] for line in lines if line.startswith("Udp:")]
        with open("/proc/thread-self/net/snmp6", encoding="ascii") as lines:
            v6 = dict(line.split() for line in lines)
    v4 = dict(zip(names, values))
    return {name: int(v4[name]) + int(v6["Udp6" + name]) for name in ("InErrors", "InCsumErrors", "NoPorts")}
