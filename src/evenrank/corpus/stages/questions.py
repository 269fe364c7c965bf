"""Questions: several for every topic, whole and grammatical, and a seeded sample of all."""

from __future__ import annotations

import random
import re

from evenrank.corpus.asking import Asker, user
from evenrank.corpus.prompts import read_prompt
from evenrank.corpus.records import Record, digest
from evenrank.corpus.stages import Made, Rejection, StageInputs, gathered, provenance

NUMBERED = re.compile(r"^\s*(?:\d+\s*[.):]|[-*•])\s*(.+?)\s*$")
BEGINS = re.compile(
    r"^(?:is|are|was|were|do|does|did|should|can|could|would|will|has|have|had|may|might|must|ought|shall|"
    r"to what|how|what|why|which|who|whose|whom|when|where|in what|in which|under what|for whom)\b",
    re.IGNORECASE,
)
FEWEST_WORDS = 4


def find_questions(text: str) -> tuple[list[str], list[str]]:
    """The questions of a numbered answer, and the lines that are none.

    >>> find_questions("1. Should zoos be closed?\\n2. Zoos and ethics\\n3. Do zoos help animals?")
    (['Should zoos be closed?', 'Do zoos help animals?'], ['Zoos and ethics'])
    """
    good, others = list[str](), list[str]()
    for line in text.splitlines():
        found = NUMBERED.match(line)
        said = (found[1] if found else line).strip().strip('"“”*').strip()
        if not said:
            continue
        whole = said.endswith("?") and said.count("?") == 1 and len(said.split()) >= FEWEST_WORDS
        if whole and BEGINS.match(said):
            if said not in good:
                good.append(said[0].upper() + said[1:])
        else:
            others.append(said)
    return good, others


def make_questions(inputs: StageInputs, asker: Asker) -> Made:
    """``per_topic`` questions a topic; those of a topic that gives fewer after all attempts are kept."""
    prompt, wanted = read_prompt("questions", inputs.folder), inputs.settings.questions.per_topic
    attempts, model = inputs.settings.documents.attempts, inputs.settings.writer.model

    def one(topic: Record) -> tuple[list[Record], list[Rejection]]:
        found: dict[str, Record] = {}
        others: list[str] = []
        last = ""
        for attempt in range(attempts):
            reply = asker.ask(
                user(prompt.filled(count=wanted, title=topic["title"])), topic["topic"], attempt
            )
            good, wrong = find_questions(reply.text)
            others += wrong
            last = reply.text
            for text in good:
                made = provenance(model, prompt.digest, reply, digest([topic]))
                found.setdefault(text, {"topic": topic["topic"], "text": text, "sampled": True, **made})
            if len(found) >= wanted:
                break
        records = [
            {"query": f"{topic['topic']}_q{number}", **record}
            for number, record in enumerate(list(found.values())[:wanted], 1)
        ]
        rejected = []
        if len(records) < wanted:
            why = f"{len(records)} of {wanted} questions after {attempts} attempts"
            rejected.append(Rejection(topic["topic"], why, attempts, last))
        return records, rejected

    made = gathered(asker.run(inputs.corpus.topics, one, inputs.progress))
    return Made(_sampled(made.records, inputs), made.rejected, made.undone)


def _sampled(records: tuple[Record, ...], inputs: StageInputs) -> tuple[Record, ...]:
    """Marked by whether documents are written for them. The order of a question in the draw depends on the
    seed and its id alone, so that questions that come later move no others."""
    count = inputs.settings.questions.sample
    if not count or count >= len(records):
        return records
    seed = inputs.settings.writer.seed
    drawn = sorted(records, key=lambda record: random.Random(f"{seed} {record['query']}").random())[:count]
    chosen = {record["query"] for record in drawn}
    return tuple(record | {"sampled": record["query"] in chosen} for record in records)
