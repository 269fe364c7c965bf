"""Every kind of file with content that no tool writes, and what is no regular file where one is wanted."""

from __future__ import annotations

import gzip
import os
import re
import socket
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Evenrank = Callable[..., SimpleNamespace]

DIGITS = b"9" * 5000
BUG = re.compile(r"Traceback|\w+Warning:|\(a bug;")
EVALUATE = ("evaluate", "bm25.trec")
JUDGED = (*EVALUATE, "--qrels", "qrels.txt")
GROUPED = (*JUDGED, "--missing", "neutral", "-m", "AWRF(attr='sex')@2", "--groups")
SCAN = ("scan", "docs.tsv", "-o", "o.parquet", "--lexicon")
ERASED = ("--documents", "docs.tsv", "-o")
GLOVE = "".join(
    f"{word} {sign} 0.{place}\n"
    for sign, words in ((1, "she her woman women girl nurse"), (-1, "he his man men boy"))
    for place, word in enumerate(words.split(), 1)
)
RATED = "data.qrels = { file = '*', kind = 'ratings'"
SWAP = ("counterfactual", "swap", "docs.tsv", "-o", "swapped.tsv")

KINDS: dict[str, tuple[tuple[str, ...], str]] = {
    # the command, with * where the file is named, and a sound content of it
    "run.trec": (("evaluate", "*", "--qrels", "qrels.txt", "-m", "RR"), "q1 Q0 a 1 2.5 t\n"),
    "run.csv": (("evaluate", "*", "--qrels", "qrels.txt", "-m", "RR"), "query,document,score\nq1,a,2.5\n"),
    "run.jsonl": (
        ("evaluate", "*", "--qrels", "qrels.txt", "-m", "RR"),
        '{"query": "q1", "document": "a", "score": 2.5}\n',
    ),
    "qrels.trec": ((*EVALUATE, "-m", "RR", "--qrels", "*"), "q1 0 a 1\n"),
    "qrels.csv": ((*EVALUATE, "-m", "RR", "--qrels", "*"), "query,document,grade\nq1,a,1\n"),
    "intents.trec": ((*EVALUATE, "-m", "alpha_nDCG@2", "--intents", "*"), "q1 i a 1\n"),
    "chances.csv": (
        (
            *EVALUATE, "-m", "ERR_IA@2", "--project",
            "data.intents = { file = 'intents.txt', probabilities = '*' }",
        ),
        "q1 1 0.5\nq1 2 0.5\n",
    ),
    "clicks.csv": (
        (*EVALUATE, "-m", "nDCG@2", "--project", "data.qrels = { file = '*', kind = 'clicks' }"),
        "query,document,rank,clicked\nq1,a,1,1\n",
    ),
    "ratings.csv": (
        (*EVALUATE, "-m", "nDCG@2", "--project", f"{RATED}, step = 0.5 }}"), "user,item,rating\nq1,a,2.5\n"
    ),
    "fractions.csv": (
        (*EVALUATE, "-m", "nDCG@2", "--project", f"{RATED} }}"), "user,item,rating\nq1,a,2.5\n"
    ),
    "sexes.csv": ((*GROUPED, "sex=*"), "document,sex\na,f\nb,m\n"),
    "shares.csv": ((*GROUPED, "sex=*"), "document,sex,share\na,f,0.5\na,m,0.5\n"),
    "sexes.jsonl": ((*GROUPED, "sex=*"), '{"id": "a", "sex": "f"}\n{"id": "b", "sex": "m"}\n'),
    "rates.csv": (
        (*GROUPED[:-1], "--project", "groups.sex = { file = 'groups.csv', error = '*' }"),
        "true,f,m\nf,9,1\nm,2,8\n",
    ),
    "target.csv": ((*GROUPED, "sex=groups.csv", "--target", "sex=*"), "value,share\nf,0.5\nm,0.5\n"),
    "labels.csv": (
        (
            *EVALUATE, "--missing", "drop", "-m", "DUO@2", "--project",
            "data.polarity = { file = '*', positive = 'pro' }",
        ),
        "document,label\na,pro\nb,con\n",
    ),
    "background.txt": ((*EVALUATE, "--words", "c.parquet", "-m", "NFaiRR@2", "--background", "*"), "a\nb\n"),
    "counts.parquet": ((*EVALUATE, "-m", "NFaiRR@2", "--words", "*"), ""),
    "queries.tsv": ((*JUDGED, "-m", "RR", "--queries", "*"), "q1\twho is it\nq2\tand who\n"),
    "queries.txt": ((*JUDGED, "-m", "RR", "--queries", "*"), "q1\n"),
    "categories.csv": ((*JUDGED, "-m", "RR", "--by", "*"), "query,category\nq1,x\nq2,y\n"),
    "curve.csv": (
        (*GROUPED, "sex=groups.csv", "-m", "AWRF(attr='sex', attention=file(path='*'))@2"), "1 0.5\n2 0.25\n"
    ),
    "words.csv": ((*SCAN, "*"), "word,group\nshe,female\nhe,male\n"),
    "words.json": ((*SCAN, "*"), '{"name": "x", "groups": {"f": ["she"], "m": ["he"]}}'),
    "docs.tsv": (("scan", "*", "-o", "o.parquet", "--lexicon", "gender-en"), "a\tshe\n"),
    "docs.csv": (("scan", "*", "-o", "o.parquet", "--lexicon", "gender-en"), "id,text\na,she\n"),
    "docs.jsonl": (
        ("scan", "*", "-o", "o.parquet", "--lexicon", "gender-en"), '{"id": "a", "text": "she"}\n'
    ),
    "docs.trectext": (
        ("scan", "*", "-o", "o.parquet", "--lexicon", "gender-en"), "<DOC><DOCNO>a</DOCNO>she</DOC>\n"
    ),
    "mapping.csv": ((*SWAP, "--mapping", "*"), "word,becomes\nshe,he\nhe,she\n"),
    "weights.txt": (("lexicon", "weigh", "gender-en", "*", "--vectors", "glove.txt"), "nurse\n"),
    "glove.d.txt": (
        ("lexicon", "weigh", "gender-en", "nouns.txt", "--vectors", "*"),
        GLOVE,
    ),
    "vectors.npy": (("debias", "erase", "*", *ERASED, "e.safetensors"), ""),
    "vectors.parquet": (("debias", "erase", "*", *ERASED, "e.safetensors"), ""),
    "scores.jsonl": (("compare", "--scores", "*"), ""),
    "polarity.parquet": (("evaluate", "bm25.trec", "-m", "DUO@2", "--polarity", "*"), ""),
    "procedure.toml": (
        ("queryset", "sheets", "log.tsv", "--procedure", "*", "-o", "sheets"),
        "workers = 3\n",
    ),
    "project.toml": (
        ("--project", "*", *EVALUATE, "-m", "RR"),
        '[data]\nqrels = "../qrels.txt"\n[compare]\nseed = 10\n',
    ),
}  # fmt: skip


