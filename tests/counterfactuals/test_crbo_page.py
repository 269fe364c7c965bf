"""The page of CRBO says what the code gives, for the systems that need no model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import evenrank as er

pytestmark = pytest.mark.needs("bm25s")

PAGE = Path(__file__).resolve().parents[2] / "docs/reproductions/counterfactual-crbo.md"


def rows(title: str) -> dict[str, list[str]]:
    """The table under a heading, by the first cell."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return {
        cells[0]: cells[1:] for cells in ([c.strip() for c in line.strip("|").split("|")] for line in lines)
    }


@pytest.fixture(scope="module")
def time_collection(shared: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The articles numbered by their order, and the queries by their number."""
    folder = shared / "data/classic_ir/time"
    articles = (folder / "TIME.ALL").read_text(encoding="utf-8", errors="replace").split("*TEXT ")[1:]
    texts = [" ".join(article.partition("\n")[2].replace("*STOP", "").split()) for article in articles]
    asked = (folder / "TIME.QUE").read_text(encoding="utf-8", errors="replace")
    found = re.findall(r"\*FIND\s+(\d+)\s+(.*?)(?=\*FIND|\*STOP|\Z)", asked, re.DOTALL)
    return (
        {str(number): text for number, text in enumerate(texts, 1)},
        {number: " ".join(text.split()) for number, text in found},
    )


@pytest.mark.slow
@pytest.mark.parametrize("system", ["bm25", "bm25+rm3"])
def test_time(system: str, time_collection: tuple[dict[str, str], dict[str, str]]) -> None:
    documents, queries = time_collection
    assert (len(documents), len(queries)) == (423, 83)
    known = {"queries": queries, "tagger": "rules"}
    result = er.counterfactual(system, documents, **known)
    low, high = result.interval
    moved = sum(value < 1 - 1e-9 for value in result.scores.blocks[0].values[:, 0])
    words = er.scan(list(documents.items()), "gender-en+gender-en-names")
    bm25 = er.counterfactual("bm25", documents, **known).original
    beside = er.evaluate(result.original, "TExFAIR@10 NFaiRR@10", words=words, background=bm25)
    assert rows("TIME")[system] == [
        f"{result.crbo:.4f}",
        f"[{low:.4f}, {high:.4f}]",
        f"{moved} of 83",
        f"{beside.mean('TExFAIR@10'):.4f}",
        f"{beside.mean('NFaiRR@10'):.4f}",
    ]
    kinds = ("pronouns", "nouns", "titles", "names")
    by_kind = [f"{er.counterfactual(system, documents, kinds=[kind], **known).crbo:.4f}" for kind in kinds]
    both = er.counterfactual(system, documents, swap_queries=True, **known)
    assert rows("Which words, and the query too")[f"TIME, {system}"] == [*by_kind, f"{both.crbo:.4f}"]
