"""The header of a file is untrusted: what is wrong is refused in words; the wheel is the oracle."""

import json

import numpy as np
import pytest
import safetensors
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save as wheel_save
from varlen import _core
from varlen.io import FileFormatError, open_file, read_header


def blob(header, data=b""):
    text = header if isinstance(header, bytes) else header.encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype="U8", shape="[4]", offsets="[0,4]"):
    return f'{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}'


def one(dtype="U8", shape="[4]", offsets="[0,4]"):
    return f'{{"a":{entry(dtype, shape, offsets)}}}'


def two(a_shape, a_offsets, b_shape, b_offsets):
    return f'{{"a":{entry(shape=a_shape, offsets=a_offsets)},"b":{entry(shape=b_shape, offsets=b_offsets)}}}'


def parse(raw):
    """What File does, from bytes: the length, the text, and how much data is behind it."""
    size = int.from_bytes(raw[:8], "little")
    return _core.Header(raw[8 : 8 + size], len(raw) - 8 - size)


FOUR = b"\1\2\3\4"
WORD = '["4"]'
ONE = one()

# A name for the defect: the header, the data, and what the error says.
HOSTILE = {
    "not an object": ("[]", b"", "expected an object"),
    "empty text": ("", b"", "ends too early"),
    "nothing but space": ("   ", b"", "ends too early"),
    "unclosed": ('{"a":', b"", "ends too early"),
    "unclosed string": ('{"a', b"", "ends too early"),
    "name is no string": ('{1:{"dtype"', b"", "expected a string"),
    "no colon": ('{"a"1}', b"", "expected a colon"),
    "no comma": (f'{{"a":{entry()} "b":{entry()}}}', FOUR, "expected a comma"),
    "comma at the end": (f'{{"a":{entry()},}}', FOUR, "expected a string"),
    "text behind the end": (ONE + "x", FOUR, "text after the end"),
    "zeros behind the end": (ONE + "\0\0", FOUR, "text after the end"),
    "second object": (ONE + ONE, FOUR, "text after the end"),
    "byte order mark": ("\ufeff" + ONE, FOUR, "expected an object"),
    "entry is no object": ('{"a":[]}', b"", "expected an object"),
    "entry is null": ('{"a":null}', b"", "expected an object"),
    "entry as a list": ('{"a":["U8",[4],[0,4]]}', FOUR, "expected an object"),
    "name twice": (f'{{"a":{entry()},"a":{entry()}}}', FOUR, "name is there twice"),
    "name twice, once escaped": (f'{{"a":{entry()},"\\u0061":{entry()}}}', FOUR, "name is there twice"),
    "field twice": (
        '{"a":{"dtype":"U8","dtype":"U8","shape":[4],"data_offsets":[0,4]}}',
        FOUR,
        "field is there twice",
    ),
    "metadata twice": ('{"__metadata__":{},"__metadata__":{}}', b"", "name is there twice"),
    "metadata key twice": ('{"__metadata__":{"k":"1","k":"2"}}', b"", "metadata key is there twice"),
    "metadata is a number": ('{"__metadata__":{"k":1}}', b"", "expected a string"),
    "metadata is null": ('{"__metadata__":null}', b"", "expected an object"),
    "metadata is nested": ('{"__metadata__":{"k":{"l":"m"}}}', b"", "expected a string"),
    "deep nesting": ('{"a":' * 100_000, b"", "field that is not dtype"),
    "deep lists": ('{"a":{"dtype":"U8","shape":' + "[" * 100_000, b"", "expected a number"),
    "unknown field": (
        '{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":1}}',
        FOUR,
        "not dtype, shape or data_offsets",
    ),
    "no dtype": (
        '{"a":{"shape":[4],"data_offsets":[0,4]}}',
        FOUR,
        "dtype, shape and data_offsets is missing",
    ),
    "no shape": ('{"a":{"dtype":"U8","data_offsets":[0,4]}}', FOUR, "is missing"),
    "no offsets": ('{"a":{"dtype":"U8","shape":[4]}}', FOUR, "is missing"),
    "empty entry": ('{"a":{}}', b"", "is missing"),
    "unknown dtype": (one("I128"), FOUR, "dtype is not known"),
    "lower-case dtype": (one("u8"), FOUR, "dtype is not known"),
    "dtype of less than a byte": (one("F4", "[8]"), FOUR, "dtype is not known"),
    "dtype is a number": ('{"a":{"dtype":8,"shape":[4],"data_offsets":[0,4]}}', FOUR, "expected a string"),
    "negative size": (one(shape="[-4]"), FOUR, "size is negative"),
    "negative zero": (one(shape="[-0]", offsets="[0,0]"), b"", "size is negative"),
    "size is a float": (one(shape="[4.0]"), FOUR, "not a whole number"),
    "size has an exponent": (one(shape="[4e0]"), FOUR, "not a whole number"),
    "size is a bool": (one(shape="[true]"), FOUR, "expected a number"),
    "size is a string": (one(shape=WORD), FOUR, "expected a number"),
    "size is NaN": (one(shape="[NaN]"), FOUR, "expected a number"),
    "size with a leading zero": (one(shape="[04]"), FOUR, "leading zero"),
    "size with a plus": (one(shape="[+4]"), FOUR, "expected a number"),
    "size in hexadecimal": (one(shape="[0x4]"), FOUR, "expected a comma"),
    "size beyond 63 bits": (one(shape="[9223372036854775808]"), FOUR, "does not fit 63 bits"),
    "shape is a number": (one(shape="4"), FOUR, "expected a list"),
    "shape overflows": (one(shape="[4294967296,4294967296]"), FOUR, "shape is too large"),
    "shape overflows to 4": (one(shape="[4,4611686018427387905]"), FOUR, "shape is too large"),
    "shape overflows before a zero": (
        one(shape="[4294967296,4294967296,0]", offsets="[0,0]"),
        b"",
        "too large",
    ),
    "bits overflow": (one("F64", "[2305843009213693952]"), FOUR, "shape is too large"),
    "65 dimensions": (one(shape=str([1] * 65), offsets="[0,1]"), b"\1", "more than 64 dimensions"),
    "one offset": (one(offsets="[0]"), FOUR, "expected a comma"),
    "three offsets": (one(offsets="[0,4,4]"), FOUR, "expected a comma"),
    "offsets backwards": (one(offsets="[4,0]"), FOUR, "ends before it begins"),
    "size and shape differ": (one(shape="[3]"), FOUR, "another size than shape"),
    "past the end": (one(shape="[5]", offsets="[0,5]"), FOUR, "past the end of the file"),
    "far past the end": (
        one(shape="[9]", offsets="[9223372036854775798,9223372036854775807]"),
        FOUR,
        "past the end",
    ),
    "hole at the start": (one(shape="[3]", offsets="[1,4]"), FOUR, "hole in front of"),
    "hole between": (two("[1]", "[0,1]", "[2]", "[2,4]"), FOUR, "hole in front of"),
    "overlap": (two("[3]", "[0,3]", "[2]", "[2,4]"), FOUR, "overlaps"),
    "same bytes twice": (f'{{"a":{entry()},"b":{entry()}}}', FOUR, "overlaps"),
    "bytes behind the last": (ONE, FOUR + b"\0", "bytes after the last tensor"),
    "data without tensors": ("{}", b"\0", "bytes after the last tensor"),
    "not UTF-8": (b'{"\xff":{}}', b"", "not UTF-8"),
    "overlong UTF-8": (b'{"\xc0\xaf":{}}', b"", "not UTF-8"),
    "surrogate in UTF-8": (b'{"\xed\xa0\x80":{}}', b"", "not UTF-8"),
    "cut UTF-8": (b'{"\xe2\x82', b"", "not UTF-8"),
    "beyond Unicode": (b'{"\xf4\x90\x80\x80":{}}', b"", "not UTF-8"),
    "control character": ('{"a\nb":{}}', b"", "control character"),
    "unknown escape": ('{"\\x61":{}}', b"", "escape that JSON"),
    "cut escape": ('{"\\u00', b"", "escape that JSON"),
    "escape at the end": ('{"\\', b"", "ends too early"),
    "lone high surrogate": ('{"\\ud800":{}}', b"", "surrogate pair"),
    "lone low surrogate": ('{"\\udc00":{}}', b"", "surrogate pair"),
    "high surrogate twice": ('{"\\ud800\\ud800":{}}', b"", "surrogate pair"),
    "a comment": ("{/* */}", b"", "expected a string"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_headers_that_are_refused_say_why(name, tmp_path):
    header, data, text = HOSTILE[name]
    raw = blob(header, data)
    with pytest.raises(FileFormatError, match=text):
        parse(raw)
    path = tmp_path / "hostile.nrt"
    path.write_bytes(raw)
    for read in (read_header, open_file):
        with pytest.raises(FileFormatError, match=text) as caught:
            read(path)
        assert str(caught.value).startswith(str(path))
        assert isinstance(caught.value, ValueError)


SHORT = {
    "empty": (b"", "is empty; make or copy it again"),
    "seven bytes": (b"\2\0\0\0\0\0\0", "has 7 bytes"),
    "no header": (b"\2" + bytes(7), "ends after 0 of them"),
    "half a header": (b"\2" + bytes(7) + b"{", "ends after 1 of them"),
    "longer than the format allows": (b"\xff" * 8 + b"{}", "the format allows"),
    "just longer than that": ((100_000_001).to_bytes(8, "little") + b"{}", "the format allows"),
}


@pytest.mark.parametrize("name", SHORT)
def test_files_too_short_for_their_header_are_refused(name, tmp_path):
    path = tmp_path / "short.nrt"
    path.write_bytes(SHORT[name][0])
    with pytest.raises(FileFormatError, match=SHORT[name][1]):
        open_file(path)
    with pytest.raises(Exception, match=r"(?i)header"):
        safetensors.deserialize(SHORT[name][0])


def test_every_cut_of_a_file_is_refused(tmp_path):
    raw = wheel_save({"dim1/bounds": np.array([1, 3]), "dim1/a": np.arange(3)}, {"k": "v"})
    path = tmp_path / "cut.nrt"
    for size in range(len(raw)):
        path.write_bytes(raw[:size])
        with pytest.raises(FileFormatError):
            open_file(path)
    path.write_bytes(raw + b"\0")
    with pytest.raises(FileFormatError, match="after the last tensor"):
        open_file(path)


ACCEPTED = {
    "nothing": "{}",
    "space around": ' \n\t\r{ "a" : { "dtype" : "U8" , "shape" : [ 4 ] , "data_offsets" : [ 0 , 4 ] } } \n',
    "fields in another order": '{"a":{"data_offsets":[0,4],"shape":[4],"dtype":"U8"}}',
    "escaped field": '{"a":{"d\\u0074ype":"U8","shape":[4],"data_offsets":[0,4]}}',
    "escapes": f'{{"\\u00e9\\ud83d\\ude00\\n\\"\\\\\\/\\b\\f\\r\\t\\u0000\\u07ff\\uffff":{entry()}}}',
    "UTF-8": f'{{"é€😀\u07ff\uffff\U0010ffff":{entry()}}}',
    "empty name": f'{{"":{entry()}}}',
    "no rank": one("F32", "[]"),
    "64 dimensions": one("F32", str([1] * 64)),
    "entries against the order of their data": two("[2]", "[2,4]", "[2]", "[0,2]"),
    "empty tensors anywhere": (
        f'{{"z":{entry(shape="[0]", offsets="[4,4]")},"a":{entry()},'
        f'"b":{entry(shape="[3,0]", offsets="[0,0]")}}}'
    ),
    "metadata": f'{{"__metadata__":{{"":"","k\\n":"\\ud83d\\ude00"}},"a":{entry()}}}',
}


def as_dict(raw):
    header = parse(raw)
    data = raw[header.data_start :]
    out = {}
    for i in range(len(header)):
        name, tag, shape, begin, end = header.describe(i)
        out[name] = (tag, list(shape), data[begin:end])
    assert list(out) == header.names
    return out, header.metadata


def by_wheel(raw):
    return {n: (t["dtype"], list(t["shape"]), bytes(t["data"])) for n, t in safetensors.deserialize(raw)}


def same_as_wheel(raw):
    """True where we accept and read what the wheel reads; False where we refuse."""
    try:
        ours, metadata = as_dict(raw)
    except FileFormatError:
        return False
    assert ours == by_wheel(raw)  # raises where the wheel refuses
    size = int.from_bytes(raw[:8], "little")
    assert metadata == json.loads(raw[8 : 8 + size]).get("__metadata__", {})
    return True


@pytest.mark.parametrize("name", ACCEPTED)
def test_headers_that_are_allowed_read_as_the_wheel_reads_them(name):
    text = ACCEPTED[name]
    assert same_as_wheel(blob(text, FOUR if '"dtype' in text or "ype" in text else b""))


# Pieces that a mutation splices in: what JSON parsers differ about.
PIECES = [
    *'{}[]:,"\\/0123456789-+.eE \n\t\0a\x7f',
    "null",
    "true",
    "NaN",
    "1e3",
    "\\u0061",
    "\\ud800",
    '"',
    "é",
]
PIECES += [
    '"dtype"',
    '"shape"',
    '"data_offsets"',
    '"__metadata__"',
    '"BOOL"',
    '"F8_E4M3"',
    "[0,0]",
    "[]",
    "{}",
    "\ufeff",
]
PIECES = [piece.encode() for piece in PIECES] + [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80"]

BASES = [
    wheel_save({"a": np.arange(3, dtype=np.int16), "b/c": np.ones((2, 2), np.float32)}, {"k": "v", "l": "w"}),
    wheel_save({"dim1/bounds": np.array([1, 2]), "dim1/x": np.zeros(2, np.uint8), "e": np.zeros((0, 3))}),
    *(blob(text, FOUR) for text in list(ACCEPTED.values())[1:]),
]

edits = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.sampled_from(["cut", "splice", "swap", "double"]),
        st.integers(0, 12),
        st.sampled_from(PIECES),
    ),
    max_size=4,
)


def mutate(raw, changes, keep_length):
    size = int.from_bytes(raw[:8], "little")
    text, data = bytearray(raw[8 : 8 + size]), raw[8 + size :]
    for where, kind, span, piece in changes:
        at = int(where * len(text))
        if kind == "cut":
            del text[at : at + span]
        elif kind == "splice":
            text[at:at] = piece
        elif kind == "swap":
            text[at : at + max(len(piece), 1)] = piece
        else:
            text[at:at] = text[at : at + 8 * span]
    length = size if keep_length else len(text)
    return length.to_bytes(8, "little") + bytes(text) + data


@settings(max_examples=1500, deadline=None)
@given(st.sampled_from(BASES), edits, st.booleans())
def test_mutated_headers_never_pass_where_the_wheel_refuses(raw, changes, keep_length):
    mutant = mutate(raw, changes, keep_length)
    assert same_as_wheel(mutant) or (changes and mutant != raw)


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(lambda s: s != "__metadata__")
dtypes = st.sampled_from([np.bool_, np.int8, np.uint16, np.float16, np.int32, np.float64, np.complex64])


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(names, st.tuples(dtypes, st.lists(st.integers(0, 3), max_size=3)), max_size=6),
    st.dictionaries(names, names, max_size=3),
)
def test_what_the_wheel_writes_is_read_equal(tensors, metadata):
    arrays = {name: np.ones(shape, dtype) for name, (dtype, shape) in tensors.items()}
    assert same_as_wheel(wheel_save(arrays, metadata or None))


