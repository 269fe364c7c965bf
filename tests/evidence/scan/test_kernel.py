"""The fast kernel counts what plain Python counts, on any text."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from effort import examples, some
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenrank import Lexicon
from evenrank.data.lexicon import lower
from evenrank.errors import DataError, EvenrankWarning, ParameterError
from evenrank.evidence.scan import counter as counters
from evenrank.evidence.scan.counter import (
    Counts,
    KernelCounter,
    SimpleCounter,
    Texts,
    UnsoundText,
    make_counter,
)
from evenrank.evidence.scan.phrases import Phrases, tokenize

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
COUNTERS = {
    (tokenizer, terms): (
        KernelCounter(Phrases.of(LEXICON, tokenizer), terms),
        SimpleCounter(Phrases.of(LEXICON, tokenizer), terms),
    )
    for tokenizer in ("word", "whitespace")
    for terms in (False, True)
}


def texts_of(documents: list[str], *, tail: bytes = b"") -> Texts:
    encoded = [document.encode() for document in documents]
    ends = np.cumsum([len(document) for document in encoded], dtype=np.int64)
    data = np.frombuffer(b"".join(encoded) + tail, np.uint8)
    return Texts(data, ends - [len(document) for document in encoded], ends)


def assert_equal(fast: Counts, slow: Counts) -> None:
    assert fast.lengths.tolist() == slow.lengths.tolist()
    assert fast.groups.tolist() == slow.groups.tolist()
    assert (fast.terms is None) == (slow.terms is None)
    if fast.terms is not None and slow.terms is not None:
        assert [column.tolist() for column in fast.terms] == [column.tolist() for column in slow.terms]


def compare(documents: list[str], tail: bytes = b"") -> None:
    for fast, slow in COUNTERS.values():
        texts = texts_of(documents, tail=tail)
        assert_equal(fast(texts), slow(texts))


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
@given(documents, st.sampled_from([b"", b"he", b"x" * 70, "é".encode() * 50, b" " * 64]))
@example([""], b"")
@example(["", "he", ""], b"e")
@example(["x" * 64 + " he", "x" * 63 + "é he"], b"")
def test_equals_plain_python(rows: list[str], tail: bytes) -> None:
    compare(rows, tail)


def test_equals_plain_python_at_every_offset() -> None:
    """Each tricky word, moved over the edges of the 64-byte windows."""
    for word in TRICKY:
        compare(["." * gap + word + " he" for gap in range(70)])
        compare(["é" * gap + " " + word + "é" for gap in range(36)])
        compare(["a" * gap + word for gap in range(66)])


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
    phrases = Phrases.of(Lexicon.build("letters", {"even": chosen[::2], "odd": chosen[1::2]}), "word")
    texts = texts_of([f"{character} {character.upper()} {character}x" for character in characters])
    assert_equal(KernelCounter(phrases, True)(texts), SimpleCounter(phrases, True)(texts))


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
def test_unsound_bytes_are_found(wrong: bytes, tokenizer: str) -> None:
    for before in (0, 1, 60, 61, 62, 63, 64, 65, 130):
        for filler in (b".", b"a"):
            document = filler * before + wrong
            data = np.frombuffer(b"good" + document + "é".encode() + b"\x80" * 80, np.uint8)
            texts = Texts(data, np.array([0, 4]), np.array([4, 4 + len(document)]))
            for way in COUNTERS[tokenizer, False]:
                with pytest.raises(UnsoundText) as caught:
                    way(texts)
                assert caught.value.row == 1


@pytest.mark.parametrize("share", some([10, 1]))
def test_real_passages(shared: Path, share: int) -> None:
    lines = (shared / "data/msmarco_trecdl/passages.tsv").read_text(encoding="utf-8").split("\n")
    passages = [line.partition("\t")[2] for line in lines if line]
    assert len(passages) == 30_045
    texts = texts_of(passages[::share])
    groups: dict[str, list[str]] = {}
    words = (shared / "data/msmarco_trecdl/wordlist_gender_representative.txt").read_text(encoding="utf-8")
    for line in words.split():
        word, _, group = line.partition(",")
        groups.setdefault(group, []).append(word)
    lexicon = Lexicon.build("published", groups)
    for tokenizer in ("word", "whitespace"):
        phrases = Phrases.of(lexicon, tokenizer)
        assert_equal(KernelCounter(phrases, True)(texts), SimpleCounter(phrases, True)(texts))


def test_longest_match_first() -> None:
    lexicon = Lexicon.build("l", {"a": ["new york", "city"], "b": ["new york city hall", "york city"]})
    for way in (KernelCounter, SimpleCounter):
        count = way(Phrases.of(lexicon, "word"))
        found = count(
            texts_of(
                ["new york city", "New-York city hall", "new new york", "york city new york", "new old york"]
            )
        )
        assert found.groups.tolist() == [[2, 0], [0, 1], [1, 0], [1, 1], [0, 0]]
        assert found.lengths.tolist() == [3, 4, 3, 4, 3]


def test_no_term_goes_from_one_document_into_the_next() -> None:
    lexicon = Lexicon.build("l", {"a": ["new york"], "b": ["x y z"]})
    for way in (KernelCounter, SimpleCounter):
        count = way(Phrases.of(lexicon, "word"))
        found = count(texts_of(["new ", "of york", "x y ", "a b z", "new york"]))
        assert found.groups.tolist() == [[0, 0], [0, 0], [0, 0], [0, 0], [1, 0]]


def test_tokenizers() -> None:
    assert tokenize("Mother's ΟΔΟΣ, İX  x\ty", "word") == ["mother", "s", "οδοσ", "İx", "x", "y"]
    assert tokenize("Mother's ΟΔΟΣ, İX  x\ty ", "whitespace") == ["mother's", "οδοσ,", "İx", "x\ty"]
    with pytest.raises(ParameterError, match="tokenizer must be one of word, whitespace, got 'bpe'"):
        Phrases.of(LEXICON, "bpe")


def test_terms_that_the_tokenizer_cannot_tell_apart() -> None:
    two = Lexicon.build("two", {"a": ["step-mother", "♀"], "b": ["step mother"]})
    with pytest.raises(DataError, match="'step-mother' and 'step mother' are in two groups") as caught:
        Phrases.of(two, "word")
    assert "'♀' can never be found" in str(caught.value)
    assert len(Phrases.of(two, "whitespace").terms) == 3
    one = Lexicon.build("one", {"a": ["step-mother", "step mother"], "b": ["x"]})
    assert Phrases.of(one, "word").terms == {("step", "mother"): 0, ("x",): 2}


def test_arrow_slices_without_room_behind() -> None:
    strings = pa.array(["he", "she he", "é man", ""] * 50, pa.large_string())
    for piece in (
        strings,
        strings.slice(3, 7),
        strings.slice(199),
        strings.slice(200),
        pa.array([], pa.large_string()),
    ):
        for fast, slow in COUNTERS.values():
            assert_equal(fast(Texts.of(piece)), slow(Texts.of(piece)))


def test_many_words_in_one_lexicon() -> None:
    words = [f"word{number}" for number in range(20_000)]
    phrases = Phrases.of(Lexicon.build("large", {"a": words[::2], "b": words[1::2]}), "word")
    texts = texts_of([f"Word{number} word{number + 15_000} word" for number in range(10_000)])
    assert_equal(KernelCounter(phrases, True)(texts), SimpleCounter(phrases, True)(texts))


def test_without_numba_the_same_and_a_word_about_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "find_spec", lambda name: None)
    with pytest.warns(EvenrankWarning, match=r"\[scan\]'"):
        slow = make_counter(LEXICON, "word")
    assert not slow.fast
    assert slow(texts_of(["he"])).groups.tolist() == [[1, 0, 0]]


def test_works_where_nothing_can_be_cached() -> None:
    """A function that cannot be kept for the next process is compiled all the same."""
    code = """
import numba.core.caching as caching
def refuse(*a, **k): raise RuntimeError("cannot cache function: no locator available")
caching.FunctionCache.__init__ = refuse
from evenrank.evidence.scan.vectors import compiled
@compiled()
def double(x): return 2 * x
raise SystemExit(double(21) != 42)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_same_on_a_processor_that_lacks_instructions(tmp_path: Path) -> None:
    """Without the one that looks 64 bytes up at once, and with none of the wider ones."""
    texts = [" ".join(random.Random(seed).choices(TRICKY, k=40)) for seed in range(100)]
    (tmp_path / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    code = f"""
import json, sys
sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(Path(__file__).parents[2] / "support")!r}]
from test_kernel import compare
compare(json.load(open({str(tmp_path / "texts.json")!r}, encoding="utf-8")))
"""
    environment = {**os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
