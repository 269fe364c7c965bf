"""What lists hold of an attribute: labelled documents, their attention, and what orders can reach."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s, UInt64s
from evenrank.attention import Attention, log2
from evenrank.data.attribute import CANDIDATES
from evenrank.data.evidence_source import Pairs
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.ids import as_strings, hash_strings, take
from evenrank.stats.weights import weighted_mean
from evenrank.verdict.redealing import TINY, Chance, Labelled, Lists, chance_of

ATTENTION = log2()  # how places count


def pairs_of(run: Run) -> Pairs:
    """Every ranked document with its query."""
    return Pairs(run.query_ids, np.repeat(np.arange(len(run)), run.lengths), run.ids_at())


def unlabelled_attention(
    run: Run, bare: Bools, attention: Attention = ATTENTION, omega: Floats | None = None
) -> float:
    """The part of the attention of all lists that the documents marked by ``bare`` (P,) get; ``omega`` (Q,)
    are the weights of queries."""
    if not len(bare):
        return 0.0
    places = np.arange(len(bare)) - np.repeat(run.offsets[:-1], run.lengths)
    weights = attention.weights(int(places.max()) + 1)[places]
    weights = weights if omega is None else weights * np.repeat(omega, run.lengths)
    return float(weights[bare].sum() / max(weights.sum(), TINY))


@dataclass(frozen=True)
class LabelledLists:
    """The labelled documents of those lists of a run that count, an entry for each."""

    membership: Membership
    query: Int64s  # (P,): 0 to Q - 1 of the queries that count
    row: Int64s  # (P,): of the membership
    hashes: UInt64s  # (P,): of the document's id
    member: Floats  # (P, L): how far the document belongs to each value; rows sum to 1
    mass: Floats  # (P,): 1, or more for a document that counts for each of several values
    attention: Floats  # (P,): of the place, 0 below the cut-off
    slots: Floats  # (P,): the attention of the same place among the labelled documents of the list

    @classmethod
    def of(
        cls, membership: Membership, run: Run, kept: Bools, cutoff: int, attention: Attention = ATTENTION
    ) -> LabelledLists:
        """``kept`` (queries of the run,) marks the queries that count."""
        pairs = pairs_of(run)
        rows = membership.rows_of(pairs)
        here = (rows >= 0) & kept[pairs.query_codes]
        query = (np.cumsum(kept) - 1)[pairs.query_codes[here]]
        places = (np.arange(len(rows)) - run.offsets[pairs.query_codes])[here]  # of all, labelled or not
        among = np.arange(len(query)) - np.searchsorted(query, query)
        weights = np.zeros(max(cutoff, int(places.max(initial=0)) + 1))
        weights[:cutoff] = attention.weights(cutoff)
        member, mass = _normal(membership.shares.dense(rows[here]))
        hashes = pairs.doc_ids.hashes[here]
        return cls(membership, query, rows[here], hashes, member, mass, weights[places], weights[among])

    def chance(self, target: str, targets: Floats, omega: Floats | None, *, catalogue: bool) -> Chance:
        """What chance does to the shares; ``targets`` (Q, L) are those of the kind ``target``, ``omega`` (Q,)
        the weights of queries where they have some.

        Where the ``catalogue`` is not known, it is the documents found. Documents are dealt in the order of
        the hashes of their ids, and values in the order of their names: the order in which the source has
        them does not matter, and that of documents is the same for all attributes.
        """
        weight = self.attention * self.mass
        weight = weight / np.bincount(self.query, weights=weight, minlength=len(targets))[self.query]
        candidates = target == CANDIDATES
        if candidates or not catalogue:
            rows, first = np.unique(self.row, return_index=True)
            hashes, shares = self.hashes[first], self.membership.shares.dense(rows)
        else:
            rows = np.arange(len(self.membership))
            hashes, shares = hash_strings(self.membership.doc_ids), self.membership.shares.dense(rows)
        order = np.argsort(hashes, kind="stable")
        place = np.empty(int(rows[-1]) + 1, np.int64)
        place[rows[order]] = np.arange(len(rows))
        member, mass = _normal(shares[order])
        by_name = np.argsort(self.membership.attribute.values)
        labels = Labelled(member[:, by_name], mass, _units(self.membership, rows[order], hashes[order]))
        lists = Lists(self.query, place[self.row], weight)
        found = chance_of(lists, labels, targets[:, by_name], omega, candidates=candidates)
        return found.in_order(np.argsort(by_name))

    def reach(self, targets: Floats, omega: Floats | None = None) -> tuple[Floats, Int64s]:
        """(L,) twice: the mean share where each list is brought as near to its target as any order of its
        documents can, and how many lists cannot reach it. Documents without a label are left out; ``omega``
        (Q,) are the weights of queries where they have some."""
        totals = np.bincount(self.query, weights=self.slots * self.mass, minlength=len(targets))  # (Q,)
        reached, lacking = [], []
        for aim, member in zip(targets.T, (self.member * self.mass[:, None]).T, strict=True):
            least, most = (
                np.bincount(
                    self.query, weights=self.slots * member[np.lexsort((by, self.query))], minlength=len(aim)
                )
                / totals
                for by in (member, -member)
            )
            reached.append(weighted_mean(np.clip(aim, least, most), omega))
            lacking.append((most < aim - 1e-9).sum())
        return np.array(reached), np.array(lacking)


def _units(membership: Membership, rows: Int64s, hashes: UInt64s) -> UInt64s | None:
    """(N,): the unit that the label of each row belongs to; a document without one is a unit of its own."""
    if membership.unit is None:
        return None
    owners, ids = membership.unit, take(membership.doc_ids, rows)
    found = owners.rows_of(Pairs.of_documents(ids))
    names = hash_strings(as_strings(owners.attribute.values))
    units = ~hashes  # not the hash of a name, which may be that of an id as well
    known = found >= 0
    units[known] = names[owners.shares.places[owners.shares.offsets[found[known]]]]
    return units


def _normal(member: Floats) -> tuple[Floats, Floats]:
    """Rows that sum to 1, and what they summed to."""
    mass = member.sum(axis=1)
    return member / mass[:, None], mass


def spread_over(chance: Chance, rows: Int64s, count: int) -> Chance:
    """The same with a residual for each of ``count`` queries, so that all attributes have the same draws."""
    residual = np.zeros((count, len(chance.share)))
    residual[rows] = chance.residual
    return replace(chance, residual=residual)
