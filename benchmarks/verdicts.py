"""How often a verdict is wrong, how often a planted bias is found, and how long a verdict takes.

    python benchmarks/verdicts.py --write

A shop has products with a vector of topics, and a popularity that falls as rank^-zipf, so that some products
stand in many lists. Products belong to sellers (units), whose products are alike by ``alike``, and a label
belongs to a product or to its seller. Without a bias labels are drawn by chance, several times for
the lists of each shop. With a bias the scores of the first group are lowered by a part of their standard
deviation.

Results are kept in a file (``--results``), a line for each setting, and what is there is not computed again,
unless ``--only`` asks for it.
With ``--before``, a checkout of commit d1d6022, the rule before this one is applied to the same data.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import re
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.verdict.redealing import Chance, Labelled, Lists, bands, chance_of

HERE = Path(__file__).parent
MARK = "<!-- table -->\n"
CUTOFF, DEPTH, TOPICS = 10, 100, 8
ATTENTION = 1 / np.log2(2 + np.arange(CUTOFF))
FURTHER = ([0.6, 0.3, 0.1], [0.4, 0.2, 0.2, 0.1, 0.1])  # the groups of a second and a third attribute
DRAWS = 999  # half of what a verdict draws: there are many to make


@dataclass(frozen=True)
class Setting:
    """One kind of shop. Labels are ``free`` of everything, go with ``topics`` or the ``size`` of sellers, or
    are ``mixed`` within a seller.
    """

    name: str
    zipf: float = 0.7
    products: int = 5000
    queries: int = 100
    seller: int = 1  # products of a seller
    alike: float = 0.0
    first: float = 0.5  # the share of the first group
    labels: str = "free"
    target: str = "catalogue"
    aim: float | None = None  # the target of the first group, where it is not the share of the catalogue
    reached: bool = False  # scores of the first group are moved until its mean share is its target
    lowered: float = 0.0
    attributes: int = 1
    varied: bool = False  # sellers of several sizes
    part: float = 1.0  # of the queries, in which the first group is lowered
    shops: int = 200
    draws: int = 5  # of labels, for each shop

    @property
    def null(self) -> bool:
        return self.reached or not (self.lowered or self.aim)


def settings() -> Iterator[Setting]:
    for zipf in (0.0, 0.7, 1.2):
        yield Setting(f"popularity {zipf}, group of .5", zipf=zipf)
        for lowered in (0.25, 0.5, 1.0):
            yield Setting(f"popularity {zipf}, lowered by {lowered}", zipf=zipf, lowered=lowered)
        yield Setting(f"popularity {zipf}, group of .1", zipf=zipf, first=0.1)
        yield Setting(f"candidates, popularity {zipf}", zipf=zipf, target="candidates")
    for seller in (5, 20):
        zipf = 0.7 if seller == 20 else 0.0
        for alike in (0.0, 0.25, 0.5):
            yield Setting(f"sellers of {seller}, alike {alike}", zipf=zipf, seller=seller, alike=alike)
        for target in ("catalogue", "candidates"):
            yield Setting(
                f"{target}, labels differ within sellers of {seller}, alike 0.25",
                zipf=zipf, seller=seller, alike=0.25, labels="mixed", target=target,
            )  # fmt: skip
    for zipf in (0.0, 1.2):
        yield Setting(f"equal target, popularity {zipf}", zipf=zipf, target="equal")
        yield Setting(f"given target of .1, popularity {zipf}", zipf=zipf, first=0.1, target="given")
        yield Setting(f"3 attributes, popularity {zipf}", zipf=zipf, attributes=3)
    yield Setting("equal target, sellers of 5, alike 0.5", zipf=0.0, seller=5, alike=0.5, target="equal")
    yield Setting("3 attributes, sellers of 5, alike 0.5", seller=5, alike=0.5, attributes=3)
    for zipf in (0.0, 0.7):
        yield Setting(f"popularity {zipf}, group of .02", zipf=zipf, first=0.02)
    yield Setting("popularity 0.0, group of .02, lowered by 0.5", zipf=0.0, first=0.02, lowered=0.5)
    yield Setting("popularity 0.7, group of .1, lowered by 0.5", first=0.1, lowered=0.5)
    yield Setting("3 attributes, popularity 0.7, lowered by 0.5", attributes=3, lowered=0.5)
    yield Setting("sellers of 5, alike 0.5, lowered by 0.25", seller=5, alike=0.5, lowered=0.25)
    yield Setting(
        "labels differ within sellers of 5, lowered by 0.25",
        seller=5, alike=0.25, labels="mixed", lowered=0.25,
    )  # fmt: skip
    yield Setting("equal target, popularity 0.7, lowered by 0.5", target="equal", lowered=0.5)
    for zipf, lowered in ((0.0, 0.5), (0.0, 1.0), (0.7, 1.0)):
        name = f"candidates, popularity {zipf}, lowered by {lowered}"
        yield Setting(name, zipf=zipf, lowered=lowered, target="candidates")
    yield Setting("candidates, group of .1", zipf=0.0, first=0.1, target="candidates")
    yield Setting("candidates, sellers of 5, alike 0.5", zipf=0.0, seller=5, alike=0.5, target="candidates")
    yield Setting("candidates, labels go with topics", zipf=0.0, labels="topics", target="candidates")
    yield Setting("candidates, 3 attributes", attributes=3, target="candidates")
    for queries in (30, 300):
        yield Setting(f"{queries} queries, popularity 0.7", queries=queries)
        yield Setting(f"{queries} queries, labels go with topics", zipf=0.0, queries=queries, labels="topics")
    for seller, alike, zipf in ((5, 0.25, 0.0), (20, 0.0, 0.7), (20, 0.25, 0.0)):
        yield Setting(
            f"labels go with the size of sellers of about {seller}, alike {alike}",
            zipf=zipf, seller=seller, alike=alike, labels="size", varied=True, first=0.65,
            shops=1000, draws=1,
        )  # fmt: skip
    for zipf in (0.7, 1.2):
        yield Setting(f"300 products, popularity {zipf}", zipf=zipf, products=300)
    yield Setting("sellers of 5, alike 0.25, group of .1", zipf=0.0, seller=5, alike=0.25, first=0.1)
    yield Setting("popularity 0.0, group of .1, lowered by 0.5", zipf=0.0, first=0.1, lowered=0.5)
    yield Setting("3 attributes, popularity 1.2, lowered by 0.5", zipf=1.2, attributes=3, lowered=0.5)
    yield Setting("popularity 0.7, labels go with topics", labels="topics")
    for zipf, lowered in ((0.0, 0.25), (0.7, 0.5)):
        name = f"popularity {zipf}, lowered by {lowered} in 60% of the queries"
        yield Setting(name, zipf=zipf, lowered=lowered, part=0.6)
    for queries in (30, 300):
        name = f"{queries} queries, popularity 0.0, lowered by 0.25"
        yield Setting(name, zipf=0.0, queries=queries, lowered=0.25)
    yield Setting("2,000 queries, popularity 0.7", queries=2000, shops=40, draws=25)
    yield Setting(
        "2,000 queries, popularity 0.7, lowered by 0.25", queries=2000, lowered=0.25, shops=40, draws=25
    )
    yield Setting(
        "candidates, labels go with the size of sellers of about 5, alike 0.25",
        zipf=0.0, seller=5, alike=0.25, labels="size", varied=True, first=0.65, target="candidates",
        shops=1000, draws=1,
    )  # fmt: skip
    for zipf in (0.7, 1.2):
        for first, aim in ((0.3, 0.5), (0.1, 0.5), (0.5, 0.1)):
            for reached in (True, False):
                name = (
                    f"{'equal target' if aim == 0.5 else f'given target of {aim}'}, {first} of the catalogue"
                )
                yield Setting(
                    f"{name}, popularity {zipf}, {'reached' if reached else 'no bias'}",
                    zipf=zipf, first=first, aim=aim, reached=reached, target="given",
                )  # fmt: skip


@dataclass(frozen=True)
class Shop:
    seller: Int64s  # (N,)
    topics: Floats  # (N, T)
    products: Int64s  # (Q, M): the best of each query, before a bias
    scores: Floats  # (Q, M)
    spread: float  # the standard deviation of all scores of a query


def shop_of(kind: Setting, generator: np.random.Generator) -> Shop:
    count = kind.products
    if kind.varied:
        sizes = np.ceil(generator.lognormal(np.log(kind.seller), 1.0, size=4 * count)).astype(int)
        sizes = sizes[np.cumsum(sizes) <= count]
        sizes = np.append(sizes, count - sizes.sum()) if sizes.sum() < count else sizes
    else:
        sizes = np.full(math.ceil(count / kind.seller), kind.seller)
    seller = generator.permutation(np.repeat(np.arange(len(sizes)), sizes)[:count])

    def mixed(*shape: int) -> Floats:
        own = generator.normal(size=(count, *shape))
        return (
            math.sqrt(1 - kind.alike) * own
            + math.sqrt(kind.alike) * generator.normal(size=(len(sizes), *shape))[seller]
        )  # type: ignore[no-any-return]

    quality, topics = mixed(), mixed(TOPICS)
    rank = np.empty(count)
    rank[np.argsort(-quality)] = np.arange(1, count + 1)
    asked = generator.normal(size=(kind.queries, TOPICS))
    scores = asked @ topics.T / math.sqrt(TOPICS) - kind.zipf * np.log(rank)
    scores += 0.5 * generator.gumbel(size=scores.shape)
    kept = min(600 if kind.target == "candidates" else 200, count)
    best = np.argpartition(-scores, kept - 1, axis=1)[:, :kept]
    return Shop(seller, topics, best, np.take_along_axis(scores, best, 1), float(scores.std(axis=1).mean()))


def labels_of(kind: Setting, shop: Shop, generator: np.random.Generator) -> Int64s:
    """(N,): 0 for the first group."""
    count = np.bincount(shop.seller)
    if kind.labels == "topics":
        means = np.stack([np.bincount(shop.seller, weights=one) / count for one in shop.topics.T], axis=1)
        axis = generator.normal(size=TOPICS)
        leaning = means @ (axis / np.linalg.norm(axis))
        leaning = 0.7 * leaning / leaning.std() + 0.714 * generator.normal(size=len(count))
        return (leaning > np.median(leaning)).astype(np.int64)[shop.seller]
    if kind.labels == "size":
        order = np.argsort(count, kind="stable")
        of_seller = np.ones(len(count), dtype=np.int64)
        of_seller[order[np.cumsum(count[order]) / count.sum() <= kind.first]] = 0
        return of_seller[shop.seller]
    if kind.labels == "mixed":
        chance = generator.beta(kind.first, 1 - kind.first, size=len(count))
        return (generator.random(len(shop.seller)) >= chance[shop.seller]).astype(np.int64)
    drawn = generator.random(len(count))
    if kind.target in (
        "equal",
        "given",
    ):  # exactly as many: else the catalogue itself differs from the target
        drawn = generator.permutation(len(count)) / len(count)
    return (drawn >= kind.first).astype(np.int64)[shop.seller]


def ranked(shop: Shop, scores: Floats, depth: int) -> Int64s:
    """(Q, K): the products of each list."""
    best = np.argpartition(-scores, depth - 1, axis=1)[:, :depth]
    order = np.argsort(-np.take_along_axis(scores, best, 1), axis=1)
    return np.take_along_axis(shop.products, np.take_along_axis(best, order, 1), 1)


def chance_in(kind: Setting, shop: Shop, lists: Int64s, members: Floats, seed: int) -> Chance:
    """What the verdict's rule makes of one attribute."""
    queries, depth = lists.shape
    weight = np.concatenate([ATTENTION / ATTENTION.sum(), np.zeros(depth - CUTOFF)])
    entries = Lists(np.repeat(np.arange(queries), depth), lists.ravel(), np.tile(weight, queries))
    labels = Labelled(members, np.ones(len(members)), None if kind.seller == 1 else shop.seller)
    found = targets_of(kind, lists, members)
    return chance_of(entries, labels, found, candidates=kind.target == "candidates", seed=seed, draws=DRAWS)


