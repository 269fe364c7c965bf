"""The study in a real browser: on a desk and a phone, by keyboard alone, without scripts, for everybody."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pages as payloads
import pytest
import study_walks as walks

from evenrank.cli import main

pytestmark = pytest.mark.slow
PATIENCE = 120_000  # milliseconds: machines are shared and slow at times
DESK, PHONE = {"width": 1200, "height": 900}, {"width": 360, "height": 740}
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
# where screenshots go, for people to look at
SHOTS = os.environ.get("EVENRANK_SCREENSHOTS")


@contextmanager
def opened(
    browser: Any, served: walks.Served, size: dict[str, int], **options: Any
) -> Iterator[tuple[Any, str]]:
    """A page on the study. It is an error if the page complains, or asks anybody else for anything."""
    context = browser.new_context(viewport=size, **options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(served.address)
    yield page, served.address
    assert [text for text in complaints if not re.search("status of (422|404)", text)] == []
    assert [url for url in asked if not url.startswith(served.address)] == []
    context.close()


def press(page: Any, selector: str) -> None:
    """Press a button; then the next page is there."""
    with page.expect_navigation():
        page.locator(selector).first.click()


def fill_in(page: Any, answers: dict[str, str]) -> None:
    """Give these answers and send them."""
    for name, value in answers.items():
        choice = page.locator(f"input[type=radio][name={name}]")
        if choice.count():
            quoted = value.replace('"', '\\"')
            page.check(f'input[type=radio][name={name}][value="{quoted}"]')
        else:
            page.fill(f"[name={name}]", value)
    press(page, "main form button[type=submit]")


def trials_of(served: walks.Served) -> list[dict[str, str]]:
    assert main(["study", "export", str(served.folder)]) == 0
    with (served.folder / "export/trials.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def shoot(page: Any, name: str) -> None:
    if SHOTS:
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"), full_page=True)


def steps(page: Any, answer: Any) -> Iterator[str]:
    """Every page from consent to the end; ``answer`` goes on from one to the next."""
    for _ in range(100):
        heading = page.locator("h1").inner_text()
        yield heading
        if page.locator("#code").count():
            return
        answer(page)
    raise AssertionError("the study does not end")


def fill(page: Any) -> None:
    """Answer the page with the mouse."""
    if page.locator("button[value=agree]").count():
        press(page, "button[value=agree]")
    elif page.locator("#results").count():
        page.locator("#results summary").nth(1).click()
        assert page.locator("#results details[open] .document").count() == 1  # it opens in the page
        quote = " ".join(page.locator("#results details[open] .document").inner_text().split()[:6])
        fill_in(page, {"opinion": walks.TEXT, "quote": quote})
    else:
        fill_in(page, walks.answers_to(page.content()))


@pytest.mark.parametrize(("name", "size"), [("desk", DESK), ("phone", PHONE)])
def test_the_whole_study_with_the_mouse(browser: Any, client: Any, name: str, size: dict[str, int]) -> None:
    touch = {"has_touch": True, "is_mobile": True} if name == "phone" else {}
    with opened(browser, client.served, size, **touch) as (page, address):
        for number, heading in enumerate(steps(page, fill)):
            assert page.evaluate(FITS), heading  # nothing is cut off at the side
            shoot(page, f"{name}-{number:02}")
        page.goto(f"{address}/withdraw")
        shoot(page, f"{name}-withdraw")
    trials = trials_of(client.served)
    assert [trial["opened"] for trial in trials] == ["1"] * 3
    assert all(trial["clicked"] == "true" for trial in trials)
    kinds = {kind for (kind,) in walks.rows(client, "SELECT DISTINCT kind FROM events")}
    assert {"shown", "open", "leave"} <= kinds


def test_a_document_that_is_opened_before_the_script_arrives_counts(browser: Any, client: Any) -> None:
    def tells_of_opening(response: Any) -> bool:
        return "kind=open" in (response.request.post_data or "")

    with opened(browser, client.served, DESK) as (page, _):
        while not page.locator("#query").count():
            fill(page)
        held: list[Any] = []
        page.route("**/static/study.js", lambda route: held.append(route))
        with page.expect_navigation(wait_until="commit"):  # without the script the page is never complete
            page.click("main form button[type=submit]")
        page.locator("#results summary").nth(1).click()
        assert page.locator("#results details[open]").count() == 1
        while not held:
            page.wait_for_timeout(10)
        with page.expect_response(tells_of_opening):
            held.pop().continue_()
    assert [trial["opened"] for trial in trials_of(client.served)] == ["1"]


def test_the_whole_study_without_scripts(browser: Any, client: Any) -> None:
    with opened(browser, client.served, DESK, java_script_enabled=False) as (page, _):
        assert list(steps(page, fill))[-1] == "Thank you"
    trials = trials_of(client.served)
    assert [trial["clicked"] for trial in trials] == [""] * 3  # unknown, which is not no
    assert [trial["posterior"] for trial in trials] == ["1"] * 3


def test_the_whole_study_with_the_keyboard(browser: Any, client: Any) -> None:
    """Tab, space, arrows, typing and enter; what has the focus can be seen."""

    def focus(page: Any, selector: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                shown = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert shown != "none", selector
                return
        raise AssertionError(f"no way to {selector} by the keyboard")

    def answer(page: Any) -> None:
        content = page.content()
        if page.locator("button[value=agree]").count():
            focus(page, "button[value=agree]")
        else:
            if page.locator("#results").count():
                focus(page, "#results summary")
                page.keyboard.press("Enter")
                text = page.locator("#results details[open] .document").inner_text()
                focus(page, "#opinion")
                page.keyboard.type(walks.TEXT)
                focus(page, "#quote")
                page.keyboard.type(" ".join(text.split()[:6]))
            elif page.locator("input[type=radio]").count():
                focus(page, "input[type=radio]")
                page.keyboard.press("Space")
                if 'name="answer"' in content:
                    page.keyboard.press("ArrowDown")
            focus(page, "main form button[type=submit]")
        with page.expect_navigation():
            page.keyboard.press("Enter")

    with opened(browser, client.served, DESK) as (page, _):
        assert list(steps(page, answer))[-1] == "Thank you"
        focus(page, "footer a")


def test_no_page_has_a_barrier(browser: Any, tmp_path: Path, serve: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    served = serve(walks.write_study(tmp_path / "study"), EVENRANK_STUDY_PASSWORD="secret")

    # axe runs a script of its own, which the policy of the pages would forbid
    options = {"bypass_csp": True, "http_credentials": {"username": "x", "password": "secret"}}
    with opened(browser, served, DESK, **options) as (page, address):

        def check(name: str) -> None:
            found = axe.run(page).response["violations"]
            assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == [], name

        for path in ("/declined", "/withdrawn?answers=keep", "/nowhere"):
            page.goto(address + path)
            check(path)
        page.goto(address)
        for heading in steps(page, fill):
            check(heading)
            if heading == "Results":  # with every document open, and with a complaint
                page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
                check("open results")
                fill_in(page, {"opinion": "no", "quote": "no"})
                assert page.locator("[role=alert]").count() == 1
                check("a complaint")
        for path in ("/withdraw", "/admin"):
            page.goto(address + path)
            check(path)
            shoot(page, path.strip("/"))


def test_nothing_that_researchers_or_participants_write_is_html(
    browser: Any, tmp_path: Path, serve: Any
) -> None:
    """Thirty payloads in every field of documents and questions, and in what participants type."""
    folder = walks.write_study(tmp_path / "study", questions_each="1", quote_words="0", minimum_words="0")
    names = ("title", "url", "snippet", "text")
    documents = [
        {"question": "q", "id": f"d{place}", **dict.fromkeys(names, payload), "side": side}
        for place, payload in enumerate(payloads.PAYLOADS)
        for side in (("for", "against")[place % 2],)
    ]
    config = (folder / "study.toml").read_text(encoding="utf-8")
    config = config.replace(', graded = "strength"', "").replace("results = 10", "results = 10")
    (folder / "study.toml").write_text(config, encoding="utf-8")
    for part in range(3):
        ten = documents[10 * part : 10 * part + 10]
        lines = "".join(json.dumps(document) + "\n" for document in ten)
        for corpus in ("synthetic", "natural"):
            (folder / f"corpora/{corpus}.jsonl").write_text(lines, encoding="utf-8")
        with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["question", "text", "perspective"])
            rows.writerow(["q", " ".join(payloads.PAYLOADS), " ".join(payloads.PAYLOADS)])
        (folder / "consent.txt").write_text("\n\n".join(payloads.PAYLOADS), encoding="utf-8")
        for store in folder.glob("study.sqlite*"):
            store.unlink()
        served = serve(folder)
        with opened(browser, served, DESK) as (page, _):
            for heading in steps(page, fill_with_payloads):
                assert page.evaluate("window.hurt") is None, heading
                tags = page.evaluate(
                    "[...document.querySelectorAll('main *')].map(one => one.tagName.toLowerCase())"
                )
                assert set(tags) <= PLAIN, heading
        served.stop()


PLAIN = {
    "p", "h1", "h2", "form", "input", "button", "fieldset", "legend", "div", "label", "span", "ol", "li",
    "details", "summary", "textarea", "ul", "a",
}  # fmt: skip


def fill_with_payloads(page: Any) -> None:
    everything = " ".join(payloads.PAYLOADS).replace("\u2028", " ").replace("\u2029", " ")
    if page.locator("button[value=agree]").count():
        press(page, "button[value=agree]")
    elif page.locator("#results").count():
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        fill_in(page, {"opinion": everything})
    elif page.locator("#comment").count():
        fill_in(page, {"comment": everything})
    else:
        fill_in(page, walks.answers_to(page.content()))


@pytest.mark.needs("playwright", "chromium")
def test_simulated_participants_walk_through_the_pages(tmp_path: Path) -> None:
    """In a browser they leave what those at the level of answers leave."""
    folder = walks.write_study(tmp_path / "study")
    command = [sys.executable, "-m", "evenrank", "study", "simulate", str(folder), "--participants", "2"]
    done = subprocess.run([*command, "--through", "browser"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with walks.stored(folder / "simulated.sqlite") as store:
        seen = {question for (question,) in store.execute("SELECT question FROM assignments")}
        kinds = {kind for (kind,) in store.execute("SELECT kind FROM events")}
    assert seen == {"cars", "homework", "museums"}
    assert "shown" in kinds
