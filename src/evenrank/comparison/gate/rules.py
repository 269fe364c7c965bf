"""What a gate demands of a run: for each measure how much worse it may be, and how sure one must be of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from evenrank.errors import ParameterError
from evenrank.measures import Direction, Measure
from evenrank.measures.missing import with_missing, without_missing
from evenrank.stats.difference import RESAMPLES
from evenrank.stats.intervals import FEWEST

PASS, FAIL = "pass", "fail"
OUTCOMES = (PASS, FAIL)
BONFERRONI, UNCORRECTED = "bonferroni", "none"
CORRECTIONS = (BONFERRONI, UNCORRECTED)
AT_LEAST = 30  # queries; see benchmarks/gate.md for what fewer can show


@dataclass(frozen=True)
class GateRule:
    """What one measure must fulfil. ``allowed`` is how much worse it may be, in its own units.

    ``allowed_share`` is the same as a share of the baseline's value. Where neither is given, nothing is
    allowed, unless there is a ``limit``: then that alone is looked at. The limit is the worst value that the
    run may have, whatever the baseline has: a floor or a ceiling as the measure points, and of a signed
    measure how far it may be from 0.

    ``floor`` and ``ceiling`` are the least and the most that the value may be, for any measure, as the share
    of a group. They need no baseline, and they are held against the bounds of the value: the rule fails
    where the value is shown to lie beyond.

    ``unclear`` is what becomes of a measure that is neither shown to be worse by more than is allowed nor
    shown not to be; ``too_few`` of one with values for fewer than ``at_least`` queries: 30, or for the share
    of a group what its verdict takes. ``allowed_lost`` is the share of the baseline's queries that may have
    no finite value any more.
    """

    measure: Measure
    column: str = ""
    allowed: float | None = None
    allowed_share: float | None = None
    limit: float | None = None
    floor: float | None = None
    ceiling: float | None = None
    alpha: float = 0.05
    at_least: int | None = None
    allowed_lost: float = 0.1
    unclear: str = PASS
    too_few: str = FAIL

    @property
    def name(self) -> str:
        return repr(self.measure) + (f"[{self.column}]" if self.column else "")

    @property
    def compares(self) -> bool:
        """True where the run is held against the baseline, not only against a limit."""
        absolute = self.limit is not None or self.bounded
        return not absolute or self.allowed is not None or self.allowed_share is not None

    @property
    def fewest(self) -> int:
        return AT_LEAST if self.at_least is None else self.at_least

    @property
    def bounded(self) -> bool:
        """True where the value has a floor or a ceiling."""
        return self.floor is not None or self.ceiling is not None

    @property
    def lower_is_better(self) -> bool:
        return self.measure.direction is Direction.LOWER

    def margin(self, baseline: float) -> float:
        """How much worse than this value the run may be."""
        if self.allowed_share is not None:
            return self.allowed_share * abs(baseline)
        return self.allowed or 0.0

    def __post_init__(self) -> None:
        for key in ("allowed", "allowed_share"):
            value = getattr(self, key)
            if value is not None:
                self._number(key, value, "a number >= 0", lambda number: number >= 0)
        if self.limit is not None:
            signed = self.measure.direction is Direction.SIGNED
            self._number(
                "limit",
                self.limit,
                "a number >= 0" if signed else "a number",
                lambda number: number >= 0 or not signed,
            )
        for key in ("floor", "ceiling"):
            if getattr(self, key) is not None:
                self._number(key, getattr(self, key), "a number", lambda _: True)
        if self.floor is not None and self.ceiling is not None and self.floor > self.ceiling:
            raise ParameterError(f"{self.name}: floor {self.floor:g} is above ceiling {self.ceiling:g}")
        self._number("alpha", self.alpha, "a number > 0 and < 0.5", lambda number: 0 < number < 0.5)
        self._number("allowed_lost", self.allowed_lost, "a share from 0 to 1", lambda share: 0 <= share <= 1)
        if isinstance(self.fewest, bool) or not isinstance(self.fewest, int) or self.fewest < FEWEST:
            raise self._wrong("at_least", f"an integer >= {FEWEST}", self.at_least)
        for key in ("unclear", "too_few"):
            if getattr(self, key) not in OUTCOMES:
                raise self._wrong(key, " or ".join(OUTCOMES), getattr(self, key))
        if self.allowed is not None and self.allowed_share is not None:
            raise ParameterError(
                f"{self.name}: allowed and allowed_share exclude each other: keep one of them"
            )
        self._check_measure()

    def _number(self, key: str, value: object, what: str, fits: Callable[[float], bool]) -> None:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not (number and math.isfinite(value) and fits(value)):  # type: ignore[arg-type]
            raise self._wrong(key, what, value)

    def _wrong(self, key: str, what: str, value: object) -> ParameterError:
        return ParameterError(f"{self.name}: {key} must be {what}, got {value!r}")

    def _check_measure(self) -> None:
        direction = self.measure.direction
        if self.bounded:
            self._check_bounded()
            return
        if direction not in (Direction.HIGHER, Direction.LOWER, Direction.SIGNED):
            raise ParameterError(
                f"{self.name}: {direction.value}, so it cannot become worse: set floor or ceiling to say "
                "what it may be"
            )
        if not self.compares:
            return
        if direction is Direction.SIGNED:
            raise ParameterError(
                f"{self.name}: is signed, 0 is even, so neither more nor less is worse: "
                "set limit, and nothing allowed, to say how far from 0 it may be"
            )
        if self.measure.aggregation != "mean":
            raise ParameterError(
                f"{self.name}: its value is the {self.measure.aggregation} over queries, and bounds are of "
                "means: set limit, and nothing allowed, to say what it may be"
            )
        if self.unclear == FAIL and not (self.allowed or self.allowed_share):
            raise ParameterError(
                f"{self.name}: unclear = fail needs allowed > 0: no number of queries shows that a run is "
                "not worse by anything at all"
            )

    def _check_bounded(self) -> None:
        if self.compares or self.limit is not None:
            raise ParameterError(
                f"{self.name}: floor and ceiling stand alone: a rule has these, or limit and allowed"
            )
        if self.measure.aggregation != "mean":
            raise ParameterError(
                f"{self.name}: its value is the {self.measure.aggregation} over queries, and bounds are of "
                "means: set limit, which is held against the value itself"
            )


@dataclass(frozen=True)
class Gate:
    """Rules that a run must pass together.

    A gate of many measures would fail by chance more often than one of a single measure. So with
    ``correction`` bonferroni the alpha of a rule that fails when its measure is shown to be worse is divided
    by the number of such rules. A rule with ``unclear`` fail keeps its alpha: the gate opens only when every
    one of those is shown to be good enough, and more of them do not make that likelier.
    """

    rules: tuple[GateRule, ...]
    correction: str = BONFERRONI
    resamples: int = RESAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.rules:
            raise ParameterError("a gate without rules would let everything pass: name a measure")
        if self.correction not in CORRECTIONS:
            raise ParameterError(f"correction must be {' or '.join(CORRECTIONS)}, got {self.correction!r}")
        for key, least in (("resamples", 1), ("seed", 0)):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ParameterError(f"{key} must be an integer >= {least}, got {value!r}")
        name, count = Counter(rule.name for rule in self.rules).most_common(1)[0]
        if count > 1:
            raise ParameterError(f"{name}: has {count} rules; one is enough")

    @cached_property
    def family(self) -> int:
        """How many rules can fail because their measure is shown to be worse, or beyond a limit."""
        return sum((rule.compares or rule.bounded) and rule.unclear == PASS for rule in self.rules)

    @property
    def compares(self) -> bool:
        """Whether a baseline is needed."""
        return any(rule.compares for rule in self.rules)

    def with_missing(self, missing: str) -> Gate:
        """The same gate for values that were computed with this rule for documents without evidence: it goes
        before that of a measure, whose name then says so. A measure that names none keeps its name."""
        rules = (
            rule
            if rule.measure == without_missing(rule.measure)
            else replace(rule, measure=with_missing(rule.measure, missing))
            for rule in self.rules
        )
        return replace(self, rules=tuple(rules))

    def alpha_of(self, rule: GateRule) -> float:
        shared = self.correction == BONFERRONI and rule.unclear == PASS
        return rule.alpha / max(1, self.family) if shared else rule.alpha
