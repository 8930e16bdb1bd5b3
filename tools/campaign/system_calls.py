"""Makes system calls of this process fail for good, those of libraries in other languages, too: Linux's seccomp."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

# The name of the machine for the kernel, and the numbers of calls: write, pwrite64, writev, pwritev, pwritev2,
# ftruncate, fallocate, sendfile; fsync, fdatasync, msync, sync_file_range.
_MACHINES: dict[str, tuple[int, dict[str, tuple[int, ...]]]] = {
    "x86_64": (0xC000003E, {"writes": (1, 18, 20, 296, 328, 77, 285, 40), "flushes": (74, 75, 26, 277)}),
    "aarch64": (0xC00000B7, {"writes": (64, 68, 66, 70, 287, 46, 47, 71), "flushes": (82, 83, 227, 84)}),
}
KINDS = ("writes", "flushes")
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_LOAD, _EQUAL, _GREATER, _RETURN = 0x20, 0x15, 0x25, 0x06  # of classic BPF
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16  # where the kernel puts them
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_LAST_STANDARD = 2  # standard input, output and error go on working


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def can_fail() -> bool:
    """Whether this system can do it."""
    return sys.platform == "linux" and platform.machine() in _MACHINES


def fail_from_now_on(kind: str, error: int) -> None:
    """Let every call of a kind that concerns a file fail with an error; nothing can undo it."""
    program = _compile(kind, error)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)
    described = _Program(len(program) // 8, program)
    for arguments in (
        (_NO_NEW_PRIVILEGES, 1, 0, 0, 0),
        (_SECCOMP, _FILTER, ctypes.addressof(described), 0, 0),
    ):
        if libc.prctl(*arguments):
            raise OSError(ctypes.get_errno(), f"seccomp: {os.strerror(ctypes.get_errno())}")


def _compile(kind: str, error: int) -> bytes:
    """Return the filter: other machines and other calls pass, and so do the standard streams."""
    machine, calls = _MACHINES[platform.machine()]
    numbers = calls[kind]
    lines = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 0, len(numbers) + 1, machine), (_LOAD, 0, 0, _NUMBER)]
    for place, number in enumerate(numbers):  # to the check of the descriptor, or on; after the last one, pass
        lines.append((_EQUAL, len(numbers) - place, 0, number))
    lines += [(_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, _FIRST_ARGUMENT), (_GREATER, 0, 1, _LAST_STANDARD)]
    lines += [(_RETURN, 0, 0, _ERRNO | error), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)