def targets_of(kind: Setting, lists: Int64s, members: Floats) -> Floats:
    if kind.target == "candidates":
        return members[lists].mean(axis=1)
    aim = kind.first if kind.aim is None else kind.aim
    shares = {
        "catalogue": members.mean(axis=0),
        "equal": np.full(members.shape[1], 1 / members.shape[1]),
        "given": np.array([aim, 1 - aim]),
    }[kind.target]
    return np.tile(shares, (len(lists), 1))


class RuleBefore:
    """The rule before: two-way clustering by query and document, Student's t, Bonferroni."""

    def __init__(self, checkout: Path) -> None:
        for name in ("crossed", "widened"):
            path = checkout / "src/evenrank/stats" / f"{name}.py"
            spec = importlib.util.spec_from_file_location(f"{name}_before", path)
            assert spec is not None
            assert spec.loader is not None
            module = sys.modules[f"{name}_before"] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            setattr(self, name, module)

    def intervals(self, kind: Setting, lists: Int64s, attributes: list[Floats]) -> list[tuple[float, ...]]:
        """Share, target, low, high of each group."""
        queries, depth = lists.shape
        query, row = np.repeat(np.arange(queries), depth), lists.ravel()
        weight = np.tile(np.concatenate([ATTENTION / ATTENTION.sum(), np.zeros(depth - CUTOFF)]), queries)
        tests = sum(1 if one.shape[1] == 2 else one.shape[1] for one in attributes)
        level, found = 1 - 0.05 / tests, []
        for members in attributes:
            targets = targets_of(kind, lists, members)
            for group in range(members.shape[1]):
                member, aims, rest = members[:, group], targets[:, group], None
                shares = member[lists[:, :CUTOFF]] @ (ATTENTION / ATTENTION.sum())
                if kind.target == "candidates":
                    apart = (weight - 1 / depth) * (member[row] - aims.mean())
                    parts = apart - weight * (shares - aims).mean()
                else:
                    parts = weight * (member[row] - shares.mean())
                    if kind.target == "catalogue":
                        rest = (shares.mean() - member) * queries / len(member)
                spread = self.crossed.crossed_spread(parts, query, row, rest)  # type: ignore[attr-defined]
                how = self.widened.WidenedInterval(level, spread.widening(queries, level))  # type: ignore[attr-defined]
                low, high = how.ends(shares - aims, (-float(aims.max()), 1 - float(aims.min())))
                found.append((shares.mean(), aims.mean(), aims.mean() + low, aims.mean() + high))
        return found


