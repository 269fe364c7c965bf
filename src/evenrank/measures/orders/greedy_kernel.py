"""The greedy order of ``measures/greedy.py``, compiled: one list after the other, the same choices.

Most documents are ruled out without a logarithm of their own. Let p be the shares of the documents so far and
one more, q the target, and r the shares of the documents so far and the target as one more. Then

    sum p ln(p / q) = sum p ln(r / q) + sum p ln(p / r),   p ln(p / r) >= p - r + 3/2 (p - r)**2 / (p + 2 r),

where the second is the lemma behind Pinsker's inequality. One document changes shares little, so that p is
near r, and this least divergence is almost the divergence. It says what the key of each document can be at
most. The one that promises most is looked at first, then only those that promise no less than it has.

What all documents need at every rank lies in rows, (C,) and (L, C), and loops without branches compute it,
with the groups outside: a processor does several documents at a time.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# what numba compiles has no types that a checker could follow; ``greedy.py`` is the typed door to it

from __future__ import annotations

import numpy as np

from evenrank.measures.orders.kernel import compiled

_ROOM = 1e-9  # between a bound and what it rules out: rounding is a thousand times smaller, and so are ties
_FEW = 4  # heads that are looked at sooner than ruled out
_TINY = 1e-300  # added to what may be 0 and divides 0


@compiled(boundscheck=False, error_model="numpy")
def _divergence(mass, shares, head, whole, target, logs, tie):
    """``sum p ln(p / target)`` of the documents so far and one more; what is nearly 0 is 0."""
    found = 0.0
    for value in range(len(target)):
        p = (mass[value] + shares[value, head]) / whole
        if p > 0:
            if target[value] <= 0:
                return np.inf
            found += np.log(p) * p - p * logs[value]
    return 0.0 if found < tie else found


@compiled(boundscheck=False, error_model="numpy")
def _gains(gain, own, share, weight, left, novel):
    """Fill ``gain`` of the first ``left`` heads, and return whether there is any."""
    gain[:left] = 0.0 if novel else 1.0
    if novel:
        for value in range(len(weight)):
            worth = weight[value]
            for head in range(left):
                gain[head] += share[value, head] * worth
    some = False
    for head in range(left):
        gain[head] *= own[head]
        some |= gain[head] > 0
    return some


@compiled(boundscheck=False, error_model="numpy")
def _least_divergences(least, inverse, share, size, mass, total, target, logs, left):
    """Fill ``least``: the divergence after each of the first ``left`` heads is not below it."""
    surplus = 1 - _ROOM  # the sum of p less that of r
    for head in range(left):
        inverse[head] = 1 / (total + size[head] + _TINY)
        least[head] = 0.0
    for value in range(len(target)):
        before, r = mass[value], (mass[value] + target[value]) / (total + 1)
        slope = np.log(r) - logs[value] if target[value] > 0 else 0.0
        surplus -= r
        twice = 2 * r + _TINY
        for head in range(left):
            p = (before + share[value, head]) * inverse[head]
            least[head] += p * slope + 1.5 * (p - r) * (p - r) / (p + twice)
    for head in range(left):
        least[head] = max(least[head] + surplus, 0.0)


@compiled(boundscheck=False, error_model="numpy")
def _promises(promise, gain, least, smoothing, by_gain, left):
    """Fill ``promise``, which the key of a head does not exceed, and return the head with the largest."""
    if by_gain:
        for head in range(left):
            promise[head] = gain[head] / (least[head] + smoothing) if gain[head] > 0 else 0.0
    else:
        for head in range(left):
            promise[head] = -least[head]
    # four at a time: one maximum after the other would wait for each
    a, b, c, d = promise[0], promise[0], promise[0], promise[0]
    head = 0
    while head + 4 <= left:
        a, b = max(a, promise[head]), max(b, promise[head + 1])
        c, d = max(c, promise[head + 2]), max(d, promise[head + 3])
        head += 4
    while head < left:
        a = max(a, promise[head])
        head += 1
    most, best = max(max(a, b), max(c, d)), 0
    while promise[best] < most:
        best += 1
    return best


@compiled(boundscheck=False)
def _bar(top, slack, tie):
    """From where on a key counts as the largest."""
    return top - tie * max(slack, abs(top)) if np.isfinite(top) else top


@compiled(boundscheck=False, error_model="numpy")
def fill(
    places, order, relevance, begins, ends, shares, target, explore, steps, alpha, smoothing, by_groups, tie
):  # fmt: skip
    """Write the first ``steps`` ranks of ``places`` (Q, R, K).

    ``order`` and ``relevance`` (Q, K) are of documents class after class, ``begins`` and ``ends`` (Q, C) say
    where each class stands in them, ``shares`` (Q, L, C), ``target`` (Q, L), ``explore`` (Q, R, K).
    ``alpha`` is NaN for a gain without groups; unless ``by_groups``, all divergences are 0.
    """
    queries, repetitions, depth = places.shape
    values, classes = shares.shape[1], shares.shape[2]
    novel = not np.isnan(alpha)
    # the heads of the classes that are left: where they stand, where their class ends, what they are
    at, end = np.empty(classes, np.int64), np.empty(classes, np.int64)
    own, size, share = np.empty(classes), np.empty(classes), np.empty((values, classes))
    gain, least, promise, inverse = np.empty(classes), np.empty(classes), np.empty(classes), np.empty(classes)
    # those that are not ruled out, and their keys
    kept, apart, first = np.empty(classes, np.int64), np.empty(classes), np.empty(classes)
    logs, mass, weight = np.empty(values), np.empty(values), np.empty(values)
    fading = np.ones((depth, values))
    for query in range(queries):
        wanted, known = target[query], True
        for value in range(values):
            known &= not np.isnan(wanted[value])
            logs[value] = np.log(wanted[value]) if wanted[value] > 0 else 0.0
        for kind in range(classes if novel else 0):  # the same for all repetitions, and a power takes long
            for document in range(begins[query, kind], ends[query, kind]):
                for value in range(values):
                    served = shares[query, value, kind] * relevance[query, document]
                    fading[document, value] = (1 - alpha) ** served
        for repetition in range(repetitions):
            left = 0
            for kind in range(classes):
                if begins[query, kind] < ends[query, kind]:
                    at[left], end[left] = begins[query, kind], ends[query, kind]
                    own[left], size[left] = relevance[query, at[left]], 0.0
                    for value in range(values):
                        share[value, left] = shares[query, value, kind]
                        size[left] += share[value, left]
                    left += 1
            mass[:], weight[:], total = 0.0, 1.0, 0.0
            for step in range(steps):
                if left == 0:
                    break
                exploring = explore[query, repetition, step]
                by_gain = _gains(gain, own, share, weight, left, novel) and not exploring
                if by_groups and known and left > _FEW:
                    _least_divergences(least, inverse, share, size, mass, total, wanted, logs, left)
                    likely = _promises(promise, gain, least, smoothing, by_gain, left)
                else:  # all are looked at
                    promise[:left], likely = np.inf, 0
                top, nearest, enough, count = -np.inf, np.inf, -np.inf, 0
                for turn in range(-1, left):  # the likely one first
                    head = likely if turn < 0 else turn
                    if promise[head] < enough or turn == likely:
                        continue
                    far = 0.0
                    if by_groups:
                        whole, far = total + size[head], np.inf
                        if whole > 0 and known:
                            far = _divergence(mass, share, head, whole, wanted, logs, tie)
                    if exploring:
                        key = -far
                    else:  # no gain, and a gain at an infinite divergence, are nothing
                        key = gain[head] / (far + smoothing) if gain[head] > 0 and far < np.inf else 0.0
                    apart[count], first[count], kept[count] = far, key, head
                    top, nearest, count = max(top, key), min(nearest, far), count + 1
                    enough = top * (1 - _ROOM) if by_gain else -nearest - _ROOM * (1 + nearest)
                bar = _bar(top, 1.0 if exploring else 0.0, tie)
                second = -np.inf
                for one in range(count):
                    if first[one] >= bar:
                        second = max(second, gain[kept[one]] if exploring else -apart[one])
                other = _bar(second, 0.0 if exploring else 1.0, tie)
                best, place = -1, depth
                for one in range(count):
                    head = kept[one]
                    key = gain[head] if exploring else -apart[one]
                    if first[one] >= bar and key >= other and order[query, at[head]] < place:
                        best, place = head, order[query, at[head]]
                places[query, repetition, step] = place
                for value in range(values):
                    mass[value] += share[value, best]
                    weight[value] *= fading[at[best], value]
                total += size[best]
                at[best] += 1
                if at[best] < end[best]:
                    own[best] = relevance[query, at[best]]
                    continue
                left -= 1  # what stands last comes into the place of a class that has ended
                at[best], end[best] = at[left], end[left]
                own[best], size[best] = own[left], size[left]
                for value in range(values):
                    share[value, best] = share[value, left]