def with_numbers(sound: str, number: bytes) -> bytes:
    """The content with a number where it has one: the last of each line."""
    return re.sub(rb"-?\d+(?:\.\d+)?(?=\D*$)", number, sound.encode(), flags=re.MULTILINE)


HOSTILE: dict[str, Callable[[str], bytes]] = {
    "empty": lambda sound: b"",
    "one newline": lambda sound: b"\n",
    "only a byte order mark": lambda sound: b"\xef\xbb\xbf",
    "NUL": lambda sound: b"\0" * 100,
    "NUL inside": lambda sound: sound.encode()[:-2] + b"\0" + sound.encode()[-2:],
    "a lone carriage return": lambda sound: sound.replace("\n", "\r").encode(),
    "invalid UTF-8": lambda sound: sound.encode().rstrip(b"\n}") + b"\xff\n",
    "invalid UTF-8 at the beginning": lambda sound: b"\xff\xfe" + sound.encode(),
    "UTF-16": lambda sound: sound.encode("utf-16"),
    "a lone surrogate": lambda sound: sound.encode() + b'{"id": "\\ud800"}\n',
    "random bytes": lambda sound: bytes(number * 167 % 256 for number in range(2000)),
    "1e300": lambda sound: with_numbers(sound, b"1e300"),
    "1e400": lambda sound: with_numbers(sound, b"1e400"),
    "-1e300": lambda sound: with_numbers(sound, b"-1e300"),
    "1e-320": lambda sound: with_numbers(sound, b"1e-320"),
    "5,000 digits": lambda sound: with_numbers(sound, DIGITS),
    "nan": lambda sound: with_numbers(sound, b"nan"),
    "Arabic digits": lambda sound: with_numbers(sound, "\u0661".encode()),
    "a quote that is never closed": lambda sound: b'"' + sound.encode(),
    "a long cell": lambda sound: sound.encode() + b"x" * 200_000,
    "only separators": lambda sound: b",\t ,\n" * 20,
    "brackets": lambda sound: b"[" * 20_000,
    "cut gzip": lambda sound: gzip.compress(sound.encode() * 100)[:-20],
    "cut Parquet": lambda sound: b"PAR1" + bytes(100) + b"PAR1",
}  # fmt: skip


