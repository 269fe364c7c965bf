"""Distractors: texts in the words of a document that answer another question on its topic.

The two prompts of pair-duo-2024 A.5, and a third that asks whether the result answers the question after all.
``evenrank polarise --distractors`` reads the file as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from evenrank.arrays import Floats
from evenrank.corpus.asking import Asker, user
from evenrank.corpus.checks import find_problem
from evenrank.corpus.prompts import read_prompt
from evenrank.corpus.records import Record, digest
from evenrank.corpus.stages import Made, Rejection, StageInputs, gathered, provenance
from evenrank.corpus.style import FUNCTION_WORDS, WORD

SAID = re.compile(r"^\W*(yes|no)\b", re.IGNORECASE)


def make_distractors(inputs: StageInputs, asker: Asker) -> Made:
    """For the first ``per_side`` documents of each side; a document whose topic has no other question that is
    unlike enough is rejected with the similarity that was found."""
    first, second, check = (read_prompt(name, inputs.folder) for name in ("distractor", "neutral", "answers"))
    settings, model = inputs.settings, inputs.settings.writer.model
    questions = {record["query"]: record for record in inputs.corpus.questions}
    sides = {(record["query"], record["perspective"]): record for record in inputs.corpus.perspectives}
    chosen = _chosen(inputs)
    others = _other_questions(inputs, sorted({record["query"] for record in chosen}))

    def one(document: Record) -> tuple[list[Record], list[Rejection]]:
        query, side = document["query"], sides[document["query"], document["perspective"]]
        name = re.sub(r"_d(\d+)$", r"_x\1", document["document"])
        other = others[query]
        if not isinstance(other, dict):
            return [], [Rejection(name, other)]
        problem: str | None = None
        for attempt in range(settings.documents.attempts):
            draft = asker.ask(
                user(first.filled(document=document["text"], other=other["text"])), f"{name} draft", attempt
            )
            reply = asker.ask(
                user(second.filled(draft=draft.text.strip(), perspective=side["text"])), name, attempt
            )
            text = reply.text.strip()
            problem = find_problem(text, settings.filters, reply.finish)
            if problem is not None:
                continue
            asked = user(check.filled(text=text, question=questions[query]["text"]))
            said = SAID.match(asker.ask(asked, f"{name} check", attempt).text)
            if said is not None and said[1].lower() == "no":
                made_from = digest([document, side, other])
                prompts = f"{first.digest} {second.digest}"
                return [
                    {"document": name, "query": query, "perspective": document["perspective"],
                     "like": document["document"], "about": other["text"], "text": text,
                     **provenance(model, prompts, reply, made_from)}
                ], []  # fmt: skip
            problem = "answers the question" if said else "the check said neither yes nor no"
        return [], [Rejection(name, str(problem), settings.documents.attempts, text)]

    return gathered(asker.run(chosen, one, inputs.progress))


def _chosen(inputs: StageInputs) -> list[Record]:
    """The first documents of each side."""
    counts: Counter[tuple[str, str]] = Counter()
    found = []
    for record in inputs.corpus.documents:
        key = record["query"], record["perspective"]
        counts[key] += 1
        if counts[key] <= inputs.settings.distractors.per_side:
            found.append(record)
    return found


def _other_questions(inputs: StageInputs, queries: Sequence[str]) -> dict[str, Record | str]:
    """For every query the question on its topic that is least like it, or why there is none."""
    by_topic: dict[str, list[Record]] = {}
    for record in inputs.corpus.questions:
        by_topic.setdefault(record["topic"], []).append(record)
    own = {record["query"]: record for record in inputs.corpus.questions}
    encode = question_encoder(inputs.settings.distractors.encoder, [each["text"] for each in own.values()])
    most = inputs.settings.distractors.distinct
    found: dict[str, Record | str] = {}
    for query in queries:
        rest = [record for record in by_topic[own[query]["topic"]] if record["query"] != query]
        if not rest:
            found[query] = "its topic has no other question"
            continue
        vectors = encode([own[query]["text"], *(record["text"] for record in rest)])
        likeness = vectors[1:] @ vectors[0]
        best = int(np.argmin(likeness))
        found[query] = (
            rest[best]
            if likeness[best] < most
            else f"no other question on its topic is distinct: the least alike has {likeness[best]:.2f}, "
            f"not below {most:g}"
        )
    return found


def question_encoder(name: str, texts: Sequence[str]) -> Callable[[Sequence[str]], Floats]:
    """Unit vectors of questions: of their content words, or by a sentence-transformers model."""
    if name != "words":
        from evenrank.evidence.encoding import as_encoder

        model = as_encoder(name)
        return lambda asked: _units(np.asarray(model.encode(list(asked)), dtype=np.float64))
    common = set(FUNCTION_WORDS)

    def words(text: str) -> list[str]:
        return [word for word in (each.lower() for each in WORD.findall(text)) if word not in common]

    place = {word: at for at, word in enumerate(sorted({word for text in texts for word in words(text)}))}

    def encode(asked: Sequence[str]) -> Floats:
        table = np.zeros((len(asked), max(len(place), 1)))
        for row, text in enumerate(asked):
            for word in words(text):
                table[row, place[word]] += 1.0
        return _units(table)

    return encode


def _units(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0), dtype=np.float64)
