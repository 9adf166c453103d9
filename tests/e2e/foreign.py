# SPDX-License-Identifier: Apache-2.0
"""Somebody else's BPF programs, loaded and attached through libbpf."""

import ctypes
import os
import socket

from lab import ROOT, run

XDP, TCX_INGRESS, TCX_EGRESS = 37, 46, 47  # enum bpf_attach_type
BEFORE = 1 << 3  # BPF_F_BEFORE


class _LinkOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("flags", ctypes.c_uint32), ("rest", ctypes.c_uint8 * 52)]


class _TcHook(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("ifindex", ctypes.c_int), ("point", ctypes.c_int), ("parent", ctypes.c_uint32)]


class _TcOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("prog_fd", ctypes.c_int), ("flags", ctypes.c_uint32),
                ("prog_id", ctypes.c_uint32), ("handle", ctypes.c_uint32), ("priority", ctypes.c_uint32)]


def _checked(result, _function, _arguments):
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return result


_bpf = ctypes.CDLL("libbpf.so.1", use_errno=True)
_bpf.bpf_object__open_file.restype = ctypes.c_void_p
_bpf.bpf_object__find_program_by_name.restype = ctypes.c_void_p
_bpf.bpf_object__load.errcheck = _checked
_bpf.bpf_link_create.errcheck = _checked
_bpf.bpf_tc_attach.errcheck = _checked
_bpf.bpf_tc_detach.errcheck = _checked


class Foreign:
    def __init__(self, folder):
        target = os.path.join(folder, "foreign.bpf.o")
        include = "/usr/include/" + run("gcc", "-print-multiarch").stdout.strip()
        run("clang", "-O2", "-g", "-target", "bpf", f"-I{include}", "-c",
            os.path.join(ROOT, "tests/e2e/foreign.bpf.c"), "-o", target)
        self.object = ctypes.c_void_p(_bpf.bpf_object__open_file(target.encode(), None))
        if not self.object:
            raise OSError(ctypes.get_errno(), f"cannot open {target}")
        self.links = []
        _bpf.bpf_object__load(self.object)

    def _program(self, name):
        return ctypes.c_void_p(_bpf.bpf_object__find_program_by_name(self.object, name.encode()))

    def number(self, program):
        """The kernel's number of the program, as `bpftool prog` shows it."""
        with open(f"/proc/self/fdinfo/{_bpf.bpf_program__fd(self._program(program))}", encoding="ascii") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("prog_id:"))

    def attach(self, ns, interface, program, kind, flags=0):
        """The link's descriptor; closed, hence detached, by detach()."""
        prog = self._program(program)
        options = _LinkOptions(size=ctypes.sizeof(_LinkOptions), flags=flags)
        with ns.entered():
            link = _bpf.bpf_link_create(_bpf.bpf_program__fd(prog), socket.if_nametoindex(interface), kind,
                                        ctypes.byref(options))
        self.links.append(link)
        return link

    def clsact(self, ns, interface, program, is_attached):
        """
        A filter of priority 1 on the receive side, where a clsact is; the newest of a priority is the first.
        Not with `tc filter`, which leaves folders of its own in the bpffs.
        """
        options = _TcOptions(size=ctypes.sizeof(_TcOptions), handle=1, priority=1)
        with ns.entered():
            hook = _TcHook(size=ctypes.sizeof(_TcHook), ifindex=socket.if_nametoindex(interface), point=1)
            if is_attached:
                options.prog_fd = _bpf.bpf_program__fd(self._program(program))
                _bpf.bpf_tc_attach(ctypes.byref(hook), ctypes.byref(options))
            else:
                _bpf.bpf_tc_detach(ctypes.byref(hook), ctypes.byref(options))

    def detach(self):
        for link in self.links:
            os.close(link)
        self.links = []

    def aim(self, ns, interface):
        """Where foreign_redirect and foreign_peer send packets."""
        fd = _bpf.bpf_object__find_map_fd_by_name(self.object, b"foreign_target")
        with ns.entered():
            key, value = ctypes.c_uint32(0), ctypes.c_uint32(socket.if_nametoindex(interface))
        if _bpf.bpf_map_update_elem(fd, ctypes.byref(key), ctypes.byref(value), ctypes.c_uint64(0)) != 0:
            raise OSError(ctypes.get_errno(), "foreign_target")

    def seen(self):
        fd = _bpf.bpf_object__find_map_fd_by_name(self.object, b"foreign_seen")
        key, value = ctypes.c_uint32(0), ctypes.c_uint64(0)
        if _bpf.bpf_map_lookup_elem(fd, ctypes.byref(key), ctypes.byref(value)) != 0:
            raise OSError(ctypes.get_errno(), "foreign_seen")
        return value.value

    def close(self):
        self.detach()
        _bpf.bpf_object__close(self.object)
