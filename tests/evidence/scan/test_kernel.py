"""Compiled code counts what a slow count in plain Python counts, on any text."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from counted_words import counted, lower, rows
from effort import examples, some
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenrank import DataError, Lexicon, ParameterError, scan

LEXICON = Lexicon.build(
    "adversarial",
    {
        "a": [
            "he", "man", "his", "boy's", "x", "new york", "new york city", "york city hall", "he he",
            "straße", "οδοσ", "éa", "e\u0301", "ﬁ", "i\u0307", "İ", "kelvin", "𐐨𐐨", "٣٤", "a_b", "_", "vⓐ",
            "w" * 63, "w" * 64, "w" * 65, "é" * 40, "abcdefgh", "abcdefghi", "abcdefgh1", "一二三",
        ],
        "b": ["she", "woman", "her", "grandmother in law", "in", "y", "ß", "ⱥ", "ǆ", "７", "q" * 200,
              "v" * 70 + "é", "a b c d e f g"],
        "c": ["they", "𠀀", "z\u200dz", "ab", "abc", "ᏸ", "हिन्दी", "the man", "man the man"],
    },
)  # fmt: skip
TRICKY = [
    "He", "MAN", "his,", "BOY'S", "New", "york", "CITY", "hall", "new york city hall", "he he he",
    "STRASSE", "Straße", "ΟΔΟΣ", "οδος", "ÉA", "E\u0301", "ﬁ", "İ", "i̇", "I", "ı", "KELVIN", "\u212aelvin",
    "𐐀𐐨", "٣٤", "３４", "A_B", "__", "_", "VⒶ", "ⓐ", "W" * 63, "w" * 64, "w" * 65, "É" * 40, "é" * 31,
    "ABCDEFGH", "abcdefghI", "abcdefgh1", "abcdefgh2", "一二三", "ẞ", "Ⱥ", "ǅ", "Ǆ", "７", "Q" * 200,
    "V" * 70 + "É", "q" * 199, "a b c d e f g", "a b c d e f", "𠀀", "z\u200dZ", "Ᏸ", "हिन्दी",
    "the man the man the man", "grandmother-in-law", "@",
    "`", "[", "{", "\x7f", "\x00", "\t", "\u00a0", "\u2028", "\u3000", "\u200b", "\ufeff", "\U0010ffff",
    "\ud7ff", "\ue000", "²", "½", "Ⅷ", "🙂", "\u0130\u0307",
]  # fmt: skip


def compare(documents: list[str], lexicon: Lexicon = LEXICON) -> None:
    pairs = [(str(number), document) for number, document in enumerate(documents)]
    for tokenizer in ("word", "whitespace"):
        slow = [(name, *counted(text, lexicon, tokenizer)) for name, text in pairs]
        assert rows(scan(pairs, lexicon, tokenizer=tokenizer, terms=True)) == slow
        plain = rows(scan(pairs, lexicon, tokenizer=tokenizer))
        assert [row[:3] for row in plain] == [row[:3] for row in slow]


pieces = st.one_of(
    st.sampled_from(TRICKY),
    st.text(max_size=12),
    st.text(st.characters(codec="utf-8"), max_size=8),
    st.text("aAhHeEıİſﬁ\u0301\u0307 _-'٣é", max_size=80),
)
documents = st.lists(st.lists(pieces, max_size=12), max_size=5).flatmap(
    lambda rows: st.sampled_from([" ", "", "-", "\u00a0", "  "]).map(
        lambda glue: [glue.join(row) for row in rows]
    )
)


@settings(max_examples=examples(600))
@given(documents.filter(len))
@example([""])
@example(["", "he", ""])
@example(["x" * 64 + " he", "x" * 63 + "é he"])
def test_equals_plain_python(documents: list[str]) -> None:
    compare(documents)


def test_equals_plain_python_at_every_offset() -> None:
    """Each tricky word, moved over the edges of the 64-byte windows."""
    texts = []
    for word in TRICKY:
        texts += ["." * gap + word + " he" for gap in range(70)]
        texts += ["é" * gap + " " + word + "é" for gap in range(36)]
        texts += ["a" * gap + word for gap in range(66)]
    compare(texts)


@pytest.mark.parametrize("share", some([16, 1]))
def test_every_character(share: int) -> None:
    """Those below U+3000, and of those above one in ``share``."""
    codes = [*range(0x3000), *range(0x3000, 0xD800, share), *range(0xE000, 0x110000, share)]
    random.Random(0).shuffle(codes)
    compare(["".join(map(chr, codes[begin : begin + 997])) for begin in range(0, len(codes), 997)])
    compare([f"he{chr(code)}he {chr(code)}" for code in codes[: 20_000 // min(share, 4)]])


def test_every_character_is_found_in_its_lower_case() -> None:
    """Each word character alone is a term, and is found in upper and lower case."""
    characters = sorted({lower(chr(c)) for c in range(0x20000) if re.match(r"\w", chr(c))})
    chosen = random.Random(1).sample(characters, 6000)
    lexicon = Lexicon.build("letters", {"even": chosen[::2], "odd": chosen[1::2]})
    texts = [(c, f"{c} {c.upper()} {c}x") for c in characters]
    assert rows(scan(texts, lexicon, terms=True)) == [(c, *counted(text, lexicon)) for c, text in texts]


@pytest.mark.parametrize("seed", some(range(8), 2))
def test_random_text(seed: int) -> None:
    generator = random.Random(seed)
    alphabet = "heHEmanMANsS  ..'_-\nxXwyorkcityneinla éÉßẞſıİKΣςσ٣７𐐀𐐨\u0301ﬁ一🙂ÿ\u00a0"
    rows = ["".join(generator.choices(alphabet, k=generator.randrange(400))) for _ in range(400)]
    rows += [" ".join(generator.choices(TRICKY, k=generator.randrange(60))) for _ in range(400)]
    compare(rows)


@pytest.mark.parametrize("tokenizer", ["word", "whitespace"])
@pytest.mark.parametrize(
    "wrong",
    [b"\x80", b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf0\x80\x80\x80",
     b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xff", b"\xc3", b"\xe4\xb8", b"\xf0\x9f\x99", b"\xc3(",
     b"\xe4(\x80"],
)  # fmt: skip
def test_unsound_bytes_are_found(wrong: bytes, tokenizer: str, tmp_path: Path) -> None:
    path = tmp_path / "c.tsv"
    for before in (0, 1, 62, 63, 65, 130):
        for filler in (b".", b"a"):
            path.write_bytes(b"1\tgood\n2\t" + filler * before + wrong + "\n3\té\n".encode())
            with pytest.raises(DataError, match=r"c\.tsv:2: "):
                scan(path, LEXICON, tokenizer=tokenizer)


@pytest.mark.parametrize("share", some([10, 1]))
def test_real_passages(shared: Path, share: int) -> None:
    lines = (shared / "data/msmarco_trecdl/passages.tsv").read_text(encoding="utf-8").split("\n")
    passages = [line.partition("\t")[2] for line in lines if line]
    assert len(passages) == 30_045
    groups: dict[str, list[str]] = {}
    words = (shared / "data/msmarco_trecdl/wordlist_gender_representative.txt").read_text(encoding="utf-8")
    for line in words.split():
        word, _, group = line.partition(",")
        groups.setdefault(group, []).append(word)
    compare(passages[::share], Lexicon.build("published", groups))


def found(lexicon: Lexicon, *texts: str) -> list[tuple[int, list[int]]]:
    return [row[1:3] for row in rows(scan([(str(place), text) for place, text in enumerate(texts)], lexicon))]


def test_longest_match_first() -> None:
    lexicon = Lexicon.build("l", {"a": ["new york", "city"], "b": ["new york city hall", "york city"]})
    texts = "new york city", "New-York city hall", "new new york", "york city new york", "new old york"
    assert found(lexicon, *texts) == [(3, [2, 0]), (4, [0, 1]), (3, [1, 0]), (4, [1, 1]), (3, [0, 0])]


def test_no_term_goes_from_one_document_into_the_next() -> None:
    lexicon = Lexicon.build("l", {"a": ["new york"], "b": ["x y z"]})
    groups = [groups for _, groups in found(lexicon, "new ", "of york", "x y ", "a b z", "new york")]
    assert groups == [[0, 0], [0, 0], [0, 0], [0, 0], [1, 0]]


def test_tokenizers() -> None:
    words = Lexicon.build("words", {"word": ["mother", "s", "οδοσ", "İx"], "blank": ["mother's", "οδοσ,"]})
    by_word = Lexicon.build("words", {"a": ["mother", "s"], "b": ["οδοσ", "İx"]})
    text = [("d", "Mother's ΟΔΟΣ, İX  x\ty ")]
    assert rows(scan(text, by_word, terms=True)) == [("d", 6, [2, 2], {0: 1, 1: 1, 2: 1, 3: 1})]
    by_blank = scan(text, words, tokenizer="whitespace", terms=True)
    assert rows(by_blank) == [("d", 4, [1, 2], {3: 1, 4: 1, 5: 1})]
    with pytest.raises(ParameterError, match="bpe"):
        scan(text, LEXICON, tokenizer="bpe")


def test_terms_that_the_tokenizer_cannot_tell_apart() -> None:
    text = [("d", "a step-mother, a step mother")]
    two = Lexicon.build("two", {"a": ["step-mother", "♀"], "b": ["step mother"]})
    with pytest.raises(DataError, match="'step-mother' and 'step mother'") as caught:
        scan(text, two)
    assert "'♀'" in str(caught.value)  # which is no word at all
    assert scan(text, two, tokenizer="whitespace").counts.tolist() == [[0, 1]]
    one = Lexicon.build("one", {"a": ["step-mother", "step mother"], "b": ["x"]})
    assert rows(scan(text, one, terms=True)) == [("d", 6, [2, 0], {0: 2})]


def test_a_part_of_a_table() -> None:
    texts = ["he", "she he", "é man", ""] * 50
    table = pa.table({"id": [str(number) for number in range(200)], "text": texts})
    for piece in (table, table.slice(3, 7), table.slice(199)):
        slow = [(row["id"], *counted(row["text"], LEXICON)) for row in piece.to_pylist()]
        assert rows(scan(piece, LEXICON, terms=True)) == slow


def test_many_words_in_one_lexicon() -> None:
    words = [f"word{number}" for number in range(20_000)]
    lexicon = Lexicon.build("large", {"a": words[::2], "b": words[1::2]})
    texts = [(str(n), f"Word{n} word{n + 15_000} word") for n in range(10_000)]
    for (_, length, groups, terms), number in zip(
        rows(scan(texts, lexicon, terms=True)), range(10_000), strict=True
    ):
        own = [n for n in (number, number + 15_000) if n < 20_000]
        assert (length, groups) == (3, [sum(n % 2 == side for n in own) for side in (0, 1)])
        assert {lexicon.terms[code]: count for code, count in terms.items()} == {words[n]: 1 for n in own}


LARGE = """
import sys
sys.path[:0] = {folders!r}
from pathlib import Path
from counted_words import compile_counting
{before}
compile_counting(Path({folder!r}))
{after}
"""


def run_large(folder: Path, *, before: str = "", after: str = "", **environment: str) -> None:
    """A process that counts a large collection first, on this machine for the first time."""
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "support")]
    code = LARGE.format(folders=folders, folder=str(folder), before=before, after=after)
    given = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "numba"), **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=given
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.needs("numba")
def test_works_where_nothing_can_be_cached(tmp_path: Path) -> None:
    """What cannot be kept for the next process is compiled all the same."""
    refuse = """
import numba.core.caching as caching
def refuse(*a, **k): raise RuntimeError("cannot cache function: no locator available")
caching.FunctionCache.__init__ = refuse
"""
    run_large(tmp_path, before=refuse, after="from test_kernel import compare; compare(['He and she'] * 3)")


@pytest.mark.slow
@pytest.mark.needs("numba")
def test_the_same_on_a_processor_that_lacks_instructions(tmp_path: Path) -> None:
    """Without the one that looks 64 bytes up at once, and with none of the wider ones."""
    texts = [" ".join(random.Random(seed).choices(TRICKY, k=40)) for seed in range(100)]
    (tmp_path / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    after = f"""
import json
from test_kernel import compare
compare(json.load(open({str(tmp_path / "texts.json")!r}, encoding="utf-8")))
"""
    run_large(tmp_path, after=after, NUMBA_CPU_NAME="generic")
