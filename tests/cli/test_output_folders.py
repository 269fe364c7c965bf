"""An output whose folder is not there: one error, before any work, in every command that writes a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

Evenrank = Callable[..., SimpleNamespace]

# the inputs are not there either: that the folder is named shows that nothing was read before
COMMANDS = {
    "rerank": (["rerank", "no.trec", "--with", "Random"], "r.trec"),
    "rerank of several": (["rerank", "no.trec", "--with", "Random", "--with", "DetCons"], "r.csv"),
    "select": (["select", "no.trec", "none.trec"], "s.csv"),
    "select, figure": (["select", "no.trec", "none.trec", "--figure"], "s.svg"),
    "scan": (["scan", "no.tsv", "--lexicon", "gender-en"], "c.parquet"),
    "scan to a folder": (["scan", "no.tsv", "--lexicon", "gender-en"], "c/"),
    "scan, field": (["scan", "no.parquet", "--field", "opensearch"], "f.jsonl"),
    "scan, groups": (["scan", "no.tsv", "--lexicon", "gender-en", "--field", "groups"], "g.parquet"),
    "debias of vectors": (["debias", "erase", "no.parquet", "--documents", "no.tsv"], "v.parquet"),
    "evaluate": (["evaluate", "no.trec"], "e.csv"),
    "compare": (["compare", "no.trec", "none.trec"], "c.csv"),
    "explain": (["explain", "no.trec"], "x.csv"),
    "report": (["report", "no.trec"], "r.html"),
    "polarise": (["polarise", "no.csv"], "p.parquet"),
    "counterfactual": (["counterfactual", "rank", "no.tsv", "none.tsv"], "c.csv"),
    "lexicon": (["lexicon", "check", "no.csv"], "l.csv"),
    "queryset collect": (["queryset", "collect", "no.csv"], "q.csv"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_folder_is_named_before_anything_is_read(
    command: str, evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words, name = COMMANDS[command]
    done = evenrank(*words, *([] if words[-1] == "--figure" else ["-o"]), f"m 2/{name}")
    assert f"m 2/{name}: no such folder: m 2 (make it: mkdir -p 'm 2')" in done.err
    assert (done.code, list(tmp_path.iterdir())) == (1, [])


def test_draws_and_models_make_their_folder(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.trec").write_text("q Q0 a 1 2 r\nq Q0 b 2 1 r\n")
    done = evenrank("rerank", "r.trec", "--with", "Random", "--repeat", "2", "-o", "m2/draws/")
    assert (done.code, len(list(Path("m2/draws").iterdir()))) == (0, 2), done.err
    # the encoder is not there, so that nothing but the folder is made
    done = evenrank("debias", "erase", "./no", "--documents", "no.tsv", "-o", "m3/eraser.safetensors")
    assert "no such folder: m3" not in done.err
    assert done.code != 0
