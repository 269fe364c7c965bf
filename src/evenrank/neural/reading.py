"""The files that a configuration names."""

from __future__ import annotations

from dataclasses import dataclass

from evenrank.io import read_qrels, read_run
from evenrank.io.lexicons import read_lexicon
from evenrank.io.texts import read_texts
from evenrank.neural.config import Config
from evenrank.neural.examples import Examples, build_examples, needed_documents
from evenrank.neural.labels import PairLabels, label_pairs
from evenrank.neural.splits import check_kept_out, held_out, query_folds
from evenrank.neural.triples_file import read_triples


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Everything to learn from."""

    training: Examples
    validation: Examples
    labels: dict[str, PairLabels]
    kept_out: tuple[str, ...]  # the queries of the fold that is not trained on


def prepare(config: Config) -> TrainingData:
    """Read and check the data, cut it into training and validation, and label it."""
    data = config.data
    examples = _examples(config)
    queries = list(examples.query_ids)
    left_out: tuple[str, ...] = ()
    if data.folds is not None:
        left_out = query_folds(queries, data.folds, config.seed)[data.fold]
        queries = [query for query in queries if query not in set(left_out)]
    if data.keep_out is not None:
        texts = dict(zip(examples.query_ids, examples.query_texts, strict=True))
        trained = {query: texts[query] for query in queries}
        check_kept_out(trained, read_texts(data.keep_out, "queries"), data.keep_out)
    validation = held_out(queries, data.validation, config.seed)
    training = [query for query in queries if query not in set(validation)]
    labels = {
        attribute.name: label_pairs(
            examples,
            read_lexicon(attribute.lexicon),
            name=attribute.name,
            kind=attribute.labels,
            tau=attribute.tau,
        )
        for attribute in config.attributes
    }
    return TrainingData(examples.of_queries(training), examples.of_queries(validation), labels, left_out)


def _examples(config: Config) -> Examples:
    data = config.data
    if data.triples is not None:
        return read_triples(data.triples, limit=data.limit)
    qrels = read_qrels(data.qrels)
    pool = None if data.pool is None else read_run(data.pool)
    return build_examples(
        qrels,
        read_texts(data.queries, "queries"),
        read_texts(data.documents, wanted=needed_documents(qrels, pool)),
        pool=pool,
        min_grade=data.min_grade,
        negatives=data.negatives,
        seed=config.seed,
    )
