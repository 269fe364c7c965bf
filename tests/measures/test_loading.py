"""A command loads the measures that it computes, and reads their names once."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evenrank as er
from evenrank.cli import main
from evenrank.rerankers import all_rerankers

# as load_folder lists the modules of a folder
WITHOUT_FOLDERS = """
import pkgutil, sys
from evenrank.measures import parse_measures
from evenrank.rerankers import parse_reranker
def refuse(*_): raise SystemExit(f"everything is loaded for {name}")
pkgutil.iter_modules = refuse
"""


def fresh(code: str) -> tuple[set[str], str]:
    """The modules that a new process has then, and what it says."""
    code += "\nimport sys; sys.stdout.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return set(done.stdout.split()), done.stderr


NAMES = [
    (er.all_measures(), "parse_measures(name + '@10')"),
    (all_rerankers(), "parse_reranker(name)"),
]


@pytest.mark.parametrize(("known", "read"), NAMES)
def test_every_name_is_found_without_loading_all(known: dict[str, type], read: str) -> None:
    ours = [name for name, cls in known.items() if cls.__module__.startswith("evenrank.")]
    modules, said = fresh(f"{WITHOUT_FOLDERS}\nfor name in {ours}: {read}")
    assert modules, said


@pytest.mark.parametrize(
    ("code", "families"),
    [
        ("import evenrank as er; er.parse_measure('nDCG@10')", {"relevance"}),
        ("from evenrank import AP", {"relevance"}),
        ("import evenrank as er; er.parse_measure('AWRF(attention=rbp(p=0.8))@10')", {"attention_fairness"}),
        ("import evenrank.evidence.scan", set()),
    ],
)
def test_other_families_are_not_loaded(code: str, families: set[str]) -> None:
    modules, said = fresh(code)
    loaded = {name.rpartition(".")[2] for name in modules if ".measures." in name}
    assert families <= loaded, said
    assert not {"skew", "fair", "duo"} & loaded


def test_a_name_that_is_unknown_is_compared_with_all() -> None:
    assert "MinSkew" in fresh("import evenrank as er; er.parse_measure('Min_Skew')")[1]


def test_names_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--demo"]) == 0
    read: list[Any] = []
    parse = ast.parse

    def watched(text: Any, *rest: Any, **how: Any) -> ast.AST:
        if how.get("mode") == "eval":
            read.append(text)
        return parse(text, *rest, **how)

    monkeypatch.setattr(ast, "parse", watched)
    main(["evaluate", "--no-project", "bm25.trec", "--qrels", "qrels.txt", "-m", "nDCG@10 RR@10"])
    assert read == ["nDCG@10", "RR@10"]
    assert "0.2745" in capsys.readouterr().out
