"""What is learnt from: the inputs, and the files that a configuration names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenrank.errors import DataError, ParameterError
from evenrank.inputs import Inputs
from evenrank.io import read_run
from evenrank.io.lexicons import read_lexicon
from evenrank.io.texts import read_texts
from evenrank.neural.config import BI_ENCODER, DISTILLATION, Config
from evenrank.neural.examples import Examples, build_examples, needed_documents
from evenrank.neural.labels import PairLabels, label_documents, label_pairs, label_texts
from evenrank.neural.lists import ListSizes, draw_lists
from evenrank.neural.scrub import scrub_examples
from evenrank.neural.splits import check_kept_out, held_out, query_folds
from evenrank.neural.triples_file import read_triples

if TYPE_CHECKING:  # it needs torch, and what is read here does not
    from evenrank.neural.teacher import Teacher

Teach = Callable[[Sequence[str], Sequence[str]], "Teacher"]


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Everything to learn from."""

    training: Examples
    validation: Examples
    labels: dict[str, PairLabels]
    kept_out: tuple[str, ...]  # the queries of the fold that is not trained on
    teacher: Teacher | None = None  # of a distillation

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
        for name, found in sorted(self.labels.items()):  # a lexicon may have changed
            digest.update(repr((name, found.values)).encode())
            digest.update(np.ascontiguousarray(found.codes, dtype="<i8").tobytes() + b"|")
        return digest.hexdigest()


def prepare(config: Config, inputs: Inputs, teach: Teach | None = None) -> TrainingData:
    """Read and check the data, cut it into training and validation, and label it.

    ``teach`` gives the teacher's vectors of queries and documents, for a distillation.
    """
    data = config.examples
    teacher = None
    if config.model.loss == DISTILLATION:
        if teach is None:
            raise ParameterError("a distillation needs a teacher")
        examples, teacher = _lists(config, inputs, teach)
    else:
        examples = _examples(config, inputs)
    lexicons = {attribute.name: read_lexicon(attribute.lexicon) for attribute in config.attributes}
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
    labelled = label_documents if config.model.kind == BI_ENCODER else label_pairs
    labels = {
        attribute.name: labelled(
            examples, lexicons[attribute.name], name=attribute.name, kind=attribute.labels, tau=attribute.tau
        )
        for attribute in config.attributes
    }
    if data.scrub:  # only now: labels are about what was there
        for lexicon in lexicons.values():
            examples = scrub_examples(examples, lexicon)
    return TrainingData(
        examples.of_queries(training), examples.of_queries(validation), labels, left_out, teacher
    )


def _lists(config: Config, inputs: Inputs, teach: Teach) -> tuple[Examples, Teacher]:
    """Lists of a teacher's ranking for the queries, among all documents, or those of the pool."""
    queries, pool = inputs.query_texts or {}, config.examples.pool
    if not queries or inputs.documents is None:
        raise ParameterError(
            "a distillation needs texts of queries and documents (query_texts, documents); it needs no "
            "judgements"
        )
    wanted = None if pool is None else set(read_run(pool).doc_ids.to_pylist())
    documents = list(dict.fromkeys(read_texts(inputs.documents, wanted=wanted).values()))
    if len(documents) < 2:
        raise DataError("a distillation orders documents: two with different texts are needed")
    teacher = teach(list(queries.values()), documents)
    marked = np.zeros(len(documents), dtype=bool)
    for attribute in config.attributes:
        found = label_texts(
            [""] * len(documents), documents, read_lexicon(attribute.lexicon),
            kind=attribute.labels, tau=attribute.tau,
        )  # fmt: skip
        marked |= found.codes > 0
    wish = config.distil
    sizes = ListSizes(min(wish.depth, len(documents)), wish.documents, wish.lists)
    return (
        draw_lists(
            teacher.first(sizes.depth), list(queries), list(queries.values()), documents, marked, sizes,
            config.seed,
        ),
        teacher,
    )  # fmt: skip


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
