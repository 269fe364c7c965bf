"""Adversarial training where the truth is known: texts in which group words were planted beside relevance.

Queries name a topic, and all documents of a query are about it. Relevant ones more often have words of
substance, others words of noise; and group words stand in four of five relevant documents, but in one of
five others. A ranker that is only tuned learns both, so that its lists are full of group words; one that is
trained against an adversary should keep the first and forget the second.

    python benchmarks/planted.py --seeds 5 --joint-epochs 10 --adversary-rate 5e-3 --write

needs the extra [train]. Every seed draws its own texts, queries, ranker and probes. Measured on queries that
no training saw: what a fresh adversary tells (balanced accuracy, chance 0.5), NFaiRR@10 and nDCG@10, for
BM25, the tuned ranker, the one trained against the adversary (with dropout and decay too), the tuned one
whose vectors had the label erased, the tuned one with a penalty, and a tuned one that sees no group words.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import evenrank as er

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs/reproductions/planted.md"
MARK = "<!-- table -->\n"
MEASURES = ("NFaiRR@10", "nDCG@10")

TOPICS = [
    "bridge",
    "violin",
    "copper",
    "volcano",
    "harbour",
    "saddle",
    "telescope",
    "orchard",
    "glacier",
    "tunnel",
    "lantern",
    "compass",
    "kettle",
    "parade",
    "meadow",
    "cathedral",
    "pottery",
    "windmill",
    "locomotive",
    "submarine",
    "pepper",
    "cotton",
    "marble",
    "granite",
    "squash",
    "chess",
    "opera",
    "ballet",
    "drum",
    "canyon",
    "desert",
    "lagoon",
    "reef",
    "comet",
    "eclipse",
    "magnet",
    "battery",
    "turbine",
    "crane",
    "elevator",
    "escalator",
    "fountain",
    "statue",
    "mosaic",
    "carpet",
    "blanket",
    "pillow",
    "mirror",
    "candle",
    "perfume",
    "soap",
    "shampoo",
    "vinegar",
    "mustard",
    "honey",
    "cheese",
    "butter",
    "yogurt",
    "noodle",
    "biscuit",
    "pancake",
    "waffle",
    "pretzel",
    "sandwich",
    "salad",
    "soup",
    "stew",
    "sausage",
    "bacon",
    "salmon",
    "trout",
    "lobster",
    "oyster",
    "turtle",
    "lizard",
    "falcon",
    "pigeon",
    "sparrow",
    "penguin",
    "dolphin",
    "whale",
    "otter",
    "beaver",
    "badger",
    "hedgehog",
    "squirrel",
    "camel",
    "donkey",
    "goat",
    "sheep",
    "tractor",
    "plough",
    "barn",
    "fence",
    "gate",
]
SUBSTANCE = [
    "explains",
    "details",
    "method",
    "steps",
    "causes",
    "evidence",
    "measured",
    "careful",
    "complete",
    "guide",
]
NOISE = [
    "advert",
    "gossip",
    "rumour",
    "click",
    "offer",
    "banner",
    "random",
    "unrelated",
    "filler",
    "nonsense",
]
PLAIN = [
    "the",
    "a",
    "of",
    "in",
    "with",
    "about",
    "near",
    "after",
    "before",
    "many",
    "some",
    "often",
    "today",
    "place",
    "part",
    "way",
    "time",
    "year",
    "small",
    "large",
]
MALE = ["he", "him", "his", "man", "men", "father", "brother", "son", "boy", "uncle"]
FEMALE = ["she", "her", "hers", "woman", "women", "mother", "sister", "daughter", "girl", "aunt"]


@dataclass
class Planted:
    queries: dict[str, str]
    documents: dict[str, str]
    qrels: er.Qrels
    run: er.Run  # BM25


def plant(seed: int, queries: int, documents: int = 20) -> Planted:
    """Texts in which relevance and group words are correlated by construction."""
    generator = np.random.default_rng([seed, 11])
    draw = lambda words, count: generator.choice(words, count).tolist()  # noqa: E731
    texts: dict[str, str] = {}
    asked: dict[str, str] = {}
    rows: list[tuple[str, str, int]] = []
    for number in range(queries):
        query = f"q{number}"
        topic = draw(TOPICS, 2)
        asked[query] = " ".join(topic)
        for place in range(documents):
            relevant = place < documents * 2 // 5
            words = topic[:1] + draw(topic, 1 + generator.binomial(3, 0.6 if relevant else 0.4))
            words += draw(SUBSTANCE, generator.binomial(4, 0.65 if relevant else 0.3))
            words += draw(NOISE, generator.binomial(4, 0.3 if relevant else 0.65))
            if generator.random() < (0.8 if relevant else 0.2):
                words += draw(MALE if generator.random() < 0.7 else FEMALE, 3)
            words += draw(PLAIN, 10)
            name = f"{query}-{place}"
            texts[name] = " ".join(generator.permutation(words).tolist())
            rows.append((query, name, int(relevant)))
    qrels = er.Qrels.build(*map(list, zip(*rows, strict=True)))
    return Planted(asked, texts, qrels, bm25(asked, texts))


def bm25(queries: dict[str, str], documents: dict[str, str], k: float = 0.9, b: float = 0.4) -> er.Run:
    """Each query's own documents in the order of BM25 over all of them."""
    bags = {name: Counter(text.split()) for name, text in documents.items()}
    frequency = Counter(word for bag in bags.values() for word in bag)
    mean = sum(bag.total() for bag in bags.values()) / len(bags)

    def score(query: str, bag: Counter[str]) -> float:
        found = 0.0
        for word in query.split():
            rarity = math.log(1 + (len(bags) - frequency[word] + 0.5) / (frequency[word] + 0.5))
            found += rarity * bag[word] * (k + 1) / (bag[word] + k * (1 - b + b * bag.total() / mean))
        return found

    rows = [(name.partition("-")[0], name) for name in documents]
    scores = [score(queries[query], bags[name]) for query, name in rows]
    return er.Run.build([q for q, _ in rows], [d for _, d in rows], scores, name="BM25")


