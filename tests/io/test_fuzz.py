"""Any bytes at all: the readers agree with a short reader that was written from the rules alone."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable
from typing import Any

import effort
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenrank import read_qrels, read_run
from evenrank.errors import DataError, EvenrankWarning

Rows = list[tuple[str, ...]]


def slow_reader(data: bytes, kind: str) -> list[tuple[Any, ...]] | None:
    """The rows of a file, or None if it must be refused."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    rows: list[tuple[Any, ...]] = []
    seen = set()
    for line in text.replace("\r\n", "\n").split("\n"):
        if any(ord(character) < 32 and character != "\t" for character in line):
            return None
        fields = [field for field in re.split("[ \t]", line) if field]
        if not fields or fields[0][0] == "#":
            continue
        if len(fields) < 6 if kind == "run" else len(fields) != 4:
            return None
        if kind == "run":
            if not re.fullmatch(r"[+-]?\d+", fields[3], re.ASCII):
                return None
            if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", fields[4], re.ASCII):
                return None
            value: float = float(fields[4])
        else:
            if not re.fullmatch(r"[+-]?\d{1,4000}", fields[3], re.ASCII):
                return None
            value = int(fields[3])
        key = (fields[0], fields[1] if kind == "diversity" else "", fields[2])
        if key in seen or math.isinf(value) or (kind != "run" and not -(2**31) <= value < 2**31):
            return None
        seen.add(key)
        rows.append((*key, value))
    return rows or None


def package_rows(data: bytes, kind: str) -> list[tuple[Any, ...]] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvenrankWarning)  # byte order marks, tags that begin with a number
        try:
            if kind == "run":
                found = read_run(io.BytesIO(data)).to_dict()
                return [(q, "", d, v) for q, inner in found.items() for d, v in inner.items()]
            if kind == "qrels":
                grades = read_qrels(io.BytesIO(data)).to_dict()
                return [(q, "", d, v) for q, inner in grades.items() for d, v in inner.items()]
            intents = read_qrels(io.BytesIO(data), diversity=True).to_dict()
            return [(q, i, d, v) for q, x in intents.items() for i, y in x.items() for d, v in y.items()]
        except DataError:  # and nothing else is ever raised
            return None


def check(data: bytes, kind: str) -> None:
    expected, found = slow_reader(data, kind), package_rows(data, kind)
    if expected is None or found is None:
        assert expected is None, f"refused, but must be read: {data!r}"
        assert found is None, f"read, but must be refused: {data!r}"
        return
    # bit for bit: -0.0 and 0.0 differ here
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
    # queries stand by first appearance, and within one the order is score down, then id down
    assert list(dict.fromkeys(row[0] for row in found)) == list(dict.fromkeys(row[0] for row in expected))
    if kind == "run":
        for query in {row[0] for row in found}:
            mine = [(row[3], row[2].encode()) for row in found if row[0] == query]
            assert mine == sorted(mine, reverse=True)


KINDS = st.sampled_from(["run", "qrels", "diversity"])
IDS = st.one_of(
    st.sampled_from(
        [
            "1",
            "7",
            "007",
            "a",
            "b",
            "#",
            "a#",
            "x\u00a0y",
            "\u0085",
            "\u2028",
            "é",
            '"',
            '"q',
            "\ufeffz",
            "\x7f",
            "NA",
            "null",
        ]
    ),
    st.text(st.characters(min_codepoint=33, exclude_categories=["Cs"]), min_size=1, max_size=6),
)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-5, 5).map(str),
    st.sampled_from(
        [
            "0",
            "-0",
            "+1",
            "1.",
            ".5",
            "-.5e3",
            "1E+5",
            "1e-400",
            "5e-324",
            "00012",
            "2147483647",
            "-2147483648",
        ]
    ),
)
GRADES = st.one_of(
    st.integers(-(2**31), 2**31 - 1).map(str),
    st.sampled_from(["0", "-0", "+1", "007", "2147483647", "-2147483648"]),
)
ODD_NUMBERS = st.sampled_from(
    [
        "nan",
        "inf",
        "-Infinity",
        "1e400",
        "1_000",
        "0x1F",
        "0x1p3",
        "1e",
        ".",
        "+",
        "++1",
        "--1",
        "1,5",
        "",
        "2147483648",
        "9" * 30,
        "1d5",
        "١",
        "nan(1)",
        "1e+",
        "e5",
        "1.5.2",
    ]
)
SEPARATORS = st.sampled_from([" ", " ", " ", "\t", "  ", " \t", "\t\t"])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", " \n", "\t\r\n"])


