# SPDX-License-Identifier: Apache-2.0
"""The packet generator of bench/: live frames out of an interface, past the stack of its namespace."""

import json
import os
import subprocess

from lab import BUILD

PROGRAM = os.path.join(BUILD, "bench", "generate")


def _command(device, dst_mac, src, dst, *args):
    return [PROGRAM, "--device", device, "--dst-mac", dst_mac, "--src", src, "--dst", dst, *args]


def generate(ns, device, dst_mac, src, dst, *args):
    """Runs to the end; what it says it sent. The peer of a veth must poll: gro(ns, peer)."""
    return json.loads(ns.run(*_command(device, dst_mac, src, dst, *args)).stdout)


def start(lab, ns, device, dst_mac, src, dst, *args):
    return lab.background(ns, *_command(device, dst_mac, src, dst, *args), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)


def finish(process):
    """Waits for its end; what it says it sent."""
    output, _ = process.communicate(timeout=30)
    return json.loads(output)


def refusal(ns, *args):
    """What it says on stderr when it refuses its arguments."""
    done = ns.run(PROGRAM, *args, check=False)
    assert done.returncode == 2 and not done.stdout, done
    return done.stderr


def gro(ns, interface):
    """Makes a veth's end poll, so that its peer can be sent live frames."""
    ns.run("ethtool", "-K", interface, "gro", "on")