def hashed(name):
    """The hash of a name of 8 bytes, as the parser has it: to make names that collide."""
    mask = 2**64 - 1
    state = (8 * 0x9E3779B97F4A7C15) & mask
    state = ((state ^ int.from_bytes(name, "little")) * 0xD6E8FEB86659FD93) & mask
    state ^= state >> 32
    state = (state * 0xD6E8FEB86659FD93) & mask
    return state ^ state >> 29


def test_names_that_hash_alike_are_told_apart_and_found():
    # A hundred and twenty of them in one slot of the table of 1024: the probes end, the names are sorted.
    every = [f"{i:08x}" for i in range(200_000)]
    alike = [name for name in every if hashed(name.encode()) & 1023 == 7][:120]
    assert len(alike) == 120
    names = alike + [name for name in every[:400] if name not in alike]
    raw = wheel_save({name: np.zeros(0, np.uint8) for name in names})
    assert len(parse(raw)) == len(names)
    for first, second in ((alike[3], alike[110]), (names[130], names[200]), (alike[5], names[200])):
        with pytest.raises(FileFormatError, match="twice"):
            parse(raw.replace(first.encode(), second.encode(), 1))


def test_text_is_not_kept_but_copied():
    text = bytearray(ONE.encode())
    header = _core.Header(text, 4)
    text[:] = b" " * len(text)
    assert header.names == ["a"]
    assert header.describe(0) == ("a", "U8", (4,), 0, 4)


@pytest.mark.parametrize("entry", [-1, 1, 2**40])
def test_entries_out_of_range_are_refused(entry):
    with pytest.raises(IndexError):
        _core.Header(ONE.encode(), 4).describe(entry)
