"""What is learnt from: the inputs, and the files that a configuration names."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from evenrank.errors import ParameterError
from evenrank.inputs import Inputs
from evenrank.io import read_run
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

    def fingerprint(self) -> str:
        """The same for the same examples, in whatever files they are."""
        examples, digest = self.training, hashlib.sha256()
        for texts in (examples.query_ids, examples.query_texts, examples.documents):
            for text in texts:
                digest.update(f"{len(text)}:{text}".encode("utf-8", "surrogatepass"))
            digest.update(b"|")
        for rows in (
            examples.pair_queries,
            examples.pair_documents,
            examples.triples,
            self.validation.triples,
        ):
            digest.update(np.ascontiguousarray(rows, dtype="<i8").tobytes() + b"|")
        return digest.hexdigest()


def prepare(config: Config, inputs: Inputs) -> TrainingData:
    """Read and check the data, cut it into training and validation, and label it."""
    data = config.examples
    examples = _examples(config, inputs)
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


def _examples(config: Config, inputs: Inputs) -> Examples:
    chosen = config.examples
    if chosen.triples is not None:
        if inputs.qrels is not None:
            raise ParameterError("examples.triples stands alone: leave out the judgements (qrels)")
        return read_triples(chosen.triples, limit=chosen.limit)
    needed = {"qrels": inputs.qrels, "query_texts": inputs.query_texts, "documents": inputs.documents}
    lacking = [name for name, given in needed.items() if given is None]
    if inputs.qrels is None or lacking:
        raise ParameterError(
            "training needs judgements, texts of queries and documents (qrels, query_texts, documents), or "
            f"examples.triples; {', '.join(lacking)} "
            f"{'is' if len(lacking) == 1 else 'are'} missing"
        )
    pool = None if chosen.pool is None else read_run(chosen.pool)
    return build_examples(
        inputs.qrels,
        inputs.query_texts or {},
        read_texts(inputs.documents, wanted=needed_documents(inputs.qrels, pool)),
        pool=pool,
        min_grade=chosen.min_grade,
        negatives=chosen.negatives,
        seed=config.seed,
    )
