"""Counts that are read by need give what loaded counts give."""

from __future__ import annotations

import copy
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank.errors import DamagedError, DataError
from evenrank.evidence.scan import scan_file

KIN = er.Lexicon.build("kin", {"f": ["mother", "aunt"], "m": ["father"]})
WEIGHED = er.Lexicon.build("weighed", {"f": {"mother": 1.0, "aunt": 0.5}, "m": {"father": 1.0}})
ROWS = 3000
NAMES = [f"{'long-prefix-of-an-id-' if number % 3 else ''}{number}" for number in range(ROWS)]
LEXICONS = pytest.mark.parametrize("lexicon", ["kin", "weighed"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Counts of two lexicons, as one file, which is loaded, and as a folder."""
    folder = tmp_path_factory.mktemp("counts")
    random = np.random.default_rng(3)
    words = ["mother", "father", "aunt", "nobody", "said"]
    texts = [" ".join(random.choice(words, size)) for size in random.integers(1, 9, ROWS)]
    documents = folder / "docs.tsv"
    documents.write_text("".join(f"{name}\t{text}\n" for name, text in zip(NAMES, texts, strict=True)))
    for lexicon in (KIN, WEIGHED):
        scan_file(
            documents, lexicon, f"{folder}/{lexicon.name}/", partition_bytes=1 << 14, block_bytes=1 << 12
        )
        scan_file(documents, lexicon, folder / f"{lexicon.name}.parquet")
    return folder


def runs_of(seed: int, among: list[str], depth: int = 50) -> dict[str, er.Run]:
    random = np.random.default_rng(seed)
    scores = range(depth, 0, -1)
    return {
        name: er.read_run(
            {
                f"q{query}": dict(zip(random.choice(among, depth, replace=False), scores, strict=True))
                for query in range(5)
            },
            name=name,
        )
        for name in ("one", "two")
    }


RUNS = runs_of(5, [*NAMES, "not there", "0 "])


def scores_of(words: Any, lexicon: str = "kin", runs: Any = RUNS) -> Any:
    measures = ["NFaiRR@10", "ARaB@5"] if lexicon == "kin" else ["NFaiRR@10"]
    return er.evaluate(runs, measures, words=words, background=runs["one"], missing="drop")


@LEXICONS
def test_a_folder_gives_the_scores_of_the_file(made: Path, lexicon: str) -> None:
    found, expected = (scores_of(made / name, lexicon) for name in (lexicon, f"{lexicon}.parquet"))
    assert found.to_dict() == expected.to_dict()


def test_other_runs_get_their_own_rows(made: Path) -> None:
    words = er.read_counts(made / "kin")
    assert (len(words), "3,000" in repr(words)) == (ROWS, True)
    first = scores_of(words)
    others = runs_of(6, NAMES)
    assert scores_of(words, runs=others).to_dict() == scores_of(made / "kin.parquet", runs=others).to_dict()
    assert scores_of(words).to_dict() == first.to_dict()


@LEXICONS
def test_who_looks_at_all_documents_gets_them_in_their_order(made: Path, lexicon: str) -> None:
    words, loaded = er.read_counts(made / lexicon), er.read_counts(made / f"{lexicon}.parquet")
    scores_of(words, lexicon)
    assert words.doc_ids.to_pylist() == NAMES
    np.testing.assert_array_equal(words.counts, loaded.counts)
    np.testing.assert_array_equal(words.lengths, loaded.lengths)
    assert words.has_terms == loaded.has_terms == (lexicon == "weighed")


def test_a_verdict_counts_documents_that_nobody_ranks(made: Path, tmp_path: Path, evenrank: Any) -> None:
    words = er.read_counts(made / "kin.parquet")
    men = [name for name, (f, m) in zip(NAMES, words.counts.tolist(), strict=True) if m > f]
    ranked = {f"q{query}": dict(zip(men[query::20], range(30, 0, -1), strict=False)) for query in range(20)}
    er.write_run(er.read_run(ranked, name="men"), tmp_path / "men.trec")
    verdicts = []
    for name in ("kin", "kin.parquet"):
        page = tmp_path / f"{name}.html"
        code, _, err = evenrank("report", tmp_path / "men.trec", "--words", made / name, "-o", page)
        assert code == 0, err
        body = page.read_text(encoding="utf-8").partition("<body")[2]
        verdicts.append(body.partition('id="verdicts"')[2].partition("</section>")[0])
    assert verdicts[0] == verdicts[1]
    share = (
        (words.counts[:, 0] > words.counts[:, 1]) & (words.counts.sum(axis=1) > 1)
    ).mean()  # of women, whom nobody ranks
    assert f"{share:.0%}" in verdicts[0]


def test_threads_that_share_counts_get_all_rows(made: Path) -> None:
    words = er.read_counts(made / "kin")
    several = [runs_of(seed, NAMES) for seed in range(10, 16)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda runs: scores_of(words, runs=runs).to_dict(), several))
    assert found == [scores_of(made / "kin.parquet", runs=runs).to_dict() for runs in several]


def test_counts_can_be_sent_and_copied(made: Path) -> None:
    words = er.read_counts(made / "kin")
    expected = scores_of(words).to_dict()
    for other in (pickle.loads(pickle.dumps(words)), copy.copy(words), copy.deepcopy(words)):  # noqa: S301
        assert scores_of(other).to_dict() == expected


def test_an_unfinished_folder_is_refused(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "kin", tmp_path / "counts")
    (tmp_path / "counts" / "_evenrank.json").unlink()
    for read in (er.read_counts, scores_of):
        with pytest.raises(DamagedError) as caught:
            read(tmp_path / "counts")
        assert str(tmp_path / "counts") in str(caught.value)


def test_a_damaged_part_is_named(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "kin", tmp_path / "counts")
    part = tmp_path / "counts" / "part-00001.parquet"
    content = bytearray(part.read_bytes())
    content[4:400] = b"\xff" * 396
    part.write_bytes(content)
    with pytest.raises(DamagedError) as caught:
        scores_of(tmp_path / "counts")
    assert "part-00001.parquet" in str(caught.value)


def test_counts_of_another_lexicon_or_tokenizer_are_refused(made: Path) -> None:
    for name in ("kin", "kin.parquet"):
        with pytest.raises(DataError) as caught:
            er.read_counts(made / name, WEIGHED)
        assert "weighed" in str(caught.value)
        with pytest.raises(DataError) as caught:
            er.read_counts(made / name, tokenizer="whitespace")
        assert "whitespace" in str(caught.value)


def test_counts_are_no_documents_to_scan(made: Path, evenrank: Any) -> None:
    for name in ("kin", "kin.parquet"):
        code, _, err = evenrank("scan", made / name)
        assert code == 2
        assert name in err


def test_a_field_of_a_search_index_comes_from_a_folder(made: Path, tmp_path: Path, evenrank: Any) -> None:
    written = []
    for name in ("kin", "kin.parquet"):
        output = tmp_path / f"{name}.jsonl"
        code, _, err = evenrank("scan", made / name, "--field", "opensearch", "-o", output)
        assert code == 0, err
        written.append(output.read_bytes())
    assert written[0] == written[1]
    assert written[0].count(b"\n") >= ROWS
