"""Simulated participants: opinions that follow a planted slope, given through the server's own handlers."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from evenrank.errors import DataError
from evenrank.study.assignment import assignment_of, planned_questions
from evenrank.study.conditions import ShownList, Study
from evenrank.study.journey import Place, journey
from evenrank.study.server import StudyServer
from evenrank.study.settings import Planned
from evenrank.web.application import Visit
from evenrank.web.steps import participant_of

WORDS = "I have read the results and I think so because several of them give reasons that seem sound to me"
LEAVES, INATTENTIVE, READS = 0.05, 0.03, 0.6  # chances: to stop at a list, to miss a check, to open a result


@dataclass
class Bots:
    """What simulated participants think, from the plan of a study."""

    study: Study
    plan: Planned
    generator: np.random.Generator
    encoder: str = ""
    slopes: Mapping[str, float] = field(default_factory=dict)
    levels: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.encoder = next(iter(next(iter(self.study.lists.values())).leanings))
        names = list(self.study.questions)
        spread = self.generator.normal(0.0, self.plan.slope_spread, len(names))
        self.slopes = dict(zip(names, (self.plan.slope + spread).tolist(), strict=True))
        levels = self.generator.normal(0.0, self.plan.question_spread, len(names))
        self.levels = dict(zip(names, levels.tolist(), strict=True))

    def person(self) -> Bot:
        return Bot(self, float(self.generator.normal(0.0, self.plan.participant_spread)))


@dataclass
class Bot:
    """One simulated participant."""

    bots: Bots
    level: float
    prior: int = 0
    signed: float = 0.0

    def leaves(self, place: Place) -> bool:
        return place.page == "results" and bool(self.bots.generator.random() < LEAVES)

    def opens(self, shown: ShownList) -> list[int]:
        """The ranks of the results that it opens."""
        generator = self.bots.generator
        if generator.random() >= READS:
            return []
        return sorted({int(rank) for rank in generator.integers(1, len(shown.documents) + 1, 2)})

    def answers(self, place: Place, shown: ShownList | None) -> dict[str, str]:
        generator, plan = self.bots.generator, self.bots.plan
        if place.page == "eligibility":
            return {"eligible": "yes"}
        if place.page == "prior":
            self.prior = _on_scale(generator.normal(0.0, 1.5))
            return {"opinion": str(self.prior)}
        if place.page == "results" and shown is not None:
            self.signed = shown.leanings[self.bots.encoder][1].signed or 0.0
            return {"opinion": WORDS, "quote": " ".join(shown.documents[0].text.split()[:12])}
        if place.page == "posterior" and place.question is not None:
            slope, level = self.bots.slopes[place.question], self.bots.levels[place.question]
            value = plan.prior_slope * self.prior + slope * self.signed + level + self.level
            return {"opinion": str(_on_scale(value + generator.normal(0.0, plan.noise)))}
        attention = self.bots.study.settings.attention
        if place.page == "attention" and attention is not None:
            wrong = next(answer for answer in attention.answers if answer != attention.correct)
            return {"answer": wrong if generator.random() < INATTENTIVE else attention.correct}
        return {}


def _on_scale(value: float) -> int:
    return int(np.clip(np.rint(value), -3, 3))


def simulate(
    server: StudyServer, participants: int, seed: int, done: Callable[[int], None] = lambda count: None
) -> None:
    """Let bots take part, one after the other, through the handlers of the server."""
    bots = Bots(server.study, server.study.settings.plan, np.random.default_rng(seed))
    for number in range(1, participants + 1):
        take_part(server, bots.person(), f"bot-{number}")
        done(number)


def take_part(server: StudyServer, bot: Bot, panel_id: str) -> None:
    session = server.tokens.new_session()

    def send(form: Mapping[str, str], purpose: str, path: str = "/") -> None:
        nonlocal session
        visit = Visit(path, {}, form, session, False, purpose, tokens=server.tokens)
        reply = server.log(visit) if path == "/events" else server.submit(visit)
        if reply.status not in (204, 303):
            raise DataError(f"the study refused the simulated answer to {purpose}: {form!r}")
        session = reply.session or session

    server.count_arrival()
    send({"consent": "agree", "panel_id": panel_id}, "step-0")
    with server.store.reading() as transaction:
        participant = participant_of(transaction, session)
        if participant is None:
            raise DataError("the study takes no participants: it is closed, or its retention date has passed")
        places = journey(server.study, planned_questions(transaction, participant))
    for position, place in enumerate(places[1:], 1):
        shown = None
        if place.page == "results" and place.question is not None:
            with server.store.reading() as transaction:
                found = assignment_of(transaction, participant, place.question)
            if found is not None:
                shown = server.study.lists[place.question, found.condition]
                _read(bot, shown, position, send)
        if bot.leaves(place):
            return
        send(bot.answers(place, shown), f"step-{position}")


def _read(bot: Bot, shown: ShownList, position: int, send: Callable[..., None]) -> None:
    """What the script of the page would tell."""
    page = secrets.token_hex(8)
    told = [("shown", "")]
    for opened in bot.opens(shown):
        told += [("open", str(opened)), ("close", str(opened))]
    for number, (kind, rank) in enumerate(told, 1):
        event = {"page": page, "number": str(number), "kind": kind, "milliseconds": str(4000 * number)}
        send({**event, **({"rank": rank} if rank else {})}, f"events-{position}", "/events")
