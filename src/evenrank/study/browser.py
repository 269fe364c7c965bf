"""Simulated participants in a real browser: they see and do what people see and do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from evenrank.errors import DataError, MissingExtraError
from evenrank.study.bots import Bot, Bots
from evenrank.study.conditions import ShownList, Study
from evenrank.study.journey import Place
from evenrank.study.server import StudyServer
from evenrank.web.application import make_application

PATIENCE = 60_000  # milliseconds


def simulate_in_browser(server: StudyServer, participants: int, seed: int) -> None:
    """Serve on a free port of this machine and let bots walk through the pages."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise MissingExtraError.for_job("--through browser", "playwright and a browser", "dev") from None
    bots = Bots(server.study, server.study.settings.plan, np.random.default_rng(seed))
    with served(server) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        for number in range(1, participants + 1):
            context = browser.new_context()
            context.set_default_timeout(PATIENCE)
            walk_in_browser(
                context.new_page(), server.study, bots.person(), _start(server.study, address, number)
            )
            context.close()
        browser.close()


def _start(study: Study, address: str, number: int) -> str:
    panel = study.settings.panel
    return address + ("/" if panel is None else f"/?{panel.parameter}=bot-{number}")


def _chromium() -> str | None:
    import shutil

    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextmanager
def served(server: StudyServer) -> Iterator[str]:
    """The address of the study on a free port of loopback, in a thread of this process."""
    import socket

    import uvicorn

    site = replace(server.site(), secure=False)
    settings = uvicorn.Config(make_application(site), access_log=False, log_level="error", lifespan="off")
    running = uvicorn.Server(settings)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            running.should_exit = True
            thread.join()


def walk_in_browser(page: Any, study: Study, bot: Bot, start: str) -> str | None:
    """From the first page to the completion code; None where the bot left before."""
    page.goto(start)
    lists = {tuple(one.title for one in shown.documents): shown for shown in study.lists.values()}
    texts = {question.text: name for name, question in study.questions.items()}
    question, number = None, 0
    for _ in range(500):
        if page.locator("#code").count():
            return str(page.locator("#code").inner_text())
        if page.locator("button[value=agree]").count():
            press(page, "button[value=agree]")
            continue
        kind = _kind_of(page)
        shown: ShownList | None = None
        if kind in ("prior", "posterior"):
            question = texts[page.locator("h2 + p").first.inner_text()]
            number += kind == "prior"
        if kind == "results":
            shown = lists[tuple(page.locator("#results summary").all_inner_texts())]
            for rank in bot.opens(shown):
                page.locator(f"#results details[data-rank='{rank}'] summary").click()
        place = Place(kind, question, number)
        if bot.leaves(place):
            return None
        _fill(page, bot.answers(place, shown))
    raise DataError("the study did not come to an end in the browser")


def _kind_of(page: Any) -> str:
    """Which step the page is, by what it asks."""
    for selector, kind in (
        ("input[name=eligible]", "eligibility"),
        ("#results", "results"),
        ("input[name=opinion]", "opinion"),
        ("input[name=answer]", "attention"),
        ("#comment", "comment"),
        ("#query", "search"),
    ):
        if page.locator(selector).count():
            if kind == "opinion":
                return "posterior" if page.locator("[data-step=posterior]").count() else "prior"
            return kind
    return "warning"


def _fill(page: Any, answers: dict[str, str]) -> None:
    for name, value in answers.items():
        field = page.locator(f"[name={name}]")
        if field.first.get_attribute("type") == "radio":
            page.locator(f"input[name={name}]").locator(
                f"xpath=//self::input[@value={_quoted(value)}]"
            ).check()
        else:
            field.fill(value)
    press(page, "main form button[type=submit]")


def press(page: Any, button: str) -> None:
    """Send a form, and wait until the next page is there with its script."""
    with page.expect_navigation():
        page.locator(button).first.click()


def _quoted(text: str) -> str:
    return f'"{text}"' if '"' not in text else f"'{text}'"
