"""``evenrank study``: run a study of what the order of results does to opinions, and analyse it."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.cli import shared
from evenrank.cli.outputs import check_output
from evenrank.cli.parser import add_command
from evenrank.cli.streams import put, say, terminal_width
from evenrank.cli.values import positive
from evenrank.errors import DataError, ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.study.conditions import Study
    from evenrank.study.settings import StudySettings
    from evenrank.tables import Table
    from evenrank.web.store import Store

ACTIONS = ("new", "check", "serve", "status", "export", "analyse", "simulate", "power", "delete")
THROUGH = ("answers", "browser")
SIMULATED = "simulated.sqlite"
STUDIES = 500  # simulated for each row of power
EVERYTHING = "everything"


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "study",
        """Run a behavioural study: participants give an opinion, see a list whose order was drawn by lot, and
        give an opinion again. new writes a folder with an example, check says what is wrong with it, serve
        serves its pages, status counts participants, export writes what was answered, analyse tells whether
        opinions followed the lists, simulate answers with a planted effect, power says how many participants
        are needed, delete removes one participant (or everything). All settings are in FOLDER/study.toml.""",
        """
        evenrank study new mystudy
        evenrank study check mystudy
        evenrank study serve mystudy
        evenrank study simulate mystudy --participants 60
        evenrank study analyse mystudy --store simulated.sqlite -o analysis.html
        evenrank study export mystudy --anonymous -o released
        evenrank study delete mystudy 7KQ2M9XWTR4B
        """,
    )
    parser.add_argument("action", choices=ACTIONS, metavar="ACTION", help=" | ".join(ACTIONS))
    parser.add_argument("folder", metavar="FOLDER", help="the study's folder, with its study.toml")
    parser.add_argument(
        "who", nargs="?", metavar="ID",
        help="delete: a participant's code, completion code or panel id, or 'everything'",
    )  # fmt: skip
    parser.add_argument(
        "--store", metavar="FILE|URL",
        help="where answers are kept (default: store in study.toml; simulate writes simulated.sqlite)",
    )  # fmt: skip
    parser.add_argument(
        "--participants", type=positive, metavar="N",
        help="simulate, power: how many (default: participants under [plan])",
    )  # fmt: skip
    parser.add_argument(
        "--through", choices=THROUGH, default=THROUGH[0], metavar="WAY",
        help="simulate: answers (fast) or browser, the pages in a real one (default: answers)",
    )  # fmt: skip
    parser.add_argument(
        "--anonymous", action="store_true", help="export: without ids, free texts and times of day"
    )
    shared.add_format(parser)
    shared.add_output(parser, "analyse: an HTML page with figures; export: a folder (default: FOLDER/export)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if arguments.who is not None and arguments.action != "delete":
        raise ParameterError(f"study {arguments.action} takes a folder only, got {arguments.who!r}")
    _check_options(arguments)
    actions = {
        "new": _new, "check": _check, "serve": _serve, "status": _status, "export": _export,
        "analyse": _analyse, "simulate": _simulate, "power": _power, "delete": _delete,
    }  # fmt: skip
    return actions[arguments.action](arguments)


def _check_options(arguments: argparse.Namespace) -> None:
    """An option of another action is a mistake that should not pass in silence."""
    for option, given, actions in (
        ("--participants", arguments.participants is not None, ("simulate", "power")),
        ("--through", arguments.through != THROUGH[0], ("simulate",)),
        ("--anonymous", arguments.anonymous, ("export",)),
        ("--output", arguments.output is not None, ("analyse", "export")),
        ("--store", arguments.store is not None, tuple(set(ACTIONS) - {"new", "power"})),
        ("--format", arguments.format is not None, ("check", "status", "analyse", "power")),
    ):
        if given and arguments.action not in actions:
            raise ParameterError(
                f"{option} is not for study {arguments.action}, but for {' and '.join(sorted(actions))}"
            )


def _new(arguments: argparse.Namespace) -> int:
    from evenrank.study.new import write_example

    for path in write_example(arguments.folder):
        say(f"wrote {path}")
    say(f"edit {arguments.folder}/study.toml, then: evenrank study check {arguments.folder}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from evenrank.study.people import check_version
    from evenrank.study.tables import lists_table

    study = _study(arguments)
    where = _store_address(study.settings, arguments)
    if "://" in where or Path(where).exists():
        with _opened(where) as store:
            lost = check_version(store, study)
        if lost is not None:
            raise DataError(
                f"{study.settings.path('study.toml')}: the study was changed after {lost} participants had "
                f"begun: undo the change, or write version = {study.settings.version + 1}"
            )
    for note in study.notes:
        say(note)
    _print([lists_table(study)], arguments)
    return 0


def _serve(arguments: argparse.Namespace) -> int:
    from evenrank.study.server import PASSWORD, StudyServer
    from evenrank.web.application import make_application
    from evenrank.web.serving import serve

    study = _study(arguments)
    with _opened(_store_address(study.settings, arguments)) as store:
        server = StudyServer(study, store)
        application = make_application(server.site())
        say(f"serving {study.settings.title!r} on http://{study.settings.address} (Ctrl-C stops it)")
        if not study.settings.secure:
            say("public_address is no https address: use this for trying out, not with participants")
        if not os.environ.get(PASSWORD):
            say(f"there is no page /admin: set {PASSWORD} to a password to have one")
        serve(application, study.settings.address, proxied=study.settings.secure)
    return 0


def _status(arguments: argparse.Namespace) -> int:
    from datetime import date

    from evenrank.study.flow import balance_of, flow_of
    from evenrank.study.people import prepare_study
    from evenrank.study.tables import balance_table, flow_table

    settings = _settings(arguments)
    with _existing(settings, arguments) as store:
        prepare_study(store)
        with store.reading() as transaction:
            flow, balance = flow_of(transaction), balance_of(transaction)
    if settings.retention is not None and date.today() > settings.retention:
        say(
            f"the retention date {settings.retention} has passed: "
            f"evenrank study delete {arguments.folder} {EVERYTHING}"
        )
    _print([flow_table(flow), balance_table(balance)], arguments)
    return 0


def _export(arguments: argparse.Namespace) -> int:
    from evenrank.study.export import export_study

    settings = _settings(arguments)
    folder = arguments.output or str(settings.path("export"))
    with _existing(settings, arguments) as store:
        for path in export_study(settings, store, folder, anonymous=arguments.anonymous):
            say(f"wrote {path}")
    return 0


def _analyse(arguments: argparse.Namespace) -> int:
    from evenrank.study.analysis import analyse_study
    from evenrank.study.tables import assignment_table, conditions_table, effects_table, flow_table

    settings = _settings(arguments)
    if arguments.output is not None and not arguments.output.endswith((".html", ".htm")):
        raise ParameterError(f"{arguments.output}: the analysis is written as a page: name it FILE.html")
    check_output(arguments.output)
    with _existing(settings, arguments) as store:
        found = analyse_study(store, [condition.name for condition in settings.conditions])
    tables = [
        flow_table(found.flow, found.excluded, found.trials),
        conditions_table(found), effects_table(found), assignment_table(found),
    ]  # fmt: skip
    if arguments.output is not None:
        from evenrank.study.page import write_analysis

        write_analysis(found, tables, settings, arguments.output)
        say(f"wrote {arguments.output}")
    _print(tables, arguments)
    return 0


def _simulate(arguments: argparse.Namespace) -> int:
    from evenrank.study.bots import simulate
    from evenrank.study.server import StudyServer

    study = _study(arguments)
    where = _store_address(study.settings, arguments, SIMULATED)
    if where == study.settings.store_address:
        raise ParameterError("--store: simulated answers are kept apart from those of participants")
    count = arguments.participants or study.settings.plan.participants
    with _opened(where) as store:
        server = StudyServer(study, store)
        if arguments.through == "browser":
            from evenrank.study.browser import simulate_in_browser

            simulate_in_browser(server, count, shared.seed_of(arguments))
        else:
            simulate(server, count, shared.seed_of(arguments))
    say(f"wrote {where}: {count} simulated participants have answered")
    return 0


def _power(arguments: argparse.Namespace) -> int:
    from evenrank.study.power import leanings_of, planned_power
    from evenrank.study.tables import power_table

    study = _study(arguments)
    plan = study.settings.plan
    if arguments.participants is not None:
        plan = replace(plan, participants=arguments.participants)
    each = min(study.settings.questions_each, plan.questions)
    rows = planned_power(plan, leanings_of(study), each, studies=STUDIES, seed=shared.seed_of(arguments))
    _print([power_table(rows, each)], arguments)
    return 0


def _delete(arguments: argparse.Namespace) -> int:
    from evenrank.study.people import delete_everything, find_participant, withdraw

    if arguments.who is None:
        raise ParameterError(f"name whom to delete: evenrank study delete {arguments.folder} ID")
    settings = _settings(arguments)
    with _existing(settings, arguments) as store, store.writing() as transaction:
        if arguments.who == EVERYTHING:
            count = delete_everything(transaction)
            said = f"deleted the answers of all {count} participants"
        else:
            withdraw(transaction, find_participant(transaction, arguments.who), delete=True)
            said = f"deleted the answers of {arguments.who}"
    put(f"{said}; copies that were exported or backed up are not affected\n")
    return 0


def _settings(arguments: argparse.Namespace) -> StudySettings:
    from evenrank.study.settings import read_settings

    return read_settings(arguments.folder)


def _study(arguments: argparse.Namespace) -> Study:
    from evenrank.study.conditions import load_study

    return load_study(_settings(arguments))


def _store_address(settings: StudySettings, arguments: argparse.Namespace, default: str | None = None) -> str:
    chosen = arguments.store or default
    return settings.store_address if chosen is None else replace(settings, store=chosen).store_address


def _existing(settings: StudySettings, arguments: argparse.Namespace) -> Any:
    """The store of a study that has begun."""
    where = _store_address(settings, arguments)
    if "://" not in where and not Path(where).is_file():
        raise DataError(
            f"{where}: no such file: nobody has taken part yet (evenrank study serve {arguments.folder}, or "
            f"evenrank study simulate {arguments.folder})"
        )
    return _opened(where)


def _opened(where: str) -> Any:
    from contextlib import closing

    from evenrank.web.store import open_store

    store: Store = open_store(where)
    return closing(store)


def _print(tables: list[Table], arguments: argparse.Namespace) -> None:
    from evenrank.tables import printed

    form = arguments.format or "table"
    if form == "tsv" and len(tables) > 1:
        tables = [table for table in tables if table.title.startswith("posterior")] or tables[-1:]
    put(printed(tables, form, terminal_width()))
