"""Run a behavioural study: participants give an opinion, see a list whose order was drawn by lot, and give an
opinion again. All settings are in FOLDER/study.toml."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from evenrank.cli.everywhere import Everywhere
from evenrank.cli.printing import Format, print_tables
from evenrank.cli.streams import put, say
from evenrank.cli.typed import Arg, command
from evenrank.cli.values import check_page
from evenrank.errors import DataError, ParameterError

if TYPE_CHECKING:
    from evenrank.study.conditions import Study
    from evenrank.study.settings import StudySettings
    from evenrank.tables import Table
    from evenrank.web.store import Store

SIMULATED = "simulated.sqlite"
STUDIES = 500  # simulated for each row of power
EVERYTHING = "everything"

Folder = Annotated[str, Arg("the study's folder, with its study.toml")]
Where = Annotated[str | None, Arg("where answers are kept (default: store in study.toml)", "FILE|URL")]
Participants = Annotated[int | None, Arg("how many (default: participants under [plan])", "N")]


@command("evenrank study new mystudy")
def new(folder: Annotated[str, Arg("a new folder")]) -> int:
    """Write a folder with an example study."""
    from evenrank.study.new import write_example

    for path in write_example(folder):
        say(f"wrote {path}")
    say(f"edit {folder}/study.toml, then: evenrank study check {folder}")
    return 0


@command("evenrank study check mystudy")
def check(folder: Folder, *, store: Where = None, format: Format = None) -> int:
    """Say what is wrong with a study, and list its conditions."""
    from evenrank.study.people import check_version
    from evenrank.study.tables import lists_table

    study = _study(folder)
    where = _store_address(study.settings, store)
    if "://" in where or Path(where).exists():
        with _opened(where) as opened:
            lost = check_version(opened, study)
        if lost is not None:
            raise DataError(
                f"{study.settings.path('study.toml')}: the study was changed after {lost} participants had "
                f"begun: undo the change, or write version = {study.settings.version + 1}"
            )
    for note in study.notes:
        say(note)
    print_tables([lists_table(study)], format)
    return 0


@command("evenrank study serve mystudy")
def serve(folder: Folder, *, store: Where = None) -> int:
    """Serve the pages of a study to its participants."""
    from evenrank.study.server import PASSWORD, StudyServer
    from evenrank.web import serving
    from evenrank.web.application import make_application

    study = _study(folder)
    with _opened(_store_address(study.settings, store)) as opened:
        server = StudyServer(study, opened)
        application = make_application(server.site())
        say(f"serving {study.settings.title!r} on http://{study.settings.address} (Ctrl-C stops it)")
        if not study.settings.secure:
            say("public_address is no https address: use this for trying out, not with participants")
        if not os.environ.get(PASSWORD):
            say(f"there is no page /admin: set {PASSWORD} to a password to have one")
        serving.serve(application, study.settings.address, proxied=study.settings.secure)
    return 0


@command("evenrank study status mystudy")
def status(folder: Folder, *, store: Where = None, format: Format = None) -> int:
    """Count participants, by how far they came and by condition."""
    from datetime import date

    from evenrank.study.flow import balance_of, flow_of
    from evenrank.study.people import prepare_study
    from evenrank.study.tables import balance_table, flow_table

    settings = _settings(folder)
    with _existing(settings, store) as opened:
        prepare_study(opened)
        with opened.reading() as transaction:
            flow, balance = flow_of(transaction), balance_of(transaction)
    if settings.retention is not None and date.today() > settings.retention:
        say(
            f"the retention date {settings.retention} has passed: evenrank study delete {folder} {EVERYTHING}"
        )
    _print([flow_table(flow), balance_table(balance)], format)
    return 0


@command("evenrank study export mystudy --anonymous -o released")
def export(
    folder: Folder,
    *,
    store: Where = None,
    anonymous: Annotated[bool, Arg("without ids, free texts and times of day")] = False,
    output: Annotated[str | None, Arg("the folder to write (default: FOLDER/export)", "FOLDER", "-o")] = None,
) -> int:
    """Write what participants answered."""
    from evenrank.study.export import export_study

    settings = _settings(folder)
    target = output or str(settings.path("export"))
    with _existing(settings, store) as opened:
        for path in export_study(settings, opened, target, anonymous=anonymous):
            say(f"wrote {path}")
    return 0


@command(
    "evenrank study analyse mystudy --store simulated.sqlite -o analysis.html",
    "evenrank study analyse mystudy --format jsonl",
)
def analyse(
    folder: Folder,
    *,
    store: Where = None,
    format: Format = None,
    output: Annotated[str | None, Arg("write a page with figures as well: .html", "FILE", "-o")] = None,
) -> int:
    """Tell whether opinions followed the lists."""
    from evenrank.study.analysis import analyse_study
    from evenrank.study.tables import assignment_table, conditions_table, effects_table, flow_table

    settings = _settings(folder)
    check_page(output)
    with _existing(settings, store) as opened:
        found = analyse_study(opened, [condition.name for condition in settings.conditions])
    tables = [
        flow_table(found.flow, found.excluded, found.trials),
        conditions_table(found), effects_table(found), assignment_table(found),
    ]  # fmt: skip
    if output is not None:
        from evenrank.study.page import write_analysis

        write_analysis(found, tables, settings, output)
        say(f"wrote {output}")
    _print(tables, format)
    return 0


@command("evenrank study simulate mystudy --participants 60")
def simulate(
    folder: Folder,
    *,
    everywhere: Everywhere,
    participants: Participants = None,
    through: Annotated[
        Literal["answers", "browser"],
        Arg("answers are fast, the browser is a real one that sees the pages", "WAY"),
    ] = "answers",
    store: Annotated[str | None, Arg(f"where they are kept (default: {SIMULATED})", "FILE|URL")] = None,
) -> int:
    """Let simulated participants answer. Their opinions follow the lists by a known effect."""
    from evenrank.study import bots
    from evenrank.study.server import StudyServer

    study = _study(folder)
    where = _store_address(study.settings, store or SIMULATED)
    if where == study.settings.store_address:
        raise ParameterError("--store: simulated answers are kept apart from those of participants")
    count, seed = participants or study.settings.plan.participants, everywhere.seed or 0
    with _opened(where) as opened:
        server = StudyServer(study, opened)
        if through == "browser":
            from evenrank.study.browser import simulate_in_browser

            simulate_in_browser(server, count, seed)
        else:
            bots.simulate(server, count, seed)
    say(f"wrote {where}: {count} simulated participants have answered")
    return 0


@command("evenrank study power mystudy --participants 120")
def power(
    folder: Folder, *, everywhere: Everywhere, participants: Participants = None, format: Format = None
) -> int:
    """Tell how many participants a study needs. Studies of several sizes are simulated."""
    from evenrank.study.power import leanings_of, planned_power
    from evenrank.study.tables import power_table

    study = _study(folder)
    plan = study.settings.plan
    if participants is not None:
        plan = replace(plan, participants=participants)
    each = min(study.settings.questions_each, plan.questions)
    rows = planned_power(plan, leanings_of(study), each, studies=STUDIES, seed=everywhere.seed or 0)
    print_tables([power_table(rows, each)], format)
    return 0


@command("evenrank study delete mystudy 7KQ2M9XWTR4B")
def delete(
    folder: Folder,
    who: Annotated[str, Arg("a participant's code, completion code or panel id, or 'everything'", "ID")],
    *,
    store: Where = None,
) -> int:
    """Remove the answers of one participant, or all of them."""
    from evenrank.study.people import delete_everything, find_participant, withdraw

    settings = _settings(folder)
    with _existing(settings, store) as opened, opened.writing() as transaction:
        if who == EVERYTHING:
            said = f"deleted the answers of all {delete_everything(transaction)} participants"
        else:
            withdraw(transaction, find_participant(transaction, who), delete=True)
            said = f"deleted the answers of {who}"
    put(f"{said}; copies that were exported or backed up are not affected\n")
    return 0


def _settings(folder: str) -> StudySettings:
    from evenrank.study.settings import read_settings

    return read_settings(folder)


def _study(folder: str) -> Study:
    from evenrank.study.conditions import load_study

    return load_study(_settings(folder))


def _store_address(settings: StudySettings, chosen: str | None) -> str:
    return settings.store_address if chosen is None else replace(settings, store=chosen).store_address


def _existing(settings: StudySettings, store: str | None) -> Any:
    """The store of a study that has begun."""
    where = _store_address(settings, store)
    if "://" not in where and not Path(where).is_file():
        raise DataError(
            f"{where}: no such file: nobody has taken part yet (evenrank study serve {settings.folder}, or "
            f"evenrank study simulate {settings.folder})"
        )
    return _opened(where)


def _opened(where: str) -> Any:
    from contextlib import closing

    from evenrank.web.store import open_store

    store: Store = open_store(where)
    return closing(store)


def _print(tables: list[Table], format: str | None) -> None:
    if format == "tsv":
        tables = [table for table in tables if table.title.startswith("posterior")] or tables[-1:]
    print_tables(tables, format)
