"""The annotation page in a real browser: two annotators at once, a killed server, keys, no barriers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import annotation
import pytest

from evenrank.queryset import Procedure, read_sheets

pytestmark = pytest.mark.slow
PATIENCE = 120_000  # milliseconds: machines are shared and slow at times
PROCEDURE = Procedure()
TEXTS = {f"q{place}": f"what is question {place}" for place in range(8)}


def opened(browser: Any, address: str, complaints: list[str], **options: Any) -> Any:
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    return page


def send(page: Any) -> None:
    """Send the form with the mouse; then the next page is there."""
    with page.expect_navigation():
        page.click("button[type=submit]")


def press(page: Any, *keys: str) -> None:
    """Choose with keys and send with Enter; then the next page is there."""
    before = page.content()
    for key in keys:
        page.keyboard.press(key)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.content() != before


def test_two_annotators_at_once_killed_and_resumed(browser: Any, tmp_path: Path) -> None:
    """By keys alone. The server is killed twice between answers; nothing that was answered is lost."""
    paths = annotation.written(tmp_path, 1, TEXTS)
    port, complaints = annotation.free_port(), []
    labels = {0: "nmfonmfo", 1: "nnnnmmmm"}
    ways = ({"n": "n", "m": "m", "f": "f", "o": "o"}, {"n": "1", "m": "2", "f": "3", "o": "4"})
    people: list[Any] = []
    done = 0
    for until in (3, 5, 8):
        with annotation.served(tmp_path, port) as addresses:
            if not people:
                people = [opened(browser, addresses[who], complaints) for who in ("worker1", "worker2")]
            for page in people:
                page.reload()
            for number in range(done, until):
                for who, page in enumerate(people):
                    assert f"what is question {number}" in page.locator("#query").inner_text()
                    press(page, ways[who][labels[who][number]])
            done = until
        for who in (0, 1):  # the server was killed: what it answered is on disk
            rows = paths[who].read_text().splitlines()[1:]
            assert "".join(row.rpartition(",")[2] for row in rows) == labels[who][:done]
    votes = read_sheets(paths, PROCEDURE)
    assert votes.problems == ()
    assert votes.workers == ("worker1", "worker2")
    assert complaints == []
    for page in people:
        assert page.locator("h1").inner_text() == "All 8 queries are answered"
        page.context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_an_expert_with_keys_and_without_scripts(browser: Any, tmp_path: Path, scripts: bool) -> None:
    paths = annotation.written(tmp_path, 2, dict(list(TEXTS.items())[:2]))
    complaints: list[str] = []
    with annotation.served(tmp_path) as addresses:
        page = opened(browser, addresses["expert1"], complaints, java_script_enabled=scripts)
        if scripts:
            press(page, "y")
            press(page, "1")
            for key in ("e", "5", "c", "c", "r"):  # c twice: chosen and taken back
                page.keyboard.press(key)
            page.keyboard.type("roles, 1 of them")
            press(page)
            press(page, "n")
        else:
            for _ in range(2):
                page.check("input[value=yes]")
                send(page)
            page.check("input[name=domain-0]")
            page.check("input[name=domain-4]")
            page.fill("#reason", "roles, 1 of them")
            send(page)
            page.check("input[value=no]")
            send(page)
        assert page.locator("h1").inner_text() == "All 2 queries are answered"
        page.context.close()
    votes = read_sheets(paths, PROCEDURE)
    assert votes.problems == ()
    assert votes.opinions["q0"]["expert1"] == (
        (True, True), ("Education", "Social Inequality"), "roles, 1 of them",
    )  # fmt: skip
    assert votes.opinions["q1"]["expert1"].answers == (False, None)
    assert complaints == []


def test_no_page_has_a_barrier(browser: Any, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    annotation.written(tmp_path, 2, {"1": "best school"})
    with annotation.served(tmp_path) as addresses:
        address = addresses["expert1"]
        page = opened(browser, address, [], bypass_csp=True)  # axe runs a script of its own

        def check(name: str) -> None:
            found = axe.run(page).response["violations"]
            assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == [], name

        check("the first question")
        press(page, "y")
        press(page, "y")
        check("details")
        page.evaluate("document.querySelector('form').noValidate = true")
        press(page, "1")
        assert page.locator("[role=alert]").count() == 1
        check("a complaint")
        page.fill("#reason", "roles")
        send(page)
        check("the end")
        for other in (f"{address}?at=1", f"{address.rpartition('/')[0]}/nowhere"):
            page.goto(other)
            check(other)
        page.context.close()
