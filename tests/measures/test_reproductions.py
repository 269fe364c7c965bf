"""The pages of published numbers beside ours say what the code gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr

from evenrank import WordCounts, evaluate, read_lexicon, read_qrels, read_run, rerank, scan

PAGES = Path(__file__).resolve().parents[2] / "docs/reproductions"
RUNS = {
    "BM25": "BM25",
    "BM25+RM3": "BM25_RM3",
    "DistilBERT-TASB": "D_BERT_KD_TASB",
    "Ada2": "OPEN_AI_ADA2",
    "RepLLaMA": "REP_LLAMA",
    "SPLADE++": "SPLADE_P_P_ENSEMBLE_DISTIL",
}
SYSTEMS = {
    "BM25": "BM25", "RM3 PRF": "RM3", "MP": "match_pyramid", "KNRM": "knrm", "C-KNRM": "conv_knrm",
    "TK": "tk", "BERT L2": "bert_L2", "BERT ADV L2": "advbert_L2", "BERT L4": "bert_L4",
    "BERT ADV L4": "advbert_L4",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "data/msmarco_trecdl"


def cells(page: str) -> list[list[str]]:
    """The rows of all tables of a page."""
    lines = (PAGES / page).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


def correlated(first: np.ndarray, second: np.ndarray) -> list[str]:
    r, p = pearsonr(first, second)
    return [f"{r:.2f}", f"{p:.0e}"]


def columns_of_a_year(folder: Path, year: str, words: WordCounts) -> dict[str, list[str]]:
    """The cells of the page about one year, by the first cell of their row."""
    runs = {
        name: read_run(folder / f"runs_rankllm/{file}.{year}.trec", name=name) for name, file in RUNS.items()
    }
    scores = evaluate(
        runs,
        "NFaiRR@10 TExFAIR@10 RBDF@10",
        words=words,
        background=runs["BM25"].head(100),
        missing="neutral",
    )
    lists = {
        name: [
            scores.block(f"{m}(missing='neutral')@10", name).values[:, 0]
            for m in ("NFaiRR", "TExFAIR", "RBDF")
        ]
        for name in runs
    }
    found = {
        name: [f"{neutral.mean():.3f}", f"{exposed.mean():.3f}", *correlated(neutral, exposed)]
        for name, (neutral, exposed, _) in lists.items()
    }
    neutral, exposed, rbdf = (np.concatenate(part) for part in zip(*lists.values(), strict=True))
    found["all six, not independent"] = ["", "", *correlated(neutral, exposed)]
    for name, chosen in {
        "all": rbdf >= 0,
        "with a group word (RBDF > 0)": rbdf > 0,
        "RBDF >= 0.5": rbdf >= 0.5,
    }.items():
        found[name] = [str(int(chosen.sum())), *correlated(neutral[chosen], exposed[chosen])]
    return found


def test_correlation_of_texfair_with_nfairr(folder: Path) -> None:
    words = scan(folder / "passages.tsv", read_lexicon("gender-en+gender-en-names"))
    first, second = (columns_of_a_year(folder, year, words) for year in ("dl19", "dl20"))
    computed = {name: [*first[name], *second[name]] for name in first}
    shown = {name: rest for name, *rest in cells("texfair-correlation.md") if name not in ("run", "lists")}
    assert shown == computed
    text = (PAGES / "texfair-correlation.md").read_text(encoding="utf-8")
    shares = [
        1 - int(year["with a group word (RBDF > 0)"][0]) / int(year["all"][0]) for year in (first, second)
    ]
    assert (
        "{:.0%} of the lists of\n2019 and {:.0%} of those of 2020 have no group word".format(*shares) in text
    )


def test_table_2_of_nfairc(folder: Path) -> None:
    words = scan(folder / "passages.tsv", read_lexicon(folder / "wordlist_gender_representative.txt"))
    lines = (folder / "trecdeep19_passage.fair.tsv").read_text(encoding="utf-8").splitlines()
    queries = [line.split("\t")[0] for line in lines if line]
    qrels = read_qrels(folder / "qrels.dl19-passage.txt")
    runs = {name: read_run(folder / f"runs_cpjku_dl19fair/{file}.run") for name, file in SYSTEMS.items()}
    oracles = {f"{name}+QRels": rerank(run, "Oracle(insert=True)", qrels=qrels) for name, run in runs.items()}
    measure = "NFaiRR(missing='neutral')@10"
    scores = evaluate({**runs, **oracles}, measure, words=words, background=runs["BM25"], queries=queries)
    shown = {name: rest for name, *rest in cells("nfairc-table2.md") if name != "system"}
    assert {name: ours for name, (_, ours, _) in shown.items()} == {
        name: f"{scores.mean(measure, name):.4f}" for name in SYSTEMS
    }
    for name, (paper, _, differs) in shown.items():
        assert (abs(float(paper) - scores.mean(measure, name)) > 5e-4) == (differs == "differs"), name
    text = (PAGES / "nfairc-table2.md").read_text(encoding="utf-8")
    values = {f"{scores.mean(measure, name):.4f}" for name in oracles}
    assert len(values) == 1
    assert f"all ten systems have {values.pop()}" in text