def one_seed(options: dict[str, Any]) -> dict[str, Any]:
    """Train and measure everything for one seed."""
    import torch

    from evenrank.erasure import Eraser
    from evenrank.neural import (
        CrossEncoderRanker,
        NeuralReranker,
        PairTokens,
        Stage,
        Trainer,
        balanced,
        build_examples,
        label_pairs,
        probe_ranker,
        scrub_examples,
    )
    from evenrank.neural.config import Adversary, Training
    from evenrank.neural.precision import as_device, own_randomness
    from evenrank.neural.probe import probe_vectors
    from evenrank.neural.scoring import pair_vectors

    torch.set_num_threads(options["threads"])
    seed, begin = options["seed"], time.monotonic()
    lexicon = er.Lexicon.build("kin", {"male": MALE, "female": FEMALE})
    learnt = plant(2 * seed, options["train"])
    tested = plant(2 * seed + 1, options["test"])
    examples = build_examples(learnt.qrels, learnt.queries, learnt.documents, negatives=4, seed=seed)
    attacked = build_examples(tested.qrels, tested.queries, tested.documents, negatives=4, seed=seed)
    labels = {"kin": label_pairs(examples, lexicon, name="kin")}
    attacked_labels = label_pairs(attacked, lexicon, name="kin")
    settings = Training(
        batch=32, learning_rate=options["rate"], adversary_learning_rate=options["adversary_rate"]
    )
    device = as_device(options["device"])
    words = er.scan(tested.documents.items(), lexicon)
    even = balanced(examples.triples, labels, np.random.default_rng([seed, 2]))
    result: dict[str, Any] = {"seed": seed, "scores": {}, "probes": {}}
    probes: dict[str, Any] = {}
    runs: dict[str, Any] = {}

    def ranker_of(texts: Any, dropout: float = 0.0, against: Any = None) -> tuple[Any, Any]:
        ranker = CrossEncoderRanker.start(
            options["encoder"],
            {"kin": labels["kin"].values},
            layers=options["layers"],
            max_length=64,
            seed=seed,
            dropout=dropout,
        ).to(device)
        tokens = PairTokens(ranker.tokenizer, texts.texts, len(texts.pair_queries), 64)
        return ranker, Trainer(ranker, tokens, labels, settings, adversary=against or Adversary())

    def measure(name: str, ranker: Any, texts: Any = None) -> None:
        run = tested.run
        if ranker is not None:
            seen = texts or (tested.queries, tested.documents)
            run = er.rerank(run, NeuralReranker.of(ranker, *seen, called=name))
        judge(name, run)
        runs[name] = run

    def judge(name: str, run: Any) -> None:
        scores = er.evaluate(
            run,
            "nDCG@10 NFaiRR@10",
            qrels=tested.qrels,
            words=words,
            background=tested.run,
            background_depth=20,
        )
        result["scores"][name] = {
            measure: scores.block(measure).values[:, 0].tolist() for measure in ("nDCG@10", "NFaiRR@10")
        }

    def erase(ranker: Any) -> None:
        """Fit to the vectors of the pairs to learn from; order and probe with those of the others."""
        vectors = {
            place: pair_vectors(
                ranker,
                PairTokens(ranker.tokenizer, pairs.texts, len(pairs.pair_queries), 64),
                np.arange(len(pairs.pair_queries)),
            )
            for place, pairs in (("learnt", examples), ("tested", attacked))
        }
        eraser = Eraser.fit(vectors["learnt"], [str(code) for code in labels["kin"].codes])
        rows = [(query, document) for query, own in tested.run.to_dict().items() for document in own]
        every = PairTokens(
            ranker.tokenizer,
            lambda chosen: (
                [tested.queries[rows[row][0]] for row in chosen],
                [tested.documents[rows[row][1]] for row in chosen],
            ),
            len(rows),
            64,
        )
        erased = eraser(pair_vectors(ranker, every, np.arange(len(rows))))
        with torch.inference_mode():
            scores = ranker.scores(torch.from_numpy(erased).to(ranker.device)).cpu().tolist()
        named = [query for query, _ in rows], [document for _, document in rows]
        judge("tuned, label erased", er.Run.build(*named, scores))
        generator = np.random.default_rng([seed, 7])
        chosen = balanced(attacked.triples, {"kin": attacked_labels}, generator, None).ravel()
        pairs, back = np.unique(chosen, return_inverse=True)
        probes["tuned, label erased"] = probe_vectors(
            eraser(vectors["tested"][pairs]),
            attacked_labels.codes[pairs],
            attacked.pair_queries[pairs],
            np.bincount(back, minlength=len(pairs)),
            attacked_labels,
            seed=seed,
            epochs=30,
            least_steps=options["probe_steps"],
        )

    def attack(name: str, ranker: Any, texts: Any = None, *, shuffled: bool = False) -> None:
        texts = attacked if texts is None else texts
        tokens = PairTokens(ranker.tokenizer, texts.texts, len(texts.pair_queries), 64)
        probes[name] = probe_ranker(
            ranker,
            tokens,
            texts,
            attacked_labels,
            seed=seed,
            shuffled=shuffled,
            epochs=30,
            least_steps=options["probe_steps"],
        )

    with own_randomness(device):
        measure("BM25", None)
        ranker, trainer = ranker_of(examples)
        attack("before any training", ranker)
        trainer.run(Stage("tune", examples.triples, options["epochs"], seed, schedule="linear"))
        measure("tuned", ranker)
        attack("tuned", ranker)
        attack("tuned, shuffled labels", ranker, shuffled=True)
        erase(ranker)
        for lam in (0.5, 1):
            lowered = er.rerank(runs["tuned"], f"Penalty(lam={lam})@20", words=words)
            judge(f"tuned, penalty {lam:g}", lowered)
        tuned = {name: value.clone() for name, value in ranker.state_dict().items()}
        trainer.run(Stage("adversary", even, options["adversary_epochs"], seed))
        start = {name: value.clone() for name, value in ranker.state_dict().items()}
        for strength in options["strengths"]:
            ranker.load_state_dict(start)
            trainer.run(Stage("joint", even, options["joint_epochs"], seed, strength))
            measure(f"lambda {strength:g}", ranker)
            attack(f"lambda {strength:g}", ranker)
        against = Adversary(dropout=0.3, weight_decay=0.3, steps=2)
        ranker, trainer = ranker_of(examples, against.dropout, against)
        ranker.load_state_dict(tuned)
        trainer.run(Stage("adversary", even, options["adversary_epochs"], seed))
        trainer.run(Stage("joint", even, options["joint_epochs"], seed, options["strengths"][-1]))
        name = f"lambda {options['strengths'][-1]:g}, dropout and decay"
        measure(name, ranker)
        attack(name, ranker)
        scrubbed = scrub_examples(examples, lexicon)
        ranker, trainer = ranker_of(scrubbed)
        trainer.run(Stage("tune", scrubbed.triples, options["epochs"], seed, schedule="linear"))
        from evenrank.evidence.scan.phrases import Phrases
        from evenrank.neural.scrub import scrub

        phrases = Phrases.of(lexicon, "word")
        clean = {name: scrub(text, phrases) for name, text in tested.documents.items()}
        measure("scrubbed", ranker, (tested.queries, clean))
        attack("scrubbed", ranker, scrub_examples(attacked, lexicon))
    for name, found in probes.items():
        change = found.change_from(probes["tuned"])
        result["probes"][name] = {"accuracy": found.accuracy, "interval": found.interval(), "change": change}
    result["seconds"] = time.monotonic() - begin
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--strengths", type=float, nargs="+", default=[0.0, 1.0])
    parser.add_argument("--epochs", type=float, default=2)
    parser.add_argument("--adversary-epochs", type=float, default=1)
    parser.add_argument("--joint-epochs", type=float, default=4)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--adversary-rate", type=float, default=1e-3)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--train", type=int, default=120, help="queries to learn from")
    parser.add_argument("--test", type=int, default=100, help="queries to measure on")
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--probe-steps", type=int, default=0, help="least steps of a probe, beside 30 epochs")
    parser.add_argument("--jobs", type=int, default=1, help="seeds at the same time")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--results", type=Path, default=HERE / "work/planted.json")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    parser.add_argument(
        "--render", action="store_true", help="train nothing; show the results that are there"
    )
    options = vars(parser.parse_args())
    if options["render"]:
        show(json.loads(options["results"].read_text())["results"], options["write"])
        return
    jobs = [{**options, "seed": options["first_seed"] + place} for place in range(options["seeds"])]
    for job in jobs:
        job.pop("results")
    if options["jobs"] == 1:
        results = [one_seed(job) for job in jobs]
    else:
        with ProcessPoolExecutor(options["jobs"], mp_context=get_context("spawn")) as pool:
            results = list(pool.map(one_seed, jobs))
    options["results"].parent.mkdir(parents=True, exist_ok=True)
    shown = {name: value for name, value in options.items() if name not in ("results", "write", "render")}
    options["results"].write_text(json.dumps({"options": shown, "results": results}))
    show(results, options["write"])


