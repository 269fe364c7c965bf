"""The demo: rank the sample with BM25, score the ranking with every measure there is.

``python -m evenrank.sample.demo FOLDER`` writes the run and the scores there and prints the table.
"""

from __future__ import annotations

import sys
from pathlib import Path

from evenrank.data.attribute import Attribute
from evenrank.data.membership import Membership
from evenrank.data.polarity import Polarity
from evenrank.data.run import Run
from evenrank.errors import MissingExtraError
from evenrank.evaluation import evaluate
from evenrank.evidence.scan import scan
from evenrank.io import write_run
from evenrank.io.lexicons import read_lexicon
from evenrank.measures import AWRF, Measure, TermExposure, all_measures
from evenrank.sample import Sample, load
from evenrank.scores import Scores

DEPTH = 100
CUTOFF = 10
LEXICON = "gender-en+gender-en-names"


def bm25_run(sample: Sample, depth: int = DEPTH) -> Run:
    """The sample's documents ranked for its queries by BM25 (bm25s with its defaults, English stop words)."""
    try:
        import bm25s
    except ImportError:
        raise MissingExtraError.for_job("the demo's BM25", "bm25s", "demo") from None

    ids = list(sample.documents)
    ranker = bm25s.BM25()
    ranker.index(
        bm25s.tokenize(list(sample.documents.values()), stopwords="en", show_progress=False),
        show_progress=False,
    )
    asked = bm25s.tokenize(list(sample.queries.values()), stopwords="en", show_progress=False)
    found, scores = ranker.retrieve(asked, k=min(depth, len(ids)), show_progress=False)  # (Q, K) both
    rows = [
        (query, ids[document], float(score))
        for query, documents, row in zip(sample.queries, found, scores, strict=True)
        for document, score in zip(documents, row, strict=True)
        if score > 0  # the rest share no word with the query
    ]
    queries, documents, values = map(list, zip(*rows, strict=True))
    return Run.build(queries, documents, values, name="bm25")


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

    Groups are those of leaning; texts that take no side are left out of the order of sides.
    """
    shown: list[Measure] = []
    for cls in all_measures().values():
        names = {field.name for field in cls.parameters()}
        if cls is TermExposure:
            continue
        arguments: dict[str, str] = {"attr": "leaning"} if "attr" in names and cls is not AWRF else {}
        if cls.family == "order":
            arguments["missing"] = "drop"
        shown.append(cls(**arguments))  # type: ignore[arg-type]
    return [measure @ cutoff if measure.takes_cutoff else measure for measure in shown]


def leading_words(scores: Scores, count: int = 10) -> str:
    """The words that get most of the attention, over all queries."""
    (measure,) = scores.measures
    columns = scores.block(measure).columns
    means = sorted(((scores.mean(measure, column=column), column) for column in columns), reverse=True)
    return ", ".join(f"{word} {value:.4f}" for value, word in means[:count])


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
    )
    exposure = evaluate(run, TermExposure(cutoff=CUTOFF), words=words)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    write_run(run, target / "bm25.trec")
    scores.write(target / "scores.jsonl")
    sys.stdout.write(
        f"{len(sample.queries)} queries over {len(sample.documents)} short texts, ranked by BM25\n\n"
        f"{scores!r}\n\n"
        f"words of {LEXICON} by exposure in the first {CUTOFF} ranks: {leading_words(exposure)}\n\n"
        f"written: {target / 'bm25.trec'}, {target / 'scores.jsonl'}\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:2])
