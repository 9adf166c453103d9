# SPDX-License-Identifier: Apache-2.0
"""
Namespaces, links and daemons of one test, under names that no other run uses, all removed by close().

The daemon is started with `nsenter --net`, never with `ip netns exec`: that one mounts a new /sys and
hides the bpffs, and the pins with it.
"""

import contextlib
import ctypes
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

from rest import Rest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build")
BPFFS = "/sys/fs/bpf"

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000
_PR_SET_PDEATHSIG = 1
_serial = itertools.count()


def _setns(fd):
    if _libc.setns(fd, _CLONE_NEWNET) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def run(*command, check=True, **options):
    """Runs a program to its end; its output is in the exception when it fails."""
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, **options)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def eventually(condition, timeout=5.0, what="condition"):
    """Polls until `condition()` is true and returns its value; fails after `timeout` seconds."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {timeout} s: {what}"
        time.sleep(0.02)


def is_bpffs_mounted():
    with open("/proc/self/mountinfo", encoding="ascii") as lines:
        return any(line.split()[4] == BPFFS and " - bpf " in line for line in lines)


class Namespace:
    def __init__(self, name):
        self.name = name
        self.path = f"/run/netns/{name}"
        run("ip", "netns", "add", name)
        self.ip("link", "set", "lo", "up")
        # Addresses are usable at once, and nothing but the tests speaks.
        self.sysctl("net.ipv6.conf.default.accept_dad", 0)
        self.sysctl("net.ipv6.conf.default.router_solicitations", 0)
        self.sysctl("net.ipv4.conf.all.rp_filter", 0)
        self.sysctl("net.ipv4.conf.default.rp_filter", 0)

    def ip(self, *words, check=True):
        return run("ip", "-n", self.name, *words, check=check)

    def run(self, *command, **options):
        """A program inside the namespace, the file systems as outside."""
        return run("nsenter", f"--net={self.path}", *command, **options)

    def popen(self, *command, **options):
        return subprocess.Popen(["nsenter", f"--net={self.path}", *map(str, command)], **options)

    def sysctl(self, name, value):
        with self.entered(), open("/proc/sys/" + name.replace(".", "/"), "w", encoding="ascii") as file:
            file.write(str(value))

    @contextlib.contextmanager
    def entered(self):
        """This thread is inside; sockets made here stay inside after it has left."""
        outside = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        try:
            inside = os.open(self.path, os.O_RDONLY)
            try:
                _setns(inside)
            finally:
                os.close(inside)
            try:
                yield
            finally:
                _setns(outside)
        finally:
            os.close(outside)

    def link(self, name):
        """`ip -d -s -j link show` of one interface; None where there is none."""
        done = self.ip("-d", "-s", "-j", "link", "show", "dev", name, check=False)
        return json.loads(done.stdout)[0] if done.returncode == 0 else None

    def address(self, interface, *prefixes):
        for prefix in prefixes:
            self.ip("addr", "add", prefix, "dev", interface, *(["nodad"] if ":" in prefix else []))


class Daemon:
    """One secgd with folders of its own."""

    def __init__(self, lab, ns, name, args=()):
        self.ns = ns
        self.args = list(args)
        self.folder = os.path.join(lab.folder, name)
        os.makedirs(self.folder)
        self.socket = os.path.join(self.folder, "secgd.sock")
        self.bpffs = f"{BPFFS}/{lab.prefix}{name}"
        self.log_path = os.path.join(self.folder, "log")
        self.process = None
        self.api = Rest(self.socket)

    def command(self, *extra):
        return [
            "nsenter", f"--net={self.ns.path}", os.path.join(BUILD, "secgd"),
            "--socket", self.socket, "--state-dir", os.path.join(self.folder, "state"),
            "--run-dir", os.path.join(self.folder, "run"), "--bpffs", self.bpffs, *extra,
        ]

    def start(self, *extra):
        def die_with_parent():
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.command(*self.args, *extra), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=die_with_parent)
        return self.wait_up()

    def wait_up(self):
        end = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError):
                if self.api.request("GET", "/healthz").status == 200:
                    return self
            assert self.process.poll() is None, f"secgd ended with {self.process.returncode}:\n{self.log()}"
            assert time.monotonic() < end, f"secgd does not answer:\n{self.log()}"
            time.sleep(0.02)

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()[-4000:]

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def stop(self):
        if self.is_running():
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise

    def kill(self):
        self.process.kill()
        self.process.wait()

    def detach_all(self):
        return run(*self.command("--detach-all"))

    def sgctl(self, *args, stdin=None, check=False):
        return run(os.path.join(BUILD, "sgctl"), "--socket", self.socket, *args, check=check, input=stdin)

    # ── the API in words of the tests ──

    def apply(self, policy):
        """Replaces the whole policy; the write answer."""
        return self.api.put("/v1/config", policy)

    def stats(self, port=None):
        return self.api.get("/v1/stats" + (f"?port={port}" if port else ""))

    def sessions(self, query=""):
        return self.api.get("/v1/sessions" + (f"?{query}" if query else ""))["sessions"]

    def port(self, name):
        return self.api.get("/v1/status")["ports"][name]

    def wait_port(self, name, state="guarded", timeout=5):
        return eventually(lambda: (p := self.port(name))["state"] == state and p, timeout,
                          f"port {name} is {state}; {self.port(name)}")

    def packets(self, rule):
        return self.stats()["rules"].get(rule, {"packets": 0})["packets"]


class Lab:
    def __init__(self):
        self.prefix = f"secg-t{os.getpid()}-{next(_serial)}-"
        self.folder = tempfile.mkdtemp(prefix=self.prefix)
        os.chmod(self.folder, 0o755)
        self.namespaces = []
        self.daemons = []
        self.processes = []
        self.has_mounted = not is_bpffs_mounted()
        if self.has_mounted:
            run("mount", "-t", "bpf", "bpf", BPFFS)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.close()

    def namespace(self, name):
        ns = Namespace(self.prefix + name)
        self.namespaces.append(ns)
        return ns

    def veth(self, ns_a, name_a, ns_b, name_b, mtu=None):
        size = ["mtu", mtu] if mtu else []
        ns_a.ip("link", "add", name_a, *size, "type", "veth", "peer", "name", name_b, *size, "netns", ns_b.name)
        ns_a.ip("link", "set", name_a, "up")
        ns_b.ip("link", "set", name_b, "up")

    def bridge(self, ns, name, *ports):
        ns.ip("link", "add", name, "type", "bridge", "mcast_snooping", "0")
        for port in ports:
            ns.ip("link", "set", port, "master", name)
        ns.ip("link", "set", name, "up")

    def daemon(self, ns, name="d", args=("--max-sessions", "16384"), start=True):
        daemon = Daemon(self, ns, name, args)
        self.daemons.append(daemon)
        return daemon.start() if start else daemon

    def background(self, ns, *command, **options):
        process = ns.popen(*command, **options)
        self.processes.append(process)
        return process

    def close(self):
        with contextlib.ExitStack() as stack:  # every step runs, the first failure is raised
            stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
            stack.callback(self._unmount)
            for ns in self.namespaces:
                stack.callback(run, "ip", "netns", "del", ns.name)
            for daemon in self.daemons:
                stack.callback(self._remove, daemon)
            for process in self.processes:
                stack.callback(self._end, process)

    @staticmethod
    def _end(process):
        if process.poll() is None:
            process.kill()
        process.wait()

    @staticmethod
    def _remove(daemon):
        daemon.stop()
        if os.path.exists(daemon.bpffs):
            daemon.detach_all()
        if os.path.isdir(daemon.bpffs):
            shutil.rmtree(daemon.bpffs)

    def _unmount(self):
        # Unmounting ends what is pinned: only if nothing is there but the kernel's own two files.
        if self.has_mounted and is_bpffs_mounted() and set(os.listdir(BPFFS)) <= {"maps.debug", "progs.debug"}:
            run("umount", BPFFS)


class Path:
    """
    client c0 ── h0 host h1 ── s0 server; the host routes, or bridges with `is_bridged`.

    Routed: 10.1.0.0/24 and fd01::/64 on the client's side, 10.2.0.0/24 and fd02::/64 on the server's.
    Bridged: both in 10.1.0.0/24 and fd01::/64. The client is .1 or ::1, the server .2 or ::2, the
    host .254 or ::fe (on the bridge itself where it bridges).
    """

    def __init__(self, lab, is_bridged, mtu=None):
        self.client, self.host, self.server = (lab.namespace(name) for name in ("client", "host", "server"))
        lab.veth(self.client, "c0", self.host, "h0", mtu)
        lab.veth(self.server, "s0", self.host, "h1", mtu)
        server_net = 1 if is_bridged else 2
        self.client_addr = {4: "10.1.0.1", 6: "fd01::1"}
        self.server_addr = {4: f"10.{server_net}.0.2", 6: f"fd0{server_net}::2"}
        self.client.address("c0", "10.1.0.1/24", "fd01::1/64")
        self.server.address("s0", f"10.{server_net}.0.2/24", f"fd0{server_net}::2/64")
        if is_bridged:
            lab.bridge(self.host, "br0", "h0", "h1")
            self.host.address("br0", "10.1.0.254/24", "fd01::fe/64")
            self.host.sysctl("net.bridge.bridge-nf-call-iptables", 0)
            self.host.sysctl("net.bridge.bridge-nf-call-ip6tables", 0)
            self.host.sysctl("net.bridge.bridge-nf-call-arptables", 0)
            return
        self.host.sysctl("net.ipv4.ip_forward", 1)
        self.host.sysctl("net.ipv6.conf.all.forwarding", 1)
        self.host.address("h0", "10.1.0.254/24", "fd01::fe/64")
        self.host.address("h1", "10.2.0.254/24", "fd02::fe/64")
        for ns, net in ((self.client, 1), (self.server, 2)):
            ns.ip("route", "add", "default", "via", f"10.{net}.0.254")
            ns.ip("-6", "route", "add", "default", "via", f"fd0{net}::fe")
