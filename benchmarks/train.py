"""Training and scoring pairs a second, beside the cross-encoder of sentence-transformers, in one run.

    python benchmarks/train.py --write

Both get the same checkpoint with the same layers, the same texts, batch, length, precision and device; time
includes making tokens. Rounds alternate; medians. Ours trains on triples, two pairs each, with the max-margin
loss, and looks at every step whether all is finite; theirs on pairs with binary cross entropy, in its own
loop (``old_fit``, which needs no further package). The third row has the adversary on top.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
MARK = "<!-- table -->\n"


def texts(count: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Queries and passages of the lengths that MS MARCO has: about 6 and 56 words."""
    generator = np.random.default_rng(seed)
    words = np.array(
        [
            "time",
            "year",
            "people",
            "way",
            "day",
            "man",
            "thing",
            "woman",
            "life",
            "child",
            "world",
            "school",
            "state",
            "family",
            "student",
            "group",
            "country",
            "problem",
            "hand",
            "part",
            "place",
            "case",
            "week",
            "company",
            "system",
            "program",
            "question",
            "work",
            "number",
            "night",
            "point",
            "home",
            "water",
            "room",
            "mother",
            "area",
            "money",
            "story",
            "fact",
            "month",
            "lot",
            "right",
            "study",
            "book",
            "eye",
            "job",
            "word",
        ]
    )
    lengths = np.clip(generator.normal(56, 18, count).astype(int), 10, 150)
    queries = [" ".join(generator.choice(words, 6)) for _ in range(count)]
    return queries, [" ".join(generator.choice(words, length)) for length in lengths.tolist()]


def timed(work: Callable[[], object], device: str) -> float:
    import torch

    if device == "cuda":
        torch.cuda.synchronize()
    begin = time.perf_counter()
    with contextlib.redirect_stderr(io.StringIO()):
        work()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--encoder", default=None, help="folder of the checkpoint; default: the shipped one")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--pairs", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=64, help="pairs at once")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    table = measure(options)
    print(table)
    if options.write:
        page = HERE / "train.md"
        head = page.read_text(encoding="utf-8").partition(MARK)[0]
        page.write_text(head + MARK + table, encoding="utf-8")


def measure(options: argparse.Namespace) -> str:
    import torch
    import transformers
    from sentence_transformers import CrossEncoder, InputExample
    from sentence_transformers import __version__ as their_version
    from torch.utils.data import DataLoader

    from evenrank.neural import CrossEncoderRanker, Examples, PairTokens, Stage, Trainer
    from evenrank.neural.config import Training
    from evenrank.neural.encoders import encoder_path
    from evenrank.neural.labels import PairLabels
    from evenrank.neural.scoring import pair_scores

    torch.set_num_threads(options.threads)
    transformers.utils.logging.set_verbosity_error()
    path = options.encoder or encoder_path("minilm")
    device, count, half = options.device, options.pairs, options.pairs // 2
    queries, documents = texts(count)
    config = {"num_hidden_layers": options.layers}
    theirs = CrossEncoder(
        path, num_labels=1, max_length=256, device=device, local_files_only=True, config_kwargs=config
    )
    ranker = CrossEncoderRanker.start(path, {"label": ("no", "yes")}, layers=options.layers).to(device)
    # pairs of one query stand side by side: a triple is two of them
    rows = np.arange(count)
    examples = Examples(
        tuple(map(str, rows)),
        tuple(queries),
        tuple(documents),
        rows,
        rows,
        np.column_stack([rows[:half], rows[half:]]),
    )
    labels = {"label": PairLabels("label", ("no", "yes"), rows % 2)}
    settings = Training(batch=options.batch // 2, warmup=0.1)

    def tokens() -> PairTokens:
        return PairTokens(ranker.tokenizer, examples.texts, count, 256)

    def our_training(kind: str) -> Callable[[], object]:
        return lambda: Trainer(ranker, tokens(), labels, settings).run(
            Stage(kind, examples.triples, 1, strength=0.5, schedule="linear")
        )

    def their_training() -> object:
        samples = [
            InputExample(texts=[query, text], label=float(row % 2))
            for row, (query, text) in enumerate(zip(queries, documents, strict=True))
        ]
        loader: DataLoader[InputExample] = DataLoader(samples, shuffle=True, batch_size=options.batch)  # type: ignore[arg-type]
        return theirs.old_fit(
            loader, epochs=1, warmup_steps=count // options.batch // 10, show_progress_bar=False
        )

    pairs = list(zip(queries, documents, strict=True))
    work: dict[str, Callable[[], object]] = {
        "scoring, theirs": lambda: theirs.predict(pairs, batch_size=options.batch, show_progress_bar=False),
        "scoring": lambda: pair_scores(ranker, tokens(), rows, batch=options.batch),
        "training, theirs": their_training,
        "training": our_training("tune"),
        "training with an adversary": our_training("joint"),
    }
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for number in range(options.rounds + 1):
        for name, one in work.items():
            spent = timed(one, device)
            if number:  # the first round warms up
                seconds[name].append(spent)
    rate = {name: count / statistics.median(spent) for name, spent in seconds.items()}
    where = f"cpu, {options.threads} threads" if device == "cpu" else device
    lines = [
        f"torch {torch.__version__}, transformers {transformers.__version__}, sentence-transformers "
        f"{their_version}, {where}; {options.layers} layers, {count:,} pairs, batches of {options.batch}, "
        f"float32, {options.rounds} rounds.",
        "",
        "| what | sentence-transformers, pairs/s | evenrank, pairs/s | ratio |",
        "|---|---|---|---|",
    ]
    for name in ("scoring", "training", "training with an adversary"):
        beside = rate[f"{name.partition(' with')[0]}, theirs"]
        lines.append(f"| {name} | {beside:,.0f} | {rate[name]:,.0f} | {rate[name] / beside:.2f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
