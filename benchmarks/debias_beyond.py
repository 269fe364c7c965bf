"""What was tried beyond linear erasure: maps that are not linear, and a penalty on what vectors tell.

    python benchmarks/debias_beyond.py --splits 4 "six, then transport" ...   # all rows without names

Prints rows of the table "What was tried beyond" of ``benchmarks/debias.md``. The learnt penalty alone is in
the package; the page says why. Vectors are those of ``debias.py``, from its folder.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from debias import HERE, SHARED_WORK, Work, two_layers
from debias_data import Collection, QuerySet, Vectors, collection, halves, passages, query_sets, weights_of
from debias_rankers import NDCG, NFAIRR, Method, by_query, crossed, difference, ranked

import evenrank as er
from evenrank.arrays import Bools, Floats, Int64s
from evenrank.erasure import Eraser, Targets
from evenrank.erasure.held_out import balanced_accuracy, logistic, predicted

SETS = ("QS1", "215", "dl19", "dl20")


class Changed(NamedTuple):
    """Documents as a method leaves them, and what is subtracted from the score of each."""

    vectors: Floats  # (N, D)
    penalty: Floats | None = None  # (N,)


class Documents(NamedTuple):
    vectors: Floats  # (N, D)
    targets: Targets  # the six
    classes: Int64s  # (N,): neutral, or biased with words of one group, of the other, of both

    @property
    def biased(self) -> Bools:
        return np.asarray(self.classes > 0)

    def at(self, rows: Int64s) -> Documents:
        return Documents(self.vectors[rows], self.targets.at(rows), self.classes[rows])


Way = Callable[[Documents, Documents], Changed]  # fitted to the first, applied to the second


def documents_of(vectors: Vectors, words: er.WordCounts) -> Documents:
    present = words.counts > 0
    kinds = present @ np.array([1, 2])  # of two groups: 1, 2, or 3 for both
    classes = np.where(weights_of(words) < 1, kinds, 0).astype(np.int64)
    return Documents(vectors.astype(np.float64), Targets.of_words(words), classes)


def six(fitted: Documents, applied: Documents) -> Changed:
    return Changed(Eraser.fit(fitted.vectors, fitted.targets)(applied.vectors))


def unit(way: Way) -> Way:
    def made(fitted: Documents, applied: Documents) -> Changed:
        found = way(fitted, applied).vectors
        return Changed(found / np.linalg.norm(found, axis=1, keepdims=True))

    return made


def root(covariance: Floats, power: float = 0.5) -> Floats:
    values, directions = np.linalg.eigh(covariance)
    found: Floats = (directions * np.maximum(values, 1e-12 * values[-1]) ** power) @ directions.T
    return found


def barycentre(covariances: list[Floats], shares: Floats) -> Floats:
    """The covariance nearest to several (Wasserstein), by the fixed point of Alvarez-Esteban et al. 2016."""
    found: Floats = np.tensordot(shares, np.stack(covariances), 1)
    for _ in range(100):
        half, inverse = root(found), root(found, -0.5)
        middle = np.sum([p * root(half @ s @ half) for p, s in zip(shares, covariances, strict=True)], axis=0)
        after = inverse @ middle @ middle @ inverse
        if np.abs(after - found).max() < 1e-10 * np.abs(found).max():
            break
        found = (after + after.T) / 2
    return found


def transport(four: bool = False, before: Way | None = None, shrink: float = 0.0, part: float = 1.0) -> Way:
    """Each class to the barycentre of all: ``x' = m + T_k (x - m_k)``. The labels of documents are known."""

    def made(fitted: Documents, applied: Documents) -> Changed:
        x, y = fitted.vectors, applied.vectors
        if before is not None:
            x, y = before(fitted, fitted).vectors, before(fitted, applied).vectors
        own, other = (d.classes if four else d.biased.astype(np.int64) for d in (fitted, applied))
        mean = x.mean(axis=0)
        values, directions = np.linalg.eigh(np.cov(x.T, bias=True))
        basis = directions[:, values > 1e-9 * values[-1]]  # where vectors vary
        x, y = (x - mean) @ basis, (y - mean) @ basis
        shares = np.bincount(own) / len(own)
        means = [x[own == k].mean(axis=0) for k in range(len(shares))]
        spreads = [np.cov(x[own == k].T, bias=True) for k in range(len(shares))]
        within = np.tensordot(shares, np.stack(spreads), 1)
        spreads = [(1 - shrink) * spread + shrink * within for spread in spreads]
        middle = barycentre(spreads, shares)
        moved = np.empty_like(y)
        for k, spread in enumerate(spreads):
            half, inverse = root(spread), root(spread, -0.5)
            moved[other == k] = (y[other == k] - means[k]) @ (inverse @ root(half @ middle @ half) @ inverse)
        return Changed(mean + (y + part * (moved - y)) @ basis.T)

    return made


