"""The way from a question to a measure: it leads somewhere, and to the same as the commands take."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from evenrank import ParameterError, all_measures, parse_measure
from evenrank.cli import main
from evenrank.rerankers import all_rerankers

DOCS = Path(__file__).parents[2] / "docs"


def test_every_leaf_is_a_measure_with_a_page() -> None:
    page = (DOCS / "choosing.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (.+\?) \| \[`(.+?)`\]\((measures/\w+\.md)\)( \\\*)? \| (.+?) \|$", page, re.MULTILINE
    )
    assert len(rows) == page.count("](measures/") > 20
    for question, name, link, _, because in rows:
        measure = parse_measure(name)
        assert DOCS / link == DOCS / "measures" / f"{measure.name}.md", question
        assert (DOCS / link).exists(), question
        # the neighbours that it names are others
        assert measure.name not in {word.strip(";,.") for word in because.split()}, question
    assert len({question for question, *_ in rows}) == len({name for _, name, *_ in rows}) == len(rows)


@pytest.mark.parametrize(
    ("section", "option", "name", "text"),
    [
        ("judgements (", "--qrels", "qrels.txt", "q 0 a 1\n"),
        ("judgements by intent", "--intents", "intents.txt", "q 1 a 1\n"),
        ("groups", "--groups", "side=side.csv", "document,side\na,x\nb,y\n"),
    ],
)
def test_commands_take_what_the_page_marks(
    section: str, option: str, name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    page = (DOCS / "choosing.md").read_text(encoding="utf-8")
    marked = re.findall(r"\[`(.+?)`\].*?\\\*", page.split(f"\n## You have {section}")[1].split("\n## ")[0])
    monkeypatch.chdir(tmp_path)
    Path("run.trec").write_text("q Q0 a 1 2.0 run\nq Q0 b 2 1.0 run\n")
    Path(name.partition(":")[0].rpartition("=")[2]).write_text(text)
    assert main(["evaluate", "run.trec", option, name, "--format", "jsonl"]) == 0
    chosen = [json.loads(line)["measure"] for line in capsys.readouterr().out.splitlines()]
    assert [measure.replace("(attr='side')", "") for measure in chosen] == marked


def test_the_page_about_other_tools_names_what_there_is() -> None:
    """Everything in the column 'here' is a measure, a re-ranker, an attention, an option or a function."""
    promised = re.findall(r"`evenrank\.[a-z_.]+\.(\w+)`", (DOCS / "stability.md").read_text(encoding="utf-8"))
    known = {*all_measures(), *all_rerankers(), *promised, "file"}  # an attention that needs a path

    def is_known(name: str) -> bool:
        try:
            return name in known or bool(parse_measure(f"AWRF(attention={name})"))
        except ParameterError:
            return False

    rows = [line.split("|") for line in (DOCS / "peers.md").read_text(encoding="utf-8").splitlines()]
    named = [name for row in rows if len(row) == 6 for name in re.findall(r"`([^`]+)`", row[3])]
    assert len(named) > 30
    for name in named:
        if not name.startswith(("--", "Scores.", "attr=", "queries=")):
            assert all(is_known(part.partition("(")[0].partition("@")[0]) for part in name.split(" * ")), name


@pytest.mark.parametrize("name", all_measures())
def test_every_page_says_when_to_use_the_measure_and_names_a_neighbour(name: str) -> None:
    """One plain sentence, with another measure of the registry that may be the better choice."""
    text = " ".join(all_measures()[name].describe()["text"].split())
    _, found, said = text.partition("When to use: ")
    assert found, f"{name}: the docstring has no line 'When to use: ...'"
    sentence = said.partition(". ")[0]
    assert len(sentence) > 40
    others = set(re.findall(r"[A-Za-z_]+", sentence)) & (set(all_measures()) - {name})
    assert others, f"{name}: no other measure is named in {sentence!r}"
