"""The reports of two published collections, by the commands that the docs show."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pages
import pytest

from evenrank.cli import main

DOCS = Path(__file__).resolve().parents[2] / "docs/reproductions"


def command_of(page: str, places: dict[str, str]) -> list[str]:
    """The words of the command under "The report", with files where they are here."""
    text = (DOCS / page).read_text(encoding="utf-8").partition("## The report")[2]
    (block,) = re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)
    words = shlex.split(block.replace("\\\n", " "))
    assert words[:2] == ["evenrank", "report"]
    out: list[str] = []
    for word in words[1:]:
        for name, place in places.items():
            word = re.sub(rf"(^|=){re.escape(name)}", rf"\g<1>{place}", word, count=1)
        folder, star, suffix = word.rpartition("*")
        out += sorted(str(path) for path in Path(folder).glob(f"*{suffix}")) if star else [word]
    return out


def values_in(root: Any, measure: str) -> dict[str, str]:
    table = next(
        e
        for e in pages.by_class(root, "systems")
        if pages.text_of(pages.by_class(e, "measure")[0]) == measure
    )
    rows = [row for row in table.iter(f"{pages.HTML}tr") if row[0].get("scope") == "row"]
    return {pages.text_of(row[0]).removesuffix(" baseline"): (row[1].text or "").strip() for row in rows}


@pytest.mark.slow
def test_ten_systems_on_trec_dl(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = shared / "data/msmarco_trecdl"
    words = command_of(
        "nfairc-table2.md",
        {
            "runs/": f"{data}/runs_cpjku_dl19fair/",
            "BM25.run": f"{data}/runs_cpjku_dl19fair/BM25.run",
            **{
                name: f"{data}/{name}"
                for name in (
                    "trecdeep19_passage.fair.tsv",
                    "passages.tsv",
                    "wordlist_gender_representative.txt",
                    "qrels.dl19-passage.txt",
                )
            },
        },
    )
    monkeypatch.chdir(tmp_path)
    assert main(words) == 0
    root = pages.parsed(tmp_path / "report.html")
    published = (DOCS / "nfairc-table2.md").read_text(encoding="utf-8")
    found = values_in(root, "NFaiRR@10")
    assert len(found) == 10
    assert sorted(found.values()) == sorted(
        re.findall(r"^\| [^|]+ \| 0\.\d{3} \| (0\.\d{4}) \|", published, re.M)
    )
    assert len(pages.by_class(root, "query")) == 30
    assert len([e for e in pages.by_class(root, "verdict") if "better" in e.get("class", "")]) == 4  # of nDCG


@pytest.mark.slow
def test_twenty_one_runs_of_touche(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = shared / "data/touche22_task2"
    words = command_of(
        "touche22-gfr.md",
        {
            "runs/": f"{data}/runs/",
            "touche-task2": f"{data}/qrels/touche-task2",
            "topics-": f"{data}/topics-",
        },
    )
    monkeypatch.chdir(tmp_path)
    assert main(words) == 0
    root = pages.parsed(tmp_path / "report.html")
    published = (DOCS / "touche22-gfr.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\S+) \| (0\.\d{4}) \| (0\.\d{4}) \| (0\.\d{4}) \|", published, re.M)
    assert len(rows) == 21
    for place, measure in enumerate(("iRBU@5", "GF@5", "GFR@5"), 1):
        found = {name.removesuffix(".top100"): value for name, value in values_in(root, measure).items()}
        assert found == {row[0]: row[place] for row in rows}
    first = pages.text_of(pages.by_class(root, "question")[0])
    assert first.endswith("?")  # what was asked, not its number