def free_form(fitted: Documents, applied: Documents, count: int = 1500) -> Changed:
    """Free-form LEACE: ``x - cov(x, z) cov(f, z)^+ (f - mean)``, where f(x) is a regression of the targets on
    random Fourier features, out of fold for the documents that it was fitted to."""
    x, z = fitted.vectors, fitted.targets.table / fitted.targets.table.std(axis=0)
    generator = np.random.default_rng(0)
    directions, phases = generator.normal(size=(x.shape[1], count)), generator.uniform(0, 2 * np.pi, count)
    scale = np.sqrt(2 * x.var(axis=0).sum())

    def features(given: Floats) -> Floats:
        return np.hstack([given, np.cos(given @ directions / scale + phases) * np.sqrt(2 / count)])

    own = features(x)
    centre = own.mean(axis=0)
    own, told = own - centre, z - z.mean(axis=0)
    squares, products = own.T @ own, own.T @ told
    ridge = 0.01 * np.trace(squares) / len(squares) * np.eye(len(squares))
    fold = generator.permutation(len(x)) % 4
    found = np.empty_like(told)
    for k in range(4):
        part = own[fold == k]
        weights = np.linalg.solve(squares - part.T @ part + ridge, products - part.T @ told[fold == k])
        found[fold == k] = part @ weights
    middle = found.mean(axis=0)
    cross = (x - x.mean(axis=0)).T @ told / len(x)
    change = cross @ np.linalg.pinv((found - middle).T @ told / len(x), rcond=1e-3)
    if applied is not fitted:
        found = (features(applied.vectors) - centre) @ np.linalg.solve(squares + ridge, products)
    return Changed(applied.vectors - (found - middle) @ change.T)


def to_boundary(rounds: int, before: Way) -> Way:
    """A two-layer probe is fitted, and every vector moves by one Newton step along its gradient to where the
    probe cannot tell; again with a fresh probe."""

    def made(fitted: Documents, applied: Documents) -> Changed:
        import torch
        from torch import nn

        torch.set_num_threads(1)
        x, y = before(fitted, fitted).vectors, before(fitted, applied).vectors
        spread, directions = np.linalg.eigh(np.cov(x.T, bias=True))
        # where vectors vary: in dimensions that are all but constant, the smallest step changes a probe most,
        # so that vectors would move there alone and tell the label by it
        centre, basis = x.mean(axis=0), directions[:, spread > 1e-9 * spread[-1]]
        x, y = (x - centre) @ basis, (y - centre) @ basis
        labels = fitted.biased
        share = labels.mean()
        weights = torch.from_numpy(np.where(labels, 0.5 / share, 0.5 / (1 - share))).float()
        wanted = torch.from_numpy(labels).float()
        for seed in range(rounds):
            torch.manual_seed(seed)
            mean, deviation = x.mean(axis=0), x.std(axis=0) + 1e-6
            net = nn.Sequential(nn.Linear(x.shape[1], 64), nn.Softplus(), nn.Linear(64, 1))
            optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.1)
            own = torch.from_numpy((x - mean) / deviation).float()
            for _ in range(800):
                rows = torch.randint(0, len(own), (256,))
                loss = nn.functional.binary_cross_entropy_with_logits(
                    net(own[rows])[:, 0], wanted[rows], weights[rows]
                )
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

            def moved(
                given: Floats,
                net: nn.Module = net,
                mean: Floats = mean,
                deviation: Floats = deviation,
            ) -> Floats:
                at = torch.from_numpy((given - mean) / deviation).float().requires_grad_(True)
                told = net(at)[:, 0]
                (slope,) = torch.autograd.grad(told.sum(), at)
                slope = slope / torch.from_numpy(deviation).float()
                steep = slope.square().sum(dim=1)
                step = told / steep.clamp_min(steep.median() / 4)  # where it is flat, a step goes too far
                found: Floats = given - (step[:, None] * slope).detach().numpy()
                return found

            x, y = moved(x), moved(y)
        return Changed(centre + y @ basis.T)

    return made


def learnt_penalty(lam: float, before: Way) -> Way:
    """Documents of another way, and a penalty on what a balanced logistic regression takes them for."""

    def made(fitted: Documents, applied: Documents) -> Changed:
        model = logistic(fitted.vectors, fitted.biased)
        told = (applied.vectors - model.mean) / model.deviation @ model.weights[:-1] + model.weights[-1]
        return Changed(before(fitted, applied).vectors, lam / (1 + np.exp(-told)))

    return made