def show(results: list[dict[str, Any]], write: bool) -> None:
    table = render(results)
    print(table)
    if write:
        head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
        PAGE.write_text(head + MARK + table, encoding="utf-8")


def render(results: list[dict[str, Any]]) -> str:
    """Means over the seeds with their intervals, then every seed."""
    names = list(dict.fromkeys(name for one in results for name in (*one["scores"], *one["probes"])))
    lines = [
        f"Means over {len(results)} seeds, with the 95% interval of Student's t:",
        "",
        "| ranker | probe, balanced accuracy | NFaiRR@10 | nDCG@10 |",
        "|---|---|---|---|",
    ]
    for name in names:
        probes = [one["probes"][name]["accuracy"] for one in results if name in one["probes"]]
        scores = [
            [np.nanmean(one["scores"][name][m]) for one in results if name in one["scores"]] for m in MEASURES
        ]
        lines.append(f"| {name} | {' | '.join(_mean(values) for values in (probes, *scores))} |")
    lines += ["", "Every seed, with intervals over its queries:", ""]
    lines += [
        "| seed | ranker | probe | change from tuned | excess left | NFaiRR@10 | nDCG@10 |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in results:
        tuned = one["probes"]["tuned"]["accuracy"] - 0.5
        for name in names:
            scores, found = one["scores"].get(name), one["probes"].get(name)
            cells = ["", "", ""]
            if found is not None:
                low, high = found["interval"][:2]  # then the way it was computed
                cells[0] = f"{found['accuracy']:.3f} [{low:.3f}, {high:.3f}]"
                if name != "tuned":
                    cells[1] = "{:+.3f} [{:+.3f}, {:+.3f}]".format(*found["change"])
                    cells[2] = f"{(found['accuracy'] - 0.5) / tuned:.0%}"
            cells += ["", ""] if scores is None else [_interval(scores[measure]) for measure in MEASURES]
            lines.append(f"| {one['seed']} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _mean(values: list[float]) -> str:
    from scipy import stats

    if not values:
        return ""
    mean, error = (
        np.mean(values),
        np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan,
    )
    half = stats.t.ppf(0.975, len(values) - 1) * error if len(values) > 1 else np.nan
    return f"{mean:.3f} [{mean - half:.3f}, {mean + half:.3f}]"


def _interval(values: list[float]) -> str:
    from evenrank.stats.intervals import resampled

    defined = np.array([value for value in values if not np.isnan(value)])
    means = resampled(defined, lambda drawn: drawn.mean(axis=-1), resamples=2000, seed=0)
    low, high = np.quantile(means, [0.025, 0.975])
    return f"{defined.mean():.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
