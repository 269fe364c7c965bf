"""Documents: the article of each side, and further ones from the perspective of that side."""

from __future__ import annotations

from evenrank.corpus.asking import Asker, user
from evenrank.corpus.checks import Seen, find_problem
from evenrank.corpus.prompts import read_prompt
from evenrank.corpus.records import Record, digest
from evenrank.corpus.stages import Made, Rejection, StageInputs, gathered, provenance

PROVENANCE = ("model", "prompt", "seed", "time")


def make_documents(inputs: StageInputs, asker: Asker) -> Made:
    """``per_side`` documents for each side. An answer that cannot be used is asked for again ``attempts``
    times; what is missing after that is counted, and the questions are kept or dropped by the filters."""
    prompt = read_prompt("document", inputs.folder)
    settings, model = inputs.settings, inputs.settings.writer.model
    sides: dict[str, list[Record]] = {}
    for record in inputs.corpus.perspectives:
        sides.setdefault(record["query"], []).append(record)

    def one(question: Record) -> tuple[list[Record], list[Rejection]]:
        records, rejected = list[Record](), list[Rejection]()
        seen = Seen(settings.filters.near)

        def keep(name: str, side: Record, text: str, made: Record) -> None:
            seen.add(name, text)
            records.append(
                {"document": name, "query": question["query"], "perspective": side["perspective"],
                 "text": text, **made}
            )  # fmt: skip

        for side in sides[question["query"]]:
            made_from = digest([question, side])
            stem = f"{question['query']}_{side['perspective']}_d"
            if "article" in side:
                keep(f"{stem}1", side, side["article"],
                     {**{name: side[name] for name in PROVENANCE}, "made_from": made_from})  # fmt: skip
            for number in range(2 if "article" in side else 1, settings.documents.per_side + 1):
                name, problem, text = f"{stem}{number}", None, ""
                asked = user(prompt.filled(question=question["text"], perspective=side["text"]))
                for attempt in range(settings.documents.attempts):
                    reply = asker.ask(asked, name, attempt)
                    text = reply.text.strip()
                    problem = find_problem(text, settings.filters, reply.finish) or seen.problem(text)
                    if problem is None:
                        keep(name, side, text, provenance(model, prompt.digest, reply, made_from))
                        break
                else:
                    rejected.append(Rejection(name, str(problem), settings.documents.attempts, text))
        return records, rejected

    used = [question for question in inputs.corpus.questions if question["query"] in sides]
    return gathered(asker.run(used, one, inputs.progress))