def linear_penalty(lam: float, before: Way) -> Way:
    """The same with the linear regression of the label, which may be below 0."""

    def made(fitted: Documents, applied: Documents) -> Changed:
        x, z = fitted.vectors, fitted.biased.astype(np.float64)
        mean, share = x.mean(axis=0), z.mean()
        cross = (x - mean).T @ (z - share) / len(x)
        slope = np.linalg.pinv(np.cov(x.T, bias=True), rcond=1e-10, hermitian=True) @ cross
        told = share + (applied.vectors - mean) @ slope
        return Changed(before(fitted, applied).vectors, lam * told)

    return made


WAYS: dict[str, Way] = {
    "six targets": six,
    "six, length 1 again": unit(six),
    "transport of two classes": transport(),
    "transport of four classes": transport(four=True),
    "six, then transport": transport(before=six),
    "six, then transport, shrunk by .3": transport(before=six, shrink=0.3),
    "six, then half of the transport": transport(before=six, part=0.5),
    "six, then transport, length 1 again": unit(transport(before=six)),
    "free form, random features": free_form,
    "six, then to the boundary of a probe, 3 rounds": to_boundary(3, six),
    "six, length 1, and learnt penalty .05": learnt_penalty(0.05, unit(six)),
    "six, length 1, and learnt penalty .075": learnt_penalty(0.075, unit(six)),
    "six, length 1, and linear penalty .05": linear_penalty(0.05, unit(six)),
    "six, length 1, and linear penalty .1": linear_penalty(0.1, unit(six)),
}


def lists(changed: Changed, sets: dict[str, QuerySet], found: Collection) -> dict[str, er.Run]:
    left = Collection(found.texts, changed.vectors.astype(np.float32), found.words)
    taken = np.zeros(len(left.vectors)) if changed.penalty is None else changed.penalty
    method = Method("", lam=1.0)  # the penalty is lam (1 - w)
    return {
        name: ranked(method, QuerySet(asked.texts, asked.vectors, left, asked.qrels), 1 - taken)
        for name, asked in sets.items()
    }


def relevance(runs: dict[str, er.Run], sets: dict[str, QuerySet], words: er.WordCounts) -> Floats:
    return np.concatenate([by_query(runs[year], NDCG, sets[year], words) for year in ("dl19", "dl20")])


def row(name: str, known: Work, base: dict[str, er.Run], splits: int) -> str:
    way, found = WAYS[name], known.found
    sets = dict(known.sets)
    whole = documents_of(found.vectors, found.words)
    changed = way(whole, whole)
    runs, before = lists(changed, sets, found), relevance(base, sets, found.words)
    cells = [
        difference(*(by_query(r[name], NFAIRR, sets[name], found.words) for r in (runs, base)))
        for name in ("QS1", "215")
    ]
    cells.append(difference(relevance(runs, sets, found.words), before))
    order = np.random.default_rng(11).permutation(len(whole.vectors))
    half, rest = (np.sort(part) for part in np.array_split(order, 2))
    held = way(whole.at(half), whole.at(rest)).vectors
    learnt, tested = np.array_split(np.random.default_rng(7).permutation(len(held)), 2)
    label = whole.biased[rest]
    told = balanced_accuracy(predicted(held[tested], logistic(held[learnt], label[learnt])), label[tested])
    cells.append(f"{told:.2f}")
    for vectors, labels in ((held, label), (changed.vectors, whole.biased)):
        cells.append(f"{two_layers(vectors.astype(np.float32), labels, 0):.2f}")
    gains, losses = [], []
    for split in range(splits):
        seen, unseen = (found.words.relisted(part) for part in halves(known.lexicon, split))
        own = documents_of(found.vectors, seen)
        runs = lists(way(own, own), sets, found)
        after, start = (by_query(r["QS1"], NFAIRR, sets["QS1"], unseen) for r in (runs, base))
        gains.append(after - start)
        losses.append(relevance(runs, sets, found.words) - before)
    cells += [crossed(np.stack(values)) for values in (gains, losses)] if splits > 1 else ["", ""]
    return f"| {name} | " + " | ".join(cells) + f" | {splits} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help="default: all")
    parser.add_argument("--shared", type=Path, default=HERE.parents[1] / "shared/data")
    parser.add_argument("--vectors", type=Path, default=HERE / "work/vectors")
    parser.add_argument("--splits", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore", er.EvenrankWarning)
    lexicon = er.read_lexicon(options.shared / "msmarco_trecdl/wordlist_gender_representative.txt")
    found = collection(passages(options.shared), lexicon, options.vectors)
    sets = query_sets(options.shared, found, options.vectors)
    w = weights_of(found.words)
    SHARED_WORK.append(Work(found, sets, lexicon, [], w, w < 1))
    base = lists(Changed(found.vectors.astype(np.float64)), dict(sets), found)
    for name in options.rows or WAYS:
        print(row(name, SHARED_WORK[0], base, options.splits), flush=True)


if __name__ == "__main__":
    main()
