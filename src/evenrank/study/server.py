"""The pages of a study. One address shows the step that is due, so no step can be skipped or taken back."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from evenrank._version import __version__
from evenrank.study import people
from evenrank.study.assignment import assign, assignment_of, plan_questions, planned_questions
from evenrank.study.conditions import ShownList, Study
from evenrank.study.flow import balance_of, flow_of
from evenrank.study.journey import SCALE, Place, journey, take_answers
from evenrank.study.texts import paragraphs_of
from evenrank.web.application import Reply, Site, Visit, VisitLimits, redirect
from evenrank.web.forms import FormTokens
from evenrank.web.pages import Pages, static_files
from evenrank.web.password import Password
from evenrank.web.steps import (
    Event,
    add_event,
    arrived,
    begin,
    count,
    participant_of,
    record,
    steps_of,
)
from evenrank.web.store import Store, Transaction

HERE = Path(__file__).parent
PASSWORD = "EVENRANK_STUDY_PASSWORD"
ADMIN = "/admin"
CONSENT = "step-0"
KINDS = ("shown", "open", "close", "hidden", "visible", "leave")
MOST_EVENTS = 2000  # of a participant
_PANEL_ID = re.compile(r"[A-Za-z0-9_.\-]{1,64}")
_FAILURES = {403: "expired", 404: "missing", 405: "missing", 429: "too_often", 500: "busy", 503: "busy"}


class StudyServer:
    """Handlers for everything that a participant does, on one store."""

    def __init__(self, study: Study, store: Store) -> None:
        self.study, self.store = study, store
        people.prepare_study(store)
        people.record_version(store, study)
        self.tokens = FormTokens(people.secret_of(store, secrets.token_hex(32)))
        self.pages = Pages([HERE / "templates"])
        self._versions = {
            "evenrank": __version__,
            "study": study.settings.version,
            "fingerprint": study.fingerprint[:16],
        }

    def site(self, limits: VisitLimits | None = None) -> Site:
        password = os.environ.get(PASSWORD, "")
        status = {("GET", ADMIN): self.admin} if password else {}
        return Site(
            handlers={
                ("GET", "/"): self.show,
                ("POST", "/"): self.submit,
                ("POST", "/events"): self.log,
                ("GET", "/withdraw"): self.ask_to_withdraw,
                ("POST", "/withdraw"): self.withdraw,
                ("GET", "/withdrawn"): self.withdrawn,
                ("GET", "/declined"): lambda visit: self._message("declined"),
                **status,
            },
            files=static_files(HERE / "static"),
            tokens=self.tokens,
            failed=self._failed,
            secure=self.study.settings.secure,
            limits=limits or VisitLimits(),
            passwords={ADMIN: Password(password)},
        )

    def show(self, visit: Visit) -> Reply:
        """The page of the step that is due."""
        with self.store.reading() as transaction:
            participant = participant_of(transaction, visit.session)
            if participant is not None:
                return self._due(transaction, visit, participant)
            panel_id, refused = self._panel_id(transaction, visit, visit.query)
        if refused is not None:
            return refused
        if self._is_over():
            return self._message("study")
        if visit.is_new:
            self.count_arrival()
        return self._consent(visit, panel_id)

    def count_arrival(self) -> None:
        with self.store.writing() as transaction:
            count(transaction, "arrived")

    def submit(self, visit: Visit) -> Reply:
        """Record the step that a form answers, if it is the one that is due; otherwise change nothing."""
        if (visit.purpose or "").partition(" ")[0] == CONSENT:
            return self._begin(visit)
        position = _position(visit.purpose, "step-")
        with self.store.writing() as transaction:
            participant = participant_of(transaction, visit.session)
            if participant is None or position is None:
                return self._failed(403)
            transaction.lock(f"participant {participant}")
            standing = people.standing_of(transaction, participant)
            if standing.standing in people.ENDED or self._is_of_another_version(standing):
                return redirect("/")
            places = journey(self.study, planned_questions(transaction, participant))
            if position != len(steps_of(transaction, participant)) or position >= len(places):
                return redirect("/")  # sent twice, or from another tab: the step that is due is shown
            place = places[position]
            shown = self._shown(transaction, participant, place)
            taken = take_answers(self.study, place, visit.form, shown)
            if taken.problems:
                return self._page(visit, place, position, len(places), shown, taken.problems, visit.form)
            answers = {**taken.answers, **({} if place.question is None else {"question": place.question})}
            if not record(transaction, participant, position, place.page, answers):
                return redirect("/")
            if place.page == "search" and place.question is not None:  # decided before it can be shown
                assign(transaction, self.study, participant, place.question, self._versions)
            if place.page == "eligibility" and not taken.answers["eligible"]:
                people.set_standing(transaction, participant, people.INELIGIBLE)
            if place.page == "debriefing":
                people.set_standing(transaction, participant, people.FINISHED)
        return redirect("/")

    def log(self, visit: Visit) -> Reply:
        """Keep what the script of the results saw; it is answered when it is on disk."""
        position = _position(visit.purpose, "events-")
        event = None if position is None else _event(visit.form, position)
        if event is None:
            return Reply(status=400)
        with self.store.writing() as transaction:
            participant = participant_of(transaction, visit.session)
            if participant is None:
                return Reply(status=403)
            steps = steps_of(transaction, participant)
            # what happened while a step was due may arrive just after it was answered
            due = len(steps) in (event.position, event.position + 1)
            standing = people.standing_of(transaction, participant)
            going_on = standing.standing == people.ACTIVE and not self._is_of_another_version(standing)
            if due and going_on and self._is_shown(transaction, participant, event):
                add_event(transaction, participant, event, MOST_EVENTS)
        return Reply(status=204)

    def ask_to_withdraw(self, visit: Visit) -> Reply:
        with self.store.reading() as transaction:
            participant = participant_of(transaction, visit.session)
        return redirect("/") if participant is None else self._withdrawal(visit, ())

    def withdraw(self, visit: Visit) -> Reply:
        choice = visit.form.get("answers", "")
        if visit.purpose != "withdraw":
            return self._failed(403)
        if choice not in ("keep", "delete"):
            return self._withdrawal(visit, (self.study.texts.text("withdraw", "must_choose"),))
        with self.store.writing() as transaction:
            participant = participant_of(transaction, visit.session)
            if participant is None:
                return redirect("/")
            people.withdraw(transaction, participant, delete=choice == "delete")
        return redirect(f"/withdrawn?answers={choice}")

    def withdrawn(self, visit: Visit) -> Reply:
        deleted = visit.query.get("answers") == "delete"
        return self._message("deleted" if deleted else "kept", table="withdrawn", heading="heading")

    def admin(self, visit: Visit) -> Reply:
        """How the study stands; no answer is shown."""
        with self.store.reading() as transaction:
            flow, balance = flow_of(transaction), balance_of(transaction)
        return Reply(
            self._render("admin.html", flow=flow, balance=balance, version=self.study.settings.version)
        )

    def _begin(self, visit: Visit) -> Reply:
        try:
            return self._enrolled(visit)
        except _Repeated:
            return self._message("repeated")

    def _enrolled(self, visit: Visit) -> Reply:
        choice = visit.form.get("consent", "")
        with self.store.writing() as transaction:
            if participant_of(transaction, visit.session) is not None:
                return redirect("/")
            given = {self._parameter: visit.form.get("panel_id", "")}
            panel_id, refused = self._panel_id(transaction, visit, given)
            if refused is not None:
                return refused
            if self._is_over():
                return self._message("study")
            if choice == "decline":
                count(transaction, "declined")
                return redirect("/declined")
            if choice != "agree":
                return self._consent(visit, panel_id, (self.study.texts.text("consent", "must_choose"),))
            # from the token, which is of one page: sending its form twice gives the same session
            session = self.tokens.new_session(f"{visit.session} {visit.purpose}")
            begun = begin(transaction, visit.session, session)
            if begun is None:
                return self._failed(403)
            going_on = replace(redirect("/"), session=session)
            participant, is_new = begun
            if not is_new:
                return going_on
            version = self.study.settings.version
            keyed = self.tokens.keyed(panel_id or participant)
            if not people.enrol(transaction, participant, version, panel_id, keyed):
                raise _Repeated
            plan_questions(transaction, self.study, participant)
            record(transaction, participant, 0, "consent", {"language": self.study.settings.language})
        return going_on

    def _due(self, transaction: Transaction, visit: Visit, participant: str) -> Reply:
        standing = people.standing_of(transaction, participant)
        if standing.standing == people.INELIGIBLE:
            return self._message("ineligible")
        if standing.standing in (people.KEPT, people.DELETED):
            name = "kept" if standing.standing == people.KEPT else "deleted"
            return self._message(name, table="withdrawn", heading="heading")
        if standing.standing == people.FINISHED:
            return self._end(visit, standing.code)
        if self._is_of_another_version(standing):
            return self._message("study")
        questions = planned_questions(transaction, participant)
        places = journey(self.study, questions)
        position = len(steps_of(transaction, participant))
        place = places[position]
        shown = self._shown(transaction, participant, place)
        balanced = []
        if place.page == "debriefing":
            for question in questions:
                found = assignment_of(transaction, participant, question)
                if found is not None:
                    listed = self.study.lists[question, found.condition]
                    balanced.append((self.study.questions[question], listed.balanced))
        return self._page(visit, place, position, len(places), shown, balanced=balanced)

    def _shown(self, transaction: Transaction, participant: str, place: Place) -> ShownList | None:
        """The list of the step, where it has one."""
        if place.page != "results" or place.question is None:
            return None
        found = assignment_of(transaction, participant, place.question)
        return None if found is None else self.study.lists[place.question, found.condition]

    def _is_shown(self, transaction: Transaction, participant: str, event: Event) -> bool:
        """Whether the step of an event shows a list, and the list has its rank."""
        places = journey(self.study, planned_questions(transaction, participant))
        if event.position >= len(places):
            return False
        shown = self._shown(transaction, participant, places[event.position])
        return shown is not None and (event.rank is None or 1 <= event.rank <= len(shown.documents))

    @property
    def _parameter(self) -> str:
        return "" if self.study.settings.panel is None else self.study.settings.panel.parameter

    def _panel_id(
        self, transaction: Transaction, visit: Visit, query: Mapping[str, str]
    ) -> tuple[str | None, Reply | None]:
        """The id that a panel put into the address, or the page that says why there is none to use."""
        panel = self.study.settings.panel
        if panel is None:
            return None, None
        found = query.get(panel.parameter, "")
        if not found and not panel.required:
            return None, None
        if not _PANEL_ID.fullmatch(found):
            return None, self._message("unknown")
        owner = people.owner_of(transaction, self.tokens.keyed(found))
        if owner is not None and owner != arrived(transaction, visit.session):
            return None, self._message("repeated")
        return found, None

    def _is_of_another_version(self, standing: people.ParticipantStanding) -> bool:
        """Who began with an earlier version cannot go on: its questions and lists may be gone."""
        return standing.version != self.study.settings.version

    def _is_over(self) -> bool:
        retention = self.study.settings.retention
        return self.study.settings.closed or (retention is not None and date.today() > retention)

    def _consent(self, visit: Visit, panel_id: str | None, problems: tuple[str, ...] = ()) -> Reply:
        token = visit.token(f"{CONSENT} {secrets.token_urlsafe(16)}")  # of this page alone
        body = self._render(
            "consent.html", token=token, panel_id=panel_id, problems=problems,
            paragraphs=paragraphs_of(self.study.consent),
        )  # fmt: skip
        return Reply(body, 422 if problems else 200)

    def _page(
        self,
        visit: Visit,
        place: Place,
        position: int,
        total: int,
        shown: ShownList | None,
        problems: tuple[str, ...] = (),
        given: Mapping[str, str] | None = None,
        balanced: list[Any] | None = None,
    ) -> Reply:
        body = self._render(
            f"{place.page}.html",
            token=visit.token(f"step-{position}"),
            events_token=visit.token(f"events-{position}"),
            place=place,
            question=None if place.question is None else self.study.questions[place.question],
            scale=[(value, self.study.texts.text("scale", name)) for value, name in SCALE.items()],
            total=self.study.settings.questions_each,
            shown=shown,
            balanced=balanced or [],
            problems=problems,
            given=given or {},
            withdrawable=True,
        )
        return Reply(body, 422 if problems else 200)

    def _end(self, visit: Visit, code: str) -> Reply:
        panel = self.study.settings.panel
        code = code if panel is None or panel.code is None else panel.code
        address = None if panel is None or panel.redirect is None else panel.redirect.replace("{code}", code)
        return Reply(self._render("end.html", code=code, address=address, withdrawable=True))

    def _withdrawal(self, visit: Visit, problems: tuple[str, ...]) -> Reply:
        body = self._render("withdraw.html", token=visit.token("withdraw"), problems=problems)
        return Reply(body, 422 if problems else 200)

    def _message(self, name: str, table: str = "closed", heading: str | None = None) -> Reply:
        return Reply(
            self._render("message.html", table=table, heading=heading or f"{name}_heading", name=name)
        )

    def _failed(self, status: int) -> Reply:
        name = _FAILURES.get(status, "expired")
        return Reply(self._render("failed.html", name=name), status)

    def _render(self, template: str, **values: Any) -> str:
        settings = self.study.settings
        return self.pages.render(
            template,
            **{
                "title": settings.title,
                "language": settings.language,
                "t": self.study.texts.text,
                "paragraphs_of": self.study.texts.paragraphs,
                "text_paragraphs": paragraphs_of,
                "settings": settings,
                "problems": (),
                "withdrawable": False,
                **values,
            },
        )


class _Repeated(Exception):
    """Somebody with the same id of a panel began between two looks; the transaction must be undone."""


def _position(purpose: str | None, prefix: str) -> int | None:
    number = (purpose or "").removeprefix(prefix)
    return int(number) if (purpose or "").startswith(prefix) and number.isdigit() else None


def _event(form: Mapping[str, str], position: int) -> Event | None:
    page, kind = form.get("page", ""), form.get("kind", "")
    number, rank, at = (form.get(name, "") for name in ("number", "rank", "milliseconds"))
    fits = re.fullmatch(r"[0-9a-f]{8,32}", page) and kind in KINDS
    if not fits or not all(re.fullmatch(r"[0-9]{1,9}", value) for value in (number, at)):
        return None
    if rank and not re.fullmatch(r"[0-9]{1,3}", rank):
        return None
    return Event(page, int(number), position, kind, int(rank) if rank else None, int(at))
