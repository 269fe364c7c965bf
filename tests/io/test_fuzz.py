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
from hypothesis import HealthCheck, example, given, settings
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
        if re.search(r"[\x00-\x08\x0a-\x1f]", line):
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
            if len(fields) > 6 and re.fullmatch(r"[+-]?\d+", fields[4], re.ASCII) and is_number(fields[5]):
                return None  # a document id with a blank in it
        else:
            if not re.fullmatch(r"[+-]?\d{1,4000}", fields[3], re.ASCII):
                return None
            value = int(fields[3])
        key = (fields[0], fields[1] if kind == "diversity" else "", fields[2])
        if any(len(part.encode()) > 10_000 for part in key):
            return None
        if key in seen or math.isinf(value) or (kind != "run" and not -(2**31) <= value < 2**31):
            return None
        seen.add(key)
        rows.append((*key, value))
    return rows or None


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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
        ranked: dict[str, list[tuple[float, bytes]]] = {}
        for query, _, document, score in found:
            ranked.setdefault(query, []).append((score, document.encode()))
        assert all(mine == sorted(mine, reverse=True) for mine in ranked.values())


KINDS = st.sampled_from(["run", "qrels", "diversity"])
ODD_IDS = '1 7 007 a b # a# x\u00a0y \u0085 \u2028 é " "q \ufeffz \x7f NA null'
PLAIN = "0 -0 +1 1. .5 -.5e3 1E+5 1e-400 5e-324 00012 2147483647 -2147483648"
WHOLE = "0 -0 +1 007 2147483647 -2147483648"
ODD = "nan inf -Infinity 1e400 1_000 0x1F 0x1p3 1e . + ++1 --1 1,5 2147483648 1d5 ١ nan(1) 1e+ e5 1.5.2"
IDS = st.one_of(
    st.sampled_from(ODD_IDS.split(" ")),
    st.text(st.characters(min_codepoint=33, exclude_categories=["Cs"]), min_size=1, max_size=6),
)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-5, 5).map(str),
    st.sampled_from(PLAIN.split(" ")),
)
GRADES = st.one_of(st.integers(-(2**31), 2**31 - 1).map(str), st.sampled_from(WHOLE.split(" ")))
ODD_NUMBERS = st.sampled_from(["", "9" * 30, *ODD.split(" ")])
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


LONG = b"x" * 10_000
CASES: dict[str, list[bytes]] = {
    "run": [
        b"1 Q0 a 1 2.5 t\n1 Q0 b 2 -0 t\n2 Q0 a 1 1e3 t\n",
        b"1\tQ0\ta\t1\t2.5\tt\n1\tQ0\tb\t2\t+1\tt\n",
        b"1 Q0 a 1 2.5 t\r\n1 Q0 b 2 1. t\r\n",
        b"1 Q0 a 1 2.5 t\n1 Q0 b 2 .5 t",
        b"1 Q0 a 1 2.5 t\n\n \n\n",
        "é Q0 a\u00a0 1 2.5 t\n1 Q0 \u0085 2 1e-400 \u2028\n".encode(),
        b'1 Q0 "a 1 2.5 t#\n1 Q0 #b 2 5e-324 "\n',
        b"0x1 0x2 0x3 4 5 0x6\n1 0 x 1 2.5 t\n",
        b"%s Q0 %s 1 2 t\n" % (LONG, LONG),
        b"1 %sx a 1 2 t\n" % LONG,
        b"1  Q0 a 1 2 t\n",
        b"1  0 a 1 2.0\n",  # an empty field that makes six of five
        b"1\tQ0 a 1 2 t\n",
        b" 1 Q0 a 1 2 t\n",
        b"1 Q0 a 1 2 t \n1 Q0 b 1 2 t\n",
        b"1 Q0 a 1 2 ",
        b"1 Q0 a 1 2 t\n\n1 Q0 b 1 2 t\n",
        b"#1 Q0 a 1 2 t\n",
        b"1 Q0 a 1 2 t\n#1 Q0 b 1 2 t\n",
        b"1 Q0 a 1 2 t u\n",
        b"1 Q0 a 1 2\n",
        *(b"1 Q0 a %s 1 t\n" % rank for rank in (b"b", b"1.0", b"99999999999")),
        b"1 Q0 %sx 1 1 t\n" % LONG,
        b"%sx Q0 a 1 1 t\n" % LONG,
        b"1 Q0 a\0 1 2 t\n",
        b"1 Q0 a\x0c 1 2 t\n",
        b"1 \xff a 1 2 t\n",  # in a field that nobody reads
        b"1 Q0 a 1 2 t\xc3",
        b"1 Q0 a 1 2 t\r\n1 Q0 b 1 2 t\n",
        b"",
        b"\n\n",
    ],
    "qrels": [
        b"1 0 a 2\n1 0 b +1\n2 0 a -2147483648\n",
        b"1 %sx a 1\n" % LONG,
        b"1 0 %sx 1\n" % LONG,
        *(
            b"1 0 a %s\n" % grade
            for grade in b"0x1F 1.0 2147483648 -2147483649 9999999999999999999999 1e1 + ++1".split()
        ),
    ],
    "diversity": [b"1 x a 2\n1 y a 007\n2 x a 0\n", b"1 %sx a 1\n" % LONG, b"%sx 1 a 1\n" % LONG],
}


@pytest.mark.parametrize("kind", CASES)
def test_what_a_fast_reader_may_read_wrongly(kind: str) -> None:
    for data in CASES[kind]:
        check(data, kind)


LAST = {
    "clean": "",
    "a blank line": "\n3 Q0 last 1 1 t\n",
    "a comment": "# note\n3 Q0 last 1 1 t\n",
    "two blanks": "3  Q0 last 1 1 t\n",
    "a bad line": "3 Q0 last 1 x t\n",
    "a repeated line": "1 Q0 d7é 1 1 t\n",
}


@pytest.mark.parametrize("last", LAST)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_of_many_blocks(last: str, end: str) -> None:
    """More bytes than are looked at or parsed at once: no line is lost between two blocks."""
    lines = [f"{row % 3} Q0 d{row}é {row} {row % 99 / 8} tag-{'x' * (row % 500)}" for row in range(20_000)]
    data = (end.join([*lines, ""]) + LAST[last]).encode()
    assert len(data) > 5 << 20
    check(data, "run")


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
@example(b"\t\xef\xbb\xbf1 1 d0 0\n", "qrels")  # a byte order mark that does not begin the file
@example(b"\xef\xbb\xbf\xef\xbb\xbf1 Q0 d0 1 1 t\n", "run")
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