def lowered_scores(shop: Shop, labels: Int64s, by: float | Floats) -> Floats:
    scores: Floats = shop.scores - (labels[shop.products] == 0) * (by * shop.spread)
    return scores


def reaching(kind: Setting, generator: np.random.Generator) -> float:
    """By how much the first group is lowered where its mean share over 200 shops is its target."""
    shops = [shop_of(kind, generator) for _ in range(200)]
    labelled = [(shop, labels_of(kind, shop, generator)) for shop in shops]
    low, high = -4.0, 4.0
    for _ in range(14):
        middle = (low + high) / 2
        shares = [
            ((labels[ranked(shop, lowered_scores(shop, labels, middle), CUTOFF)] == 0) @ ATTENTION).mean()
            for shop, labels in labelled
        ]
        above = np.mean(shares) / ATTENTION.sum() > kind.aim
        low, high = (middle, high) if above else (low, middle)
    return (low + high) / 2


def simulated(kind: Setting, before: RuleBefore | None) -> dict[str, Any]:
    """Rates over all shops and all labels."""
    generator = np.random.default_rng([77, *kind.name.encode()])
    depth = DEPTH if kind.target == "candidates" else CUTOFF
    rows: dict[str, list[list[tuple[float, ...]]]] = {"now": [], "before": []}
    lowered = reaching(kind, generator) if kind.reached else kind.lowered
    for _ in range(kind.shops):
        shop = shop_of(kind, generator)
        for _ in range(kind.draws):
            labels = labels_of(kind, shop, generator)
            by = (
                lowered if kind.part == 1 else lowered * (generator.random(kind.queries) < kind.part)[:, None]
            )
            lists = ranked(shop, lowered_scores(shop, labels, by), depth)
            attributes = [np.eye(2)[labels]]
            for shares in FURTHER if kind.attributes == 3 else ():
                drawn = generator.choice(len(shares), size=shop.seller.max() + 1, p=shares)
                attributes.append(np.eye(len(shares))[drawn[shop.seller]])
            seed = int(generator.integers(2**31))
            found = [chance_in(kind, shop, lists, members, seed) for members in attributes]
            own = []
            for chance, band in zip(found, bands(found, seed=seed), strict=True):
                few = band.blind & (band.low <= chance.target) & (band.high >= chance.target)
                few = few | (not chance.enough)
                ends = np.where(few, 0.0, band.low), np.where(few, 1.0, band.high)
                own += list(zip(chance.share, chance.target, *ends, strict=True))
            rows["now"].append(own)
            if before is not None:
                rows["before"].append(before.intervals(kind, lists, attributes))
    result: dict[str, Any] = {"name": kind.name, "null": kind.null}
    for rule, each in rows.items():
        if each:
            share, target, low, high = np.moveaxis(np.array(each), 2, 0)  # (R, J) each
            difference = share[:, 0] - target[:, 0]
            expected = target[:, 0] + difference.mean()
            covered = (low[:, 0] <= expected + 1e-12) & (high[:, 0] >= expected - 1e-12)
            result |= {"repeats": len(each), "difference": float(difference.mean())}
            result[rule] = {
                "any": rate_of(((low > target) | (high < target)).any(axis=1), kind.shops),
                "less": rate_of(high[:, 0] < target[:, 0], kind.shops),
                "more": rate_of(low[:, 0] > target[:, 0], kind.shops),
                "covered": rate_of(covered, kind.shops),
                "width": float((high - low)[:, 0].mean()),
            }
    return result