@st.composite
def files(draw: st.DrawFn, *, odd: bool) -> tuple[bytes, str]:
    """Files by the grammar; a clean one has one separator and one end of line throughout."""
    kind = draw(KINDS)
    clean = draw(st.booleans())
    separator, end = draw(st.sampled_from([" ", "\t"])), draw(st.sampled_from(["\n", "\r\n"]))
    lines = []
    for number in range(draw(st.integers(1, 8))):
        query = draw(st.sampled_from(["1", "2", "03", "q é"[:1]]))
        document = draw(IDS) if draw(st.booleans()) else f"d{number}"
        value = draw(NUMBERS if kind == "run" else GRADES)
        if odd and draw(st.integers(0, 6)) == 0:
            value = draw(ODD_NUMBERS)
        fields = [query, draw(IDS), document, value]
        if kind == "run":
            fields = [
                query,
                "Q0",
                document,
                draw(IDS),
                value,
                draw(st.sampled_from(["tag", "t", "a b", "x  y"])),
            ]
            fields[5] = fields[5][:1] if clean else fields[5]
        if clean:
            lines.append(separator.join(fields) + end)
            continue
        prefix = draw(st.sampled_from(["", "", "", " ", "\t", "# note\n", "\n", "  #\n"]))
        line = prefix + fields[0] + "".join(draw(SEPARATORS) + field for field in fields[1:])
        lines.append(line + draw(ENDS))
    text = "".join(lines)
    if draw(st.booleans()):
        text = text.rstrip("\n")
    return draw(st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf"])) + text.encode(), kind


@st.composite
def mutated(draw: st.DrawFn) -> tuple[bytes, str]:
    """A valid file with a few bytes replaced, dropped, put in or repeated."""
    data, kind = draw(files(odd=False))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        piece = draw(
            st.one_of(
                st.binary(min_size=1, max_size=3),
                st.sampled_from([b"\0", b"\r", b"\n", b" ", b"#", b"\xff", b"\xed\xa0\x80", b"\x0b"]),
            )
        )
        action = draw(st.sampled_from(["replace", "insert", "drop", "repeat"]))
        if action == "repeat":
            data += data[at : at + 40]
        else:
            cut = 0 if action == "insert" else len(piece)
            data = data[:at] + (b"" if action == "drop" else piece) + data[at + cut :]
    return data, kind


def examples(count: int) -> Callable[[Any], Any]:
    return settings(max_examples=count, suppress_health_check=list(HealthCheck))


FEW, MANY = effort.examples(300), 20_000


def test_the_short_reader_itself() -> None:
    assert slow_reader(b"1 Q0 a 1 2.5 t\n", "run") == [("1", "", "a", 2.5)]
    assert slow_reader(b"1 Q0 a 1 nan t\n", "run") is None


@examples(FEW)
@given(files(odd=False))
def test_files_by_the_grammar(example: tuple[bytes, str]) -> None:
    check(*example)


@examples(FEW)
@given(files(odd=True))
def test_files_with_odd_values(example: tuple[bytes, str]) -> None:
    check(*example)


@examples(FEW)
@given(mutated())
def test_mutated_files(example: tuple[bytes, str]) -> None:
    check(*example)


@examples(FEW)
@given(st.binary(max_size=200), KINDS)
def test_random_bytes(data: bytes, kind: str) -> None:
    check(data, kind)


ALPHABET = st.lists(
    st.sampled_from(
        [b" ", b"\t", b"\n", b"\r\n", b"1", b"a", b"0.5", b"#", b"\xc2\xa0", b"1 Q0 a 1 2 t\n", b"1 0 a 1\n"]
    ),
    max_size=40,
).map(b"".join)


@examples(FEW)
@given(ALPHABET, KINDS)
def test_random_tokens(data: bytes, kind: str) -> None:
    check(data, kind)


@pytest.mark.slow
@examples(MANY)
@given(
    st.one_of(
        files(odd=False),
        files(odd=True),
        mutated(),
        st.tuples(st.binary(max_size=200), KINDS),
        st.tuples(ALPHABET, KINDS),
    )
)
def test_many_files_of_every_kind(example: tuple[bytes, str]) -> None:
    check(*example)
