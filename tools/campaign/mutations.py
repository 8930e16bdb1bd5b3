"""Damage to bytes, texts and JSON, from what a disk does to what a stranger writes."""

from __future__ import annotations

import json
from random import Random
from typing import Any

ODD_TEXTS = (
    *("", " ", "\0", "\x1b[2J\x1b]0;x\x07", "\u202eabc\u202c", "a\u0301" * 50, "\ud7ff", "\U0001f600", "\ufeff"),
    *("\t", "\r"),
    *("../../etc/passwd", "/dev/zero", "-", "--help", "nan", "inf", "-1", "1e309", "9" * 500, "x" * 5_000, "(" * 3_000),
    *("%s%n", "${HOME}", "`id`", "<script>", "\u2028", "\u0085", "n't" * 300, ", " * 1_000, "1,000" * 200),
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**12, 10**30, 1.5, float("nan"), float("inf"), -0.0, 1e308),
    *([], {}, [[]], {"a": {}}, [0] * 1_000, "0", *ODD_TEXTS),
)


def damage(content: bytes, random: Random) -> bytes:
    """Return bytes with a few of them flipped, cut off, doubled, moved or replaced."""
    damaged = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 5, 30))):
        place = random.randrange(len(damaged) + 1)
        length = random.choice((1, 1, 2, 8, 64, 1_000))
        match random.randrange(6):
            case 0 if damaged:
                damaged[place % len(damaged)] ^= 1 << random.randrange(8)
            case 1:
                del damaged[place : place + length]
            case 2:
                damaged[place:place] = damaged[place : place + length]
            case 3:
                damaged[place : place + length] = random.randbytes(length)
            case 4:
                damaged[place:place] = random.choice(ODD_TEXTS).encode()
            case 5:
                del damaged[place:]
    return bytes(damaged)


def change_json(content: bytes, random: Random) -> bytes:
    """Return JSON in which a value or a key somewhere is another, or bytes that are damaged."""
    if random.random() < 0.2:
        return damage(content, random)
    table = json.loads(content)
    for _ in range(random.choice((1, 1, 2, 4))):
        table = _change(table, random)
    return json.dumps(table).encode("utf-8", "surrogatepass")


def _change(value: Any, random: Random) -> Any:
    if isinstance(value, dict) and value and random.random() < 0.9:
        key = random.choice(sorted(value))
        match random.randrange(8):
            case 0:
                return {name: inner for name, inner in value.items() if name != key}
            case 1:
                return {**value, random.choice(ODD_TEXTS): random.choice(ODD_VALUES)}
            case _:
                return {**value, key: _change(value[key], random)}
    if isinstance(value, list) and value and random.random() < 0.8:
        place = random.randrange(len(value))
        return [*value[:place], _change(value[place], random), *value[place + 1 :]]
    return random.choice(ODD_VALUES)


def odd_text(random: Random) -> str:
    """Return a text that no newspaper prints."""
    parts = [*ODD_TEXTS, "Profit", "fell", "on monday .", "the U.S. bank", "said .", "10,000", "$3.5", "\n"]
    return " ".join(random.choice(parts) for _ in range(random.choice((1, 3, 10, 40))))