def rate_of(cases: Bools, shops: int) -> tuple[float, float]:
    """A rate, and its standard error by shop: what is drawn for one shop is not independent."""
    by_shop = cases.reshape(shops, -1).mean(axis=1)
    return float(by_shop.mean()), float(by_shop.std(ddof=1) / math.sqrt(shops)) if shops > 1 else math.nan


def percent(rate: tuple[float, float]) -> str:
    return f"{100 * rate[0]:.1f} (± {100 * rate[1]:.1f})"


def tables(results: list[dict[str, Any]]) -> Iterator[str]:
    yield "| nobody is favoured | repeats | a verdict, %: before | now |"
    yield "|---|---|---|---|"
    for one in results:
        if one["null"]:
            rates = (percent(one[rule]["any"]) if rule in one else "" for rule in ("before", "now"))
            yield f"| {one['name']} | {one['repeats']:,} | {' | '.join(rates)} |"
    yield ""
    yield (
        "| the first group gets less or more | repeats | mean difference, points | found, %: before | now "
        "| covered, %: before | now | width, points: before | now |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in results:
        if not one["null"]:
            rules, found = (
                [one.get(rule) for rule in ("before", "now")],
                "less" if one["difference"] < 0 else "more",
            )
            cells = [percent(rule[found]) if rule else "" for rule in rules]
            cells += [percent(rule["covered"]) if rule else "" for rule in rules]
            cells += [f"{100 * rule['width']:.1f}" if rule else "" for rule in rules]
            difference = f"{100 * one['difference']:.1f}"
            yield f"| {one['name']} | {one['repeats']:,} | {difference} | {' | '.join(cells)} |"


def timed(products: int, queries: int) -> str:
    """The verdict on a catalogue and a run that are in memory, with three groups, for both targets."""
    from evenrank.data.attribute import Attribute
    from evenrank.data.membership import Membership
    from evenrank.data.run import Run
    from evenrank.verdict import verdicts

    generator = np.random.default_rng(1)
    names = np.char.add("d", np.arange(products).astype(str))
    found = np.stack([generator.choice(products, DEPTH, replace=False) for _ in range(queries)]).ravel()
    run = Run.build(
        np.repeat([f"q{one}" for one in range(queries)], DEPTH), names[found],
        np.tile(np.arange(DEPTH, 0, -1.0), queries), name="shop",
    )  # fmt: skip
    values = ("small", "middle", "large")
    labels = np.array(values)[generator.integers(0, 3, products)]
    groups = Membership.build(Attribute("seller_size", values), names, labels)
    del names, found, labels
    seconds = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for target in ("catalogue", "candidates"):
        start = time.process_time()  # of one processor: others may use the machine
        verdicts(run, groups=groups, catalogue=True, target=target)
        seconds.append(f"{target} {time.process_time() - start:.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (
        f"{products:,} documents, {queries:,} queries with {DEPTH} documents each: {', '.join(seconds)} "
        f"of one processor; {peak / 1024:.0f} MB at most, {before / 1024:.0f} MB before the verdicts\n"
    )


def main() -> None:
    parser: Any = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="a checkout of the version before, for its rule")
    parser.add_argument("--results", type=Path, default=HERE / "work/verdicts.jsonl")
    parser.add_argument("--scale", type=float, default=1.0, help="a part of the shops, for a quick look")
    parser.add_argument("--only", help="settings to compute again: a pattern of their names")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/verdicts.md")
    options = parser.parse_args()
    rule = None if options.before is None else RuleBefore(options.before)
    options.results.parent.mkdir(exist_ok=True, parents=True)
    lines = options.results.read_text().splitlines() if options.results.exists() else []
    done = {one["name"]: one for one in map(json.loads, lines)}
    kinds = list(settings())
    for kind in kinds:
        if re.search(options.only, kind.name) if options.only else kind.name not in done:
            smaller = replace(kind, shops=max(1, round(kind.shops * options.scale)))
            done[kind.name] = simulated(smaller, rule)
            with options.results.open("a") as file:
                file.write(json.dumps(done[kind.name]) + "\n")
            print(json.dumps(done[kind.name]), file=sys.stderr)
    if options.write:
        table = "\n".join(tables([done[kind.name] for kind in kinds if kind.name in done])) + "\n"
        page = HERE / "verdicts.md"
        text, mark, _ = page.read_text(encoding="utf-8").partition(MARK)
        page.write_text(f"{text}{mark}{timed(1_000_000, 2_000)}\n{table}", encoding="utf-8")


if __name__ == "__main__":
    main()
