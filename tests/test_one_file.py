"""Whatever can be added to the package is added by one new file in its folder, which nothing else lists."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import evenrank as er
from evenrank import all_measures
from evenrank.cli import main
from evenrank.grammar import unregister
from evenrank.io.table_formats.declared import FORMATS
from evenrank.modules import load_folder
from evenrank.report.page.rendering import _SECTIONS, all_sections
from evenrank.rerankers import all_rerankers
from evenrank.systems import make_system

MEASURE = '''
from typing import Any

import numpy as np

from evenrank.grammar import declare
from evenrank.measures.base import Direction, Measure, Result


@declare
class Length(Measure):
    """How many documents the list has."""

    direction = Direction.HIGHER

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

    def compute(self, evidence: Any) -> Result:
        return Result(evidence.ranked.mask.sum(axis=1).astype(np.float64))
'''
RERANKER = '''
import numpy as np

from evenrank.grammar import declare
from evenrank.rerankers.base import Reordered, Reranker


@declare
class Backwards(Reranker):
    """The last document first."""

    def reorder(self, evidence, generator):
        length = evidence.ranked.mask.sum(axis=1, keepdims=True)
        ranks = np.arange(evidence.ranked.mask.shape[1])[None, :]
        return Reordered(np.where(ranks < length, length - 1 - ranks, -1))
'''
SECTION = """
from evenrank.report.page.rendering import Section, render, section


@section(15)
def greeting_section(data):
    return Section("greeting", "Greeting", render("figures.html", charts=[], lead="Welcome."))
"""

SYSTEM = """
from evenrank.grammar import declare
from evenrank.systems.declared import LEXICAL, SystemTerm


class Shuffled:
    name = "last-first"

    def index(self, documents):
        self.documents = list(documents)

    def retrieve(self, queries, k=100):
        from evenrank.systems.base import run_of

        ranked = self.documents[::-1][:k]
        return run_of([(query, ranked, list(range(len(ranked), 0, -1))) for query in queries], self.name)


@declare
class LastFirst(SystemTerm):
    "The last document first."

    family = LEXICAL

    def make(self, settings):
        return Shuffled()
"""

FORMAT = """
from evenrank.io.frames import Frame
from evenrank.io.row_problems import RowProblems
from evenrank.io.table_formats.declared import OpenTable, declare_format, text_of


@declare_format("semicolons", ".scsv", has_header=True)
def open_semicolons(source, nothing):
    head, *rows = [line.split(";") for line in text_of(source, nothing).splitlines()]
    frame = Frame(head, lambda name: [row[head.index(name)] for row in rows], text=True)
    return OpenTable(frame, RowProblems(source.name, lines=range(2, len(rows) + 2)), {})
"""


@pytest.fixture
def new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """Puts a module into a folder of the package, as far as importing goes, and loads the folder."""
    added: list[str] = []

    def add(package: str, name: str, code: str) -> None:
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
        module = importlib.import_module(package)
        monkeypatch.setattr(module, "__path__", [*module.__path__, str(tmp_path)])
        importlib.invalidate_caches()
        load_folder(package, module.__path__)
        added.append(f"{package}.{name}")

    yield add
    for name in added:
        sys.modules.pop(name, None)


RUN = er.Run.build(["q", "q", "q"], ["a", "b", "c"], [3.0, 2.0, 1.0])


def test_a_measure(new_file) -> None:  # type: ignore[no-untyped-def]
    new_file("evenrank.measures", "length", MEASURE)
    try:
        assert "Length" in all_measures()
        assert er.evaluate(RUN, "Length").mean("Length") == 3
    finally:
        unregister("measure", "Length")


def test_a_reranker(new_file) -> None:  # type: ignore[no-untyped-def]
    new_file("evenrank.rerankers", "backwards", RERANKER)
    try:
        assert "Backwards" in all_rerankers()
        assert er.rerank(RUN, "Backwards()").documents("q") == ["c", "b", "a"]
    finally:
        unregister("reranker", "Backwards")


@pytest.mark.needs("altair")
def test_a_section_of_the_report(new_file, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    new_file("evenrank.report.page.sections", "greeting", SECTION)
    try:
        names = [make.__name__ for make in all_sections()]
        place = names.index("greeting_section")
        assert names[place - 1 : place + 2] == ["trend_section", "greeting_section", "systems_section"]
        comparison = er.compare({"one": RUN, "two": RUN}, "P@1", qrels={"q": {"a": 1}})
        comparison.report(tmp_path / "report.html")
        assert "Welcome." in (tmp_path / "report.html").read_text(encoding="utf-8")
    finally:
        _SECTIONS.pop("greeting_section")


def test_a_system(new_file) -> None:  # type: ignore[no-untyped-def]
    new_file("evenrank.systems", "last_first", SYSTEM)
    try:
        system = make_system("LastFirst@2")
        system.index({"a": "x", "b": "y"})
        assert system.retrieve({"q": "x"}).documents("q") == ["b", "a"]
    finally:
        unregister("system", "LastFirst")


def test_a_format(new_file, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    """Runs, judgements and the options of commands know it at once."""
    new_file("evenrank.io.table_formats", "semicolons", FORMAT)
    try:
        (tmp_path / "run.scsv").write_text("query;document;score\nq;a;2\nq;b;1\n")
        (tmp_path / "qrels.dat").write_text("query;document;grade\nq;b;1\n")
        run = er.read_run(tmp_path / "run.scsv")
        assert run.documents("q") == ["a", "b"]
        qrels = er.read_qrels(tmp_path / "qrels.dat", format="semicolons")
        assert er.evaluate(run, "RR", qrels=qrels).mean("RR") == 0.5
        judged = f"{tmp_path / 'qrels.dat'}:format=semicolons"
        assert main(["evaluate", str(tmp_path / "run.scsv"), "--qrels", judged, "-m", "RR"]) == 0
        assert "0.5000" in capsys.readouterr().out
    finally:
        FORMATS.pop("semicolons")