@pytest.fixture
def inputs(files: Path, evenrank: Evenrank) -> Path:
    (files / "docs.tsv").write_text("a\tshe\nb\the\nc\tit\nd\tshe\ne\the\n")
    (files / "groups.csv").write_text("document,sex\na,f\nb,m\nc,f\nd,m\ne,f\n")
    assert evenrank("scan", "docs.tsv", "--lexicon", "gender-en", "-o", "c.parquet").code == 0
    (files / "nouns.txt").write_text("nurse\n")
    (files / "glove.txt").write_text(GLOVE)
    (files / "log.tsv").write_text("q1\tis she a nurse\nq2\twhere is he\n")
    (files / "here").mkdir()
    table = np.array([[0.0, 1.0], [1.0, 0.5], [0.25, 1.0], [1.0, 0.0], [0.5, 2.0]])
    made: dict[str, Callable[[Path], object]] = {
        "counts.parquet": lambda path: path.write_bytes((files / "c.parquet").read_bytes()),
        "vectors.npy": lambda path: np.save(path, table),
        "vectors.parquet": lambda path: pq.write_table(
            pa.table({"document": list("abcde"), "vector": table.tolist()}), path
        ),
        "scores.jsonl": lambda path: evenrank(
            "evaluate", "bm25.trec", "dense.trec", "--qrels", "qrels.txt", "-m", "RR", "-o", path
        ),
        "polarity.parquet": lambda path: pq.write_table(
            pa.table({"document": list("abcde"), "score": [1.0, -1.0, 0.5, 0.0, -0.5]}), path
        ),
    }
    for name, write in made.items():
        write(files / "here" / name)
    (files / "here" / "vectors.txt").write_text("a\nb\nc\nd\ne\n")
    return files


def command_for(kind: str, name: str) -> list[str]:
    """The words of a command; what stands behind ``--project`` may be the text of the file."""
    words = [word.replace("*", name) for word in KINDS[kind][0]]
    for place, word in enumerate(words):
        if " = {" in word:
            Path("case.toml").write_text(word)
            words[place] = "case.toml"
    return words


@pytest.mark.parametrize("kind", KINDS)
def test_no_content_is_a_bug_of_ours(kind: str, inputs: Path, evenrank: Evenrank) -> None:
    name = f"here/{kind}"
    sound = KINDS[kind][1]
    if sound:
        (inputs / name).write_text(sound)
    done = evenrank(*command_for(kind, name))
    assert done.code == 0, done.err
    wrong = {}
    for what, make in HOSTILE.items():
        (inputs / name).write_bytes(make(sound))
        with warnings.catch_warnings(record=True) as raw:
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", ResourceWarning)
            done = evenrank(*command_for(kind, name))
        is_said = done.code == 0 or done.err.startswith("evenrank")
        if done.code not in (0, 1, 2) or not is_said or BUG.search(done.err) or raw:
            wrong[what] = (done.code, done.err, [str(one.message) for one in raw])
    assert wrong == {}


@contextmanager
def fed_pipe(path: Path, content: bytes) -> Iterator[None]:
    """A pipe that gives its content as often as it is opened: who reads it gets a sound file, and no wait."""
    os.mkfifo(path)
    done = False

    def feed() -> None:
        while not done:
            with suppress(OSError):  # whoever reads may stop early
                path.write_bytes(content)

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    try:
        yield
    finally:
        done = True
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        feeder.join()
        os.close(reader)


def refused(done: SimpleNamespace, name: str, kind: str) -> bool:
    """Whether it is an error in the input that names the file and says what it is."""
    return done.code in (1, 2) and name in done.err and kind in done.err and not BUG.search(done.err)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_regular_file_is_refused_by_name(kind: str, inputs: Path, evenrank: Evenrank) -> None:
    path = inputs / "here" / kind
    content = KINDS[kind][1].encode() or path.read_bytes()
    call = command_for(kind, f"here/{kind}")
    path.unlink(missing_ok=True)
    with fed_pipe(path, content):
        assert refused(done := evenrank(*call), kind, "is a pipe"), done
    path.unlink()
    path.symlink_to("/dev/zero")
    assert refused(done := evenrank(*call), kind, "is a device"), done
    path.unlink()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"here/{kind}")
        assert refused(done := evenrank(*call), kind, "is a socket"), done


