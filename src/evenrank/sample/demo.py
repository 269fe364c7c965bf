"""The demo: rank the sample with BM25, score the ranking with every measure there is.

``python -m evenrank.sample.demo FOLDER`` writes run, scores and report there and prints six numbers.
"""

from __future__ import annotations

import sys
from pathlib import Path

from evenrank.comparison import Comparison, compare
from evenrank.data.attribute import Attribute
from evenrank.data.membership import Membership
from evenrank.data.polarity import Polarity
from evenrank.data.run import Run
from evenrank.data.words import WordCounts
from evenrank.evaluation import evaluate
from evenrank.evidence.scan import scan
from evenrank.io import write_run
from evenrank.io.atomic import atomic_write
from evenrank.io.lexicons import read_lexicon
from evenrank.measures import Measure, all_measures, parse_measure
from evenrank.measures.exposure import TermExposure
from evenrank.rerankers import rerank
from evenrank.sample import Sample, load
from evenrank.scores import Scores
from evenrank.systems import BM25, RM3, Retriever
from evenrank.tables import number

DEPTH = 100
CUTOFF = 10
LEXICON = "gender-en+gender-en-names"
FAIRER = "Neutral(band=10)"
REPORTED = ("NFaiRR", "TExFAIR", "GF(attr='leaning')", "nDCG")


def bm25_run(sample: Sample, depth: int = DEPTH) -> Run:
    """The sample's documents ranked for its queries by BM25 (bm25s with its defaults, English stop words)."""
    return _retrieved(BM25(), sample, depth)


def rm3_run(sample: Sample, depth: int = DEPTH) -> Run:
    """The same with expanded queries: a second run, for measures of a pair."""
    return _retrieved(RM3(), sample, depth)


def _retrieved(system: Retriever, sample: Sample, depth: int) -> Run:
    system.index(sample.documents)
    return system.retrieve(sample.queries, depth)


def groups_of(sample: Sample) -> list[Membership]:
    """Who a text leans to, where both and none are half of each, and how popular it is, on a scale."""
    leaning = Attribute("leaning", ("female", "male"))
    popularity = Attribute("popularity", ("1", "2", "3", "4"), ordinal=True)
    scale = {document: str(level) for document, level in sample.popularity.items()}
    return [
        Membership.from_labels(leaning, sample.leaning, even=("both", "none")),
        Membership.from_labels(popularity, scale),
    ]


def polarity_of(sample: Sample) -> Polarity:
    """The side that a text takes in a debate."""
    sides = {
        query: {document: side for side, grades in by_side.items() for document in grades}
        for query, by_side in sample.sides.to_dict().items()
    }
    return Polarity.from_labels(sides, positive="for")


def measures_to_show(cutoff: int = CUTOFF) -> list[Measure]:
    """Every registered measure, at the cut-off where it takes one; the words' exposures go by themselves.

    Groups are those of leaning, intents those of the judgements; texts that take no side are left out of the
    order of sides.
    """
    shown: list[Measure] = []
    for cls in all_measures().values():
        names = {field.name for field in cls.parameters()}
        if cls is TermExposure:
            continue
        # measures of words or intents take groups instead where they are told to
        arguments: dict[str, str] = {"attr": "leaning"} if cls.family == "groups" and "attr" in names else {}
        if cls.family == "order":
            arguments["missing"] = "drop"
        shown.append(cls(**arguments))  # type: ignore[arg-type]
    return [measure @ cutoff if measure.takes_cutoff else measure for measure in shown]


def leading_words(scores: Scores, count: int = 10) -> str:
    """The words that get most of the attention, over all queries."""
    (measure,) = scores.measures
    columns = scores.block(measure).columns
    means = sorted(((scores.mean(measure, column=column), column) for column in columns), reverse=True)
    return ", ".join(f"{word} {number(value)}" for value, word in means[:count])


def compared(sample: Sample, run: Run, words: WordCounts) -> Comparison:
    """BM25 beside the same documents in a more neutral order."""
    return compare(
        {"bm25": run, "fairer": rerank(run, FAIRER, words=words)},
        [parse_measure(name) @ CUTOFF for name in REPORTED],
        qrels=sample.qrels,
        words=words,
        groups=groups_of(sample),
        background=run,
    )


def six_numbers(comparison: Comparison) -> list[str]:
    """What the demo found: a number and a sentence each."""
    found = {pair.measure: pair for pair in comparison.pairs}
    scores = comparison.scores

    def value(measure: str, system: str) -> float:
        return scores.mean(f"{measure}@{CUTOFF}", system)

    def shown(measure: str) -> str:
        verdict = found[f"{measure}@{CUTOFF}"].verdict
        return f"shown to be {verdict}" if verdict else "no difference shown"

    return [
        f"{value('NFaiRR', 'bm25'):.4f}  NFaiRR@10 of BM25: how neutral its lists are, 1 is the best",
        f"{value('NFaiRR', 'fairer'):.4f}  the same documents re-ranked by {FAIRER}: {shown('NFaiRR')}",
        f"{value('TExFAIR', 'bm25'):.4f}  TExFAIR@10 of BM25: how evenly words about women and men are seen",
        f"{value('TExFAIR', 'fairer'):.4f}  re-ranked: {shown('TExFAIR')}",
        f"{value('nDCG', 'bm25'):.4f}  nDCG@10 of BM25: relevance, 1 is the ideal order",
        f"{value('nDCG', 'fairer'):.4f}  re-ranked: {shown('nDCG')}",
    ]


def main(folder: str = "demo") -> None:
    sample = load()
    run = bm25_run(sample)
    words = scan(list(sample.documents.items()), read_lexicon(LEXICON), terms=True)
    scores = evaluate(
        run,
        measures_to_show(),
        qrels=sample.qrels,
        intents=sample.sides,
        words=words,
        groups=groups_of(sample),
        polarity=polarity_of(sample),
        against=rm3_run(sample),
    )
    exposure = evaluate(run, TermExposure(cutoff=CUTOFF), words=words)
    comparison = compared(sample, run, words)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    write_run(run, target / "bm25.trec")
    scores.write(target / "scores.jsonl")
    with atomic_write(target / "scores.txt") as file:
        exposed = f"words of {LEXICON} by exposure in the first {CUTOFF} ranks: {leading_words(exposure)}"
        text = f"{scores!r}\n\n{exposed}\n"
        file.write(text.encode())
    comparison.report(
        target / "report.html",
        documents=sample.documents,
        query_texts=sample.queries,
        title="The sample: BM25, and the same documents in a more neutral order",
    )
    numbers = "\n".join(six_numbers(comparison))
    sys.stdout.write(
        f"{len(sample.queries)} queries over {len(sample.documents)} texts, ranked by BM25 and re-ranked:\n"
        f"{numbers}\n"
        f"Who is favoured, for which queries, and what to do: open {target / 'report.html'} in a browser.\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:2])
