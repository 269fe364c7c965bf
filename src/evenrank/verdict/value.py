"""A verdict as a value: what was found on one attribute of one system; it goes to JSON and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from evenrank.errors import DataError

KIND = "evenrank verdict"
VERSION = 1
FAVOURED, LESS, NOT_SHOWN, TOO_FEW = "favoured", "less than its target", "not shown", "too few"
MOST_UNLABELLED = 1 / 3  # of the attention on documents without a group, above which there is no verdict


@dataclass(frozen=True)
class GroupFinding:
    """One group: what there is of it, what it gets, and what the verdict on it is.

    ``catalogue`` and ``candidates`` are its shares of all documents and of those that were found, ``share``
    is its share of the attention in the first places, each a mean over queries. The interval of the share
    holds for all groups of all attributes together, so one that excludes the target is a verdict, and every
    verdict has an interval that excludes the target. It is NaN where there are too few queries or units.
    """

    value: str
    documents: float  # in the catalogue, or where that is not known among the candidates
    catalogue: float  # NaN where the catalogue is not known
    candidates: float
    share: float
    share_low: float
    share_high: float
    target: float
    decision: str
    shown_below: float = math.nan  # a share below it would have been shown to be less than the target
    shown_above: float = math.nan
    fades: float = math.nan  # the part of the interval's variance that more queries would remove
    queries_low: float = math.nan  # other queries with the same catalogue and labels: a description
    queries_high: float = math.nan
    reachable: float = math.nan  # the mean share where every list is brought as near to its target as it can
    unreachable: int = 0  # queries whose candidates have too few of the group for the target

    @property
    def difference(self) -> float:
        """The share less the target."""
        return self.share - self.target

    @property
    def low(self) -> float:
        """The lower end of the interval of the difference."""
        return self.share_low - self.target

    @property
    def high(self) -> float:
        return self.share_high - self.target

    @property
    def ratio(self) -> float:
        """How many times its target the group gets; NaN where the target is 0."""
        return self.share / self.target if self.target > 0 else math.nan


@dataclass(frozen=True)
class WorstQuery:
    """A query whose list gives the group least of what it should get."""

    query: str
    text: str  # empty where it is not known
    share: float  # of the attention in the first places
    candidates: float
    target: float


@dataclass(frozen=True)
class RelevanceFinding:
    """What is known of relevance: a value of ``measure``, or no measure where nothing is judged."""

    measure: str = ""
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    queries: int = 0
    clicks: bool = False  # the judgements come from clicks


@dataclass(frozen=True)
class Advice:
    """The re-ranker to try next: what it does to the share of a group on the same lists, and what it costs.

    ``gain`` is the new share less the old one. ``cost`` is the change of ``cost_measure`` where relevance is
    known, else the mean number of the first places that hold another document than before.
    """

    method: str
    group: str
    before: float
    after: float
    gain: float
    gain_low: float
    gain_high: float
    cost_measure: str
    cost: float
    cost_low: float
    cost_high: float
    tried: tuple[str, ...] = ()
    command: tuple[str, ...] = ()  # the words of the command that does it, where there are files


@dataclass(frozen=True)
class Verdict:
    """Who is favoured by one system, by how much, and how sure that is.

    ``level`` is that of the intervals, which hold for all ``tests`` groups together.
    """

    system: str
    attribute: str
    cutoff: int
    depth: int  # of the candidates
    target: str  # catalogue, candidates, equal or given
    groups: tuple[GroupFinding, ...]
    queries: int
    tests: int
    level: float
    relevance: RelevanceFinding = RelevanceFinding()
    worst: tuple[WorstQuery, ...] = ()
    advice: Advice | None = None
    notes: tuple[str, ...] = ()
    unlabelled: int = 0  # documents without a group in the first places
    ranked: int = 0  # documents in the first places
    unseen: float = 0.0  # the part of the attention in the first places that those without a group get
    unit: str = ""  # the column that labels belong to, as a seller; empty for the document itself
    units: float = math.nan  # that share the attention, as an effective number
    effective: float = math.nan  # number of queries, where weights make some count for more than others
    attention: str = "log2"  # how places count; uniform: places are counted

    @property
    def favoured(self) -> tuple[GroupFinding, ...]:
        """The groups that are shown to get more than their target, the most favoured first."""
        return self._with(FAVOURED, -1)

    @property
    def less(self) -> tuple[GroupFinding, ...]:
        """The groups that are shown to get less than their target, the farthest below first."""
        return self._with(LESS, 1)

    @property
    def lowest(self) -> GroupFinding | None:
        """The group that is farthest below its target, shown or not; None where no group has a value."""
        known = [group for group in self.groups if not math.isnan(group.difference)]
        return min(known, key=lambda group: group.difference) if known else None

    @property
    def shown(self) -> bool:
        """Whether any group is shown to get more or less than its target."""
        return bool(self.favoured or self.less)

    @property
    def decided(self) -> bool:
        """Whether there was enough for a verdict on any group."""
        return any(group.decision != TOO_FEW for group in self.groups)

    def _with(self, decision: str, sign: int) -> tuple[GroupFinding, ...]:
        found = [group for group in self.groups if group.decision == decision]
        return tuple(sorted(found, key=lambda group: sign * group.difference))

    def group(self, value: str) -> GroupFinding:
        for group in self.groups:
            if group.value == value:
                return group
        raise DataError(f"attribute {self.attribute!r} has no group {value!r}")

    def to_json(self) -> dict[str, Any]:
        """Plain data for ``json.dump``; what is not known is null."""
        return {"kind": KIND, "version": VERSION, **_plain(self)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any], where: str = "verdict") -> Verdict:
        """The verdict that ``to_json`` wrote."""
        if content.get("kind") != KIND or content.get("version") != VERSION:
            raise DataError(
                f"{where}: is no verdict of this version: it needs kind {KIND!r} and version {VERSION}"
            )
        try:
            return cls(
                **{
                    **{name: content[name] for name in _names(cls) if name not in (*_NESTED, *_LATER)},
                    **{name: content[name] for name in _LATER if content.get(name) is not None},
                    "groups": tuple(_read(GroupFinding, one) for one in content["groups"]),
                    "relevance": _read(RelevanceFinding, content["relevance"]),
                    "worst": tuple(_read(WorstQuery, one) for one in content["worst"]),
                    "advice": _advice(content["advice"]),
                    "notes": tuple(content["notes"]),
                }
            )
        except (KeyError, TypeError) as error:
            raise DataError(f"{where}: is not a whole verdict: {error}") from None


# not in the first summaries
_LATER = ("unlabelled", "ranked", "unseen", "unit", "units", "effective", "attention")
_NESTED = ("groups", "relevance", "worst", "advice", "notes")


def _names(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in _names(type(value))}
    return value


def _read(kind: Any, content: Mapping[str, Any]) -> Any:
    """One of the values above; null is a number that is not known."""
    names = [field.name for field in fields(kind) if field.name in content or field.default is MISSING]
    return kind(**{name: math.nan if content[name] is None else content[name] for name in names})


def _advice(content: Mapping[str, Any] | None) -> Advice | None:
    if content is None:
        return None
    several = {name: tuple(content.get(name, ())) for name in ("tried", "command")}
    read: Advice = _read(Advice, {**content, **several})
    return read
