"""The restrictions of Scripts/deploy/throng.service for a process that this machine's systemd does not start:
its system calls, address families, memory, /proc, user and umask, as the kernel enforces them.

Usage: python confined.py UNIT DATA_DIR COMMAND…   (as root)"""
import ctypes
import os
import re
import resource
import subprocess
import sys

ALLOW, ERRNO, EPERM = 0x7FFF0000, 0x00050000, 1
EQUAL, MASKED_EQUAL = 4, 7
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}
PROT_WRITE, PROT_EXEC = 2, 4
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
NOBODY = 65534


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("first", ctypes.c_uint64), ("second", ctypes.c_uint64)]


def unit_options(path):
    """The options of [Service], each with its last value."""
    with open(path) as file:
        return dict(re.findall(r"^([A-Za-z]+)=(.*)$", file.read(), re.M))


def calls_of(filters):
    """The system calls behind names such as @system-service."""
    found, waiting = set(), list(filters)
    while waiting:
        name = waiting.pop()
        if not name.startswith("@"):
            found.add(name)
            continue
        listed = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", name], check=True, capture_output=True, text=True)
        waiting += [line.strip() for line in listed.stdout.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
    return found


def filter_calls(options):
    library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ERRNO | EPERM))

    def rule(action, name, *comparisons):
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number < 0:
            return  # a call of another architecture
        array = (Comparison * len(comparisons))(*comparisons)
        code = library.seccomp_rule_add_array(context, ctypes.c_uint32(action), number, len(comparisons), array)
        assert code == 0, (name, code)
    assert options["SystemCallErrorNumber"] == "EPERM" and options["MemoryDenyWriteExecute"] == "yes"
    calls = calls_of(options["SystemCallFilter"].split())
    for name in calls - {"socket", "mmap", "mprotect", "pkey_mprotect", "shmat"}:
        rule(ALLOW, name)
    for family in options["RestrictAddressFamilies"].split():
        rule(ALLOW, "socket", Comparison(0, EQUAL, FAMILIES[family], 0))
    # MemoryDenyWriteExecute: no mapping is both, and none becomes executable later.
    rule(ALLOW, "mmap", Comparison(2, MASKED_EQUAL, PROT_EXEC, 0))
    rule(ALLOW, "mmap", Comparison(2, MASKED_EQUAL, PROT_EXEC | PROT_WRITE, PROT_EXEC))
    rule(ALLOW, "mprotect", Comparison(2, MASKED_EQUAL, PROT_EXEC, 0))
    # For the exec of the program itself.
    rule(ALLOW, "execve")
    assert library.seccomp_load(context) == 0


def main(unit, data_dir, *command):
    options = unit_options(unit)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.unshare(CLONE_NEWNS) == 0
    assert libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) == 0
    # ProcSubset=pid and ProtectProc=invisible.
    subset = f"subset={options['ProcSubset']},hidepid={options['ProtectProc']}".encode()
    assert libc.mount(b"proc", b"/proc", b"proc", 0, subset) == 0, os.strerror(ctypes.get_errno())
    # systemd may raise the hard limit; this process need not.
    limit = min(int(options["LimitNOFILE"]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    os.chown(data_dir, NOBODY, NOBODY)
    os.umask(int(options["UMask"], 8))
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    os.environ["LD_BIND_NOW"] = "1"
    filter_calls(options)
    os.execv(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
