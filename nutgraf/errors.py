"""Every error that a user can cause.

NutgrafError            what went wrong, where, what was expected, what to do next
├── InputError          a file that cannot be read as text: empty, binary, wrong encoding, only one side
├── RecipeError         an unknown key, a value out of range
├── RunError            a run folder that belongs to another run, is damaged, or lacks a step
├── MissingExtraError   an optional part of the package that is not installed
└── LostError           another process that trains the same model, or a worker of a cluster, that is gone

The command line prints the message without a traceback and exits with code 2.
"""

from __future__ import annotations

from ctypes import ArgumentError


class NutgrafError(Exception):
    """The root of all errors with a message meant for the user."""


class InputError(NutgrafError):
    """A file or text that cannot be used as input."""


class RecipeError(NutgrafError):
    """A recipe with an unknown key or an impossible value."""


class RunError(NutgrafError):
    """A run folder that does not hold what was asked of it."""


class MissingExtraError(NutgrafError):
    """An optional part of the package that is not installed."""


class LostError(NutgrafError):
    """A worker of a cluster that is gone; of those that train a model together, all begin again from a checkpoint."""


# What a lack of memory may be raised as, among other things.
LACKING = (MemoryError, RuntimeError, ImportError, ArgumentError)
_LACK = ("allocate memory", "out of memory", "start new thread", "failed to map segment", "bad_alloc", "MemoryError")


def lacks_memory(error: BaseException) -> bool:
    """Whether there is too little memory: torch, threads, ctypes and the loader of libraries raise no MemoryError."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":  # the second is torch's
        return True
    return isinstance(error, LACKING) and any(words in str(error) for words in _LACK)
