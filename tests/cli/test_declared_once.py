"""Every input is declared once: options, keywords and keys of the project file are the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import evenrank as er

Evenrank = Callable[..., SimpleNamespace]
DECLARED = ["qrels", "intents", "words", "groups", "target", "polarity", "background", "documents", "queries"]


@pytest.mark.parametrize("command", ["evaluate", "compare", "explain", "rerank", "report", "gate", "select"])
def test_options_of_every_command_are_keywords_of_its_function(evenrank: Evenrank, command: str) -> None:
    text = evenrank(command, "--help").out
    options = {line.split()[0] for line in text.splitlines() if line.startswith("  --")}
    assert {f"--{name}" for name in DECLARED} <= options
    for name in DECLARED:
        er.Inputs.of({"q": {"a": 1.0}}, **{name: None})
    with pytest.raises(TypeError, match="qrels"):
        er.Inputs.of({"q": {"a": 1.0}}, qrel=None)


def test_keys_of_the_project_file_are_those_that_are_declared(evenrank: Evenrank, tmp_path: Path) -> None:
    from evenrank.inputs.schema import ProjectFile

    schema = json.dumps(ProjectFile.model_json_schema())
    for key in ("intents", "background", "probabilities", "unlabelled", "averaged", "lexicon"):
        assert f'"{key}"' in schema
    project = tmp_path / "p.toml"
    project.write_text('[data]\nqrel = "x"\n[groups.side]\nfile = "g.csv"\ncolum = "x"\nbins = "4"\n')
    done = evenrank("--project", project, "evaluate", "-m", "RR")
    assert done.code == 1
    for said in ("data.qrel: ", "did you mean qrels", "groups.side.colum: ", "did you mean column"):
        assert said in done.err
    assert "groups.side.bins" in done.err


def test_a_table_says_how_a_file_is_read(evenrank: Evenrank, files: Path) -> None:
    """The same values as by the functions, whose keywords are the keys."""
    (files / "labels.csv").write_text("sku,kind\na,x\nb,y\nc,both\n")
    (files / "evenrank.toml").write_text(
        '[data]\nruns = ["bm25.trec"]\n[groups.kind]\nfile = "labels.csv"\ncolumns = { document = "sku" }\n'
        "values = ['x', 'y']\neven = ['both']\n[targets]\nkind = { averaged = { x = 0.5, y = 0.5 } }\n"
        "[data.qrels]\nfile = 'qrels.txt'\n"
    )
    done = evenrank("evaluate", "--missing", "none", "-m", "GroupShare@1", "--format", "jsonl")
    assert done.code == 0, done.err
    groups = er.read_groups(
        "labels.csv", "kind", columns={"document": "sku"}, values=["x", "y"], even=["both"]
    )
    expected = er.evaluate("bm25.trec", "GroupShare@1", qrels="qrels.txt", groups=groups, missing="none")
    rows = [json.loads(line)["value"] for line in done.out.splitlines()]
    assert rows == pytest.approx([row.value for row in expected.summary() if row.value is not None])
