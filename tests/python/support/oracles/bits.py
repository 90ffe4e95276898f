"""Blocks of bits, decoded number by number as docs/reference/compressed_files.md says."""

import struct

import numpy as np


def decode(data: bytes, count: int, width: int) -> bytes:
    r"""All numbers of an entry, as their words.

    >>> record = struct.pack("<QQBBBBHH", 7, 0, 1, 2, 0, 0, 0, 0)
    >>> list(decode(b"\x39" + record, 4, 1))
    [8, 9, 10, 7]
    """
    blocks = -(-count // 1024)
    room, out = len(data) - 24 * blocks, b""
    for b in range(blocks):
        base, place, kind, bits, digits, flags, outliers, _ = struct.unpack_from(
            "<QQBBBBHH", data, room + 24 * b
        )
        n, at = min(1024, count - 1024 * b), place
        if kind == 0:
            out += data[place : place + n * width]
            continue
        whole = int.from_bytes(data[place : place + (n * bits + 7) // 8], "little")
        codes, at = [whole >> (i * bits) & ((1 << bits) - 1) for i in range(n)], place + (n * bits + 7) // 8
        word = int.from_bytes(data[at : at + width], "little")
        at += width if flags & 1 or kind == 2 else 0
        words = _WORDS[kind](codes, base, word, bits, digits, flags & 1, width)
        places = struct.unpack_from(f"<{outliers}H", data, at)
        for k, i in enumerate(places):
            start = at + 2 * outliers + k * width
            words[i] = int.from_bytes(data[start : start + width], "little")
        out += b"".join((w % (1 << 8 * width)).to_bytes(width, "little") for w in words)
    return out


def _frame(codes, base, word, bits, digits, has_word, width):
    return [base + code for code in codes]


def _steps(codes, base, word, bits, digits, has_word, width):
    words = [word]
    for code in codes[1:]:
        words.append(words[-1] + base + code)
    return words


def _decimals(codes, base, word, bits, digits, has_word, width):
    base -= (base >> 63) << 64
    words = []
    for code in codes:
        real_type = np.float64 if width == 8 else np.float32
        real = (real_type(base) + real_type(code)) / real_type(10.0**digits)
        is_word = has_word and code == (1 << bits) - 1
        words.append(word if is_word else int.from_bytes(real.tobytes(), "little"))
    return words


_WORDS = {1: _frame, 2: _steps, 3: _decimals}