@pytest.mark.parametrize("pipe", ["mine.toml", "shop.toml"])
def test_a_project_and_its_engine_files_are_regular_files(
    pipe: str, inputs: Path, evenrank: Evenrank
) -> None:
    (inputs / "queries.csv").write_text("query,text\nq1,lamp\n")
    written = '[data]\nqueries = "queries.csv"\n[engines]\nshop = "shop.toml"\n'
    if pipe == "shop.toml":
        (inputs / "mine.toml").write_text(written)
    with fed_pipe(inputs / pipe, written.encode() if pipe == "mine.toml" else b'address = "x.db"\n'):
        done = evenrank("--project", "mine.toml", "doctor")
        assert f"{pipe}: is a pipe" in done.out + done.err
        assert done.code in (1, 2)
    (inputs / "words.csv").write_text("")
    with fed_pipe(inputs / "other.toml", b"[[a]]\noutput = 'words.csv'\n"):  # a command that reads no project
        done = evenrank("lexicon", "show", "gender-en", "-o", "words.csv", "--project", "other.toml")
        assert done.code == 0, done


def test_a_folder_with_what_is_no_regular_file_is_refused(inputs: Path, evenrank: Evenrank) -> None:
    (inputs / "runs").mkdir()
    (inputs / "runs" / "bm25.trec").write_bytes((inputs / "bm25.trec").read_bytes())
    with fed_pipe(inputs / "runs" / "pipe.trec", b"q1 Q0 a 1 1.0 t\n"):
        done = evenrank("evaluate", "runs", "--qrels", "qrels.txt", "-m", "RR")
        assert refused(done, "runs/pipe.trec", "is a pipe"), done
    (inputs / "shards").mkdir()
    (inputs / "shards" / "a.jsonl").write_text('{"id": "a", "text": "she"}\n')
    with fed_pipe(inputs / "shards" / "b.jsonl", b'{"id": "b", "text": "he"}\n'):
        for name in ("shards", "shards/*.jsonl"):
            done = evenrank("scan", name, "--lexicon", "gender-en", "-o", "o.parquet")
            assert refused(done, "shards/b.jsonl", "is a pipe"), done
    assert not (inputs / "o.parquet").exists()


def test_a_directory_where_a_file_is_wanted(inputs: Path, evenrank: Evenrank) -> None:
    (inputs / "qrels").mkdir()
    done = evenrank("evaluate", "bm25.trec", "--qrels", "qrels", "-m", "RR")
    assert refused(done, "qrels", "is a directory"), done


@pytest.mark.parametrize(
    "call",
    [
        (*JUDGED, "-m", "RR", "-o", "NAME.csv"),
        ("evaluate", "NAME", "--qrels", "qrels.txt", "-m", "RR"),
        ("evaluate", "NAME=bm25.trec", "--qrels", "qrels.txt", "-m", "RR"),
        ("evaluate", "bm25.trec", "--qrels", "NAME", "-m", "RR"),
        (*JUDGED, "-m", "RR", "--by", "NAME"),
        (*JUDGED, "-m", "RR", "--queries", "NAME"),
        (*GROUPED, "sex=NAME"),
        (*GROUPED, "sex=groups.csv", "--target", "sex=NAME"),
        (*SCAN, "NAME"),
        ("scan", "NAME.tsv", "--lexicon", "gender-en", "-o", "o.parquet"),
        ("scan", "docs.tsv", "--lexicon", "gender-en", "-o", "NAME.parquet"),
        ("scan", "docs.tsv", "--lexicon", "gender-en", "-o", "NAME/"),
        ("rerank", "bm25.trec", "--with", "NAME", "-o", "o.trec"),
        (*JUDGED, "-m", "RR", "--figure", "NAME.svg"),
        ("report", "bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "-o", "NAME.html"),
        ("compare", "bm25.trec", "dense.trec", "--qrels", "qrels.txt", "-m", "RR", "--baseline", "NAME"),
        ("audit", "NAME", "--qrels", "qrels.txt", "-o", "NAME"),
        ("init", "NAME"),
        ("debias", "erase", "NAME"),
        ("polarise", "NAME.csv", "-o", "p.parquet"),
        ("--project", "NAME", "evaluate", "bm25.trec", "-m", "RR"),
    ],
    ids=" ".join,
)
def test_a_name_that_is_too_long_for_a_file(call: tuple[str, ...], inputs: Path, evenrank: Evenrank) -> None:
    done = evenrank(*(word.replace("NAME", "x" * 300) for word in call))
    assert done.code in (0, 1, 2), done
    assert not BUG.search(done.err), done
    assert done.code == 0 or done.err.startswith("evenrank: "), done


def test_a_link_to_a_regular_file_is_read(inputs: Path, evenrank: Evenrank) -> None:
    (inputs / "link.txt").symlink_to("qrels.txt")
    assert evenrank(*EVALUATE, "--qrels", "link.txt", "-m", "RR").code == 0
