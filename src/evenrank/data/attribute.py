"""An attribute of documents: its values, and the share of attention that each value should have."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from evenrank.errors import InputTypeError, ParameterError

SHARE_TOLERANCE = 1e-6 + 1e-9  # three times 0.333333 is a distribution

UNIFORM, PRESENT, POOL, COLLECTION, RELEVANCE = "uniform", "present", "pool", "collection", "relevance"
TARGETS = (UNIFORM, PRESENT, POOL, COLLECTION, RELEVANCE)
CATALOGUE, CANDIDATES, EQUAL, GIVEN = "catalogue", "candidates", "equal", "given"  # what people read

COMBINED = "*"  # between the names of attributes whose values are combined
_NAME = re.compile(r"[^\s.,:='\"()*@]+(?: [^\s.,:='\"()*@]+)*")

Shares = tuple[float, ...]


@dataclass(frozen=True)
class Attribute:
    """What documents can be: the values, whether they have an order, and the target over them.

    ``target`` is ``"uniform"``; ``"present"``, uniform over the values that a query's pool of documents
    has; ``"pool"``, the shares of the pool; ``"relevance"``, in proportion to the average grade of the
    pool's documents of each value, 0 where there is no judgement; ``"collection"``, the shares of all
    documents that are labelled; shares by value or in their order; or such shares for each query,
    ``{query: shares}``.
    Shares that sum to 1 within 1e-6 are divided by their sum.

    >>> Attribute("reviews", ("0", "1-10", "11-100"), ordinal=True, target={"0": 0.5, "1-10": 0.5})
    Attribute(name='reviews', values=('0', '1-10', '11-100'), ordinal=True, target=(0.5, 0.5, 0.0))
    """

    name: str
    values: tuple[str, ...]
    ordinal: bool = False
    target: Any = UNIFORM  # one of TARGETS, shares in the order of the values, or {query: shares}

    def __post_init__(self) -> None:
        _check_name(self.name)
        object.__setattr__(self, "values", _values(self.name, self.values))
        object.__setattr__(self, "target", self._settled(self.target))

    def __hash__(self) -> int:
        return hash((self.name, self.values, self.ordinal))

    @property
    def needs_pool(self) -> bool:
        """True where the target depends on the documents of a query."""
        return self.target in (PRESENT, POOL, RELEVANCE) if isinstance(self.target, str) else False

    @property
    def has_query_targets(self) -> bool:
        return isinstance(self.target, Mapping)

    def with_target(self, target: Any) -> Attribute:
        return Attribute(self.name, self.values, self.ordinal, target)

    def targets(self, query_ids: Sequence[str]) -> npt.NDArray[np.float64]:
        """(Q, L): the target of each query, NaN for one that has none. Not for targets of a pool."""
        if isinstance(self.target, Mapping):
            unknown = (math.nan,) * len(self.values)
            return np.array([self.target.get(query, unknown) for query in query_ids]).reshape(
                len(query_ids), len(self.values)
            )
        shares = (1 / len(self.values),) * len(self.values) if self.target == UNIFORM else self.target
        return np.tile(np.asarray(shares, dtype=np.float64), (len(query_ids), 1))

    def _settled(self, target: Any) -> Any:
        if target is None:
            return UNIFORM
        if isinstance(target, str):
            if target not in TARGETS:
                raise ParameterError(
                    f"attribute {self.name!r}: target must be one of {', '.join(TARGETS)}, shares by value, "
                    f"or shares by query, got {target!r}"
                )
            if target == PRESENT and self.ordinal:
                raise ParameterError(
                    f"attribute {self.name!r}: the target 'present' is for values without an order: "
                    "a scale keeps all its values"
                )
            return target
        if isinstance(target, Mapping) and any(
            isinstance(shares, (Mapping, Sequence, np.ndarray)) for shares in target.values()
        ):
            return MappingProxyType(
                {str(query): self._shares(shares, f" of query {query!r}") for query, shares in target.items()}
            )
        return self._shares(target, "")

    def _shares(self, given: Any, whose: str) -> Shares:
        what = f"attribute {self.name!r}: target{whose}"
        if isinstance(given, Mapping):
            unknown = [value for value in given if value not in self.values]
            if unknown:
                raise ParameterError(
                    f"{what}: there is no value {unknown[0]!r}; the values are {self.listed()}"
                )
            given = [given.get(value, 0.0) for value in self.values]
        try:
            shares = tuple(float(share) for share in given)
        except (TypeError, ValueError):
            raise ParameterError(f"{what} must be numbers, got {given!r}") from None
        if len(shares) != len(self.values):
            raise ParameterError(
                f"{what}: got {len(shares)} shares, but there are {len(self.values)} values, "
                f"{self.listed()}: give one share for each"
            )
        if not all(math.isfinite(share) and share >= 0 for share in shares) or (
            abs(sum(shares) - 1) > SHARE_TOLERANCE
        ):
            raise ParameterError(f"{what} must be >= 0 and sum to 1, got {list(shares)}")
        return tuple(share / sum(shares) for share in shares)

    def listed(self) -> str:
        """The values for a message, not too many."""
        shown = ", ".join(map(repr, self.values[:8]))
        return shown + (f", .. ({len(self.values)} in all)" if len(self.values) > 8 else "")


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not all(_NAME.fullmatch(part) for part in name.split(COMBINED)):
        raise ParameterError(
            "the name of an attribute must be a word without dots, commas, quotes or brackets, as 'gender'; "
            f"got {name!r}"
        )


def _values(name: str, values: Any) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputTypeError(f"attribute {name!r}: values must be a list of names, got {values!r}")
    if not all(isinstance(value, str) and value for value in values):
        raise InputTypeError(
            f"attribute {name!r}: values must be names, each a string, got {list(values)!r:.120}"
        )
    if len(set(values)) != len(values):
        twice = next(value for place, value in enumerate(values) if value in values[:place])
        raise ParameterError(f"attribute {name!r}: the value {twice!r} is listed twice")
    if len(values) < 2:
        raise ParameterError(f"attribute {name!r}: a share needs at least two values, got {list(values)}")
    return tuple(values)


def attribute_of(
    name: str,
    labels: Sequence[str],
    *,
    values: Sequence[str] | None = None,
    ordinal: bool = False,
    target: Any = UNIFORM,
) -> Attribute:
    """The attribute whose documents have these labels; ``values`` names them and their order.

    Without ``values``, the labels are the values in the order given; those of a scale must be numbers.

    >>> attribute_of("stars", ["5", "1", "10"], ordinal=True).values
    ('1', '5', '10')
    """
    if values is None:
        values = list(dict.fromkeys(labels))
        if ordinal:
            try:
                values = sorted(values, key=float)
            except ValueError:
                raise ParameterError(
                    f"attribute {name!r}: is ordinal, but its values are not numbers: give them in their "
                    f"order, values=[..]; found are {', '.join(map(repr, values[:8]))}"
                ) from None
    return Attribute(name, tuple(values), ordinal, target)


def target_name(target: object) -> str:
    """What a target is called in all messages.

    >>> target_name("collection"), target_name("uniform"), target_name((0.3, 0.7))
    ('catalogue', 'equal', 'given')
    """
    names = {COLLECTION: CATALOGUE, POOL: CANDIDATES, UNIFORM: EQUAL}
    return names.get(target, target) if isinstance(target, str) else GIVEN
