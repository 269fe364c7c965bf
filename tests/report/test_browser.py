"""The report in a real browser: nothing leaves, nothing runs that is not ours, and it can be used by all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pages
import pytest

PATIENCE = 120_000  # milliseconds: machines are shared and slow at times
PHONE = {"width": 375, "height": 780}
DESK = {"width": 1200, "height": 900}

STRUCTURE = """() => Array.from(document.querySelectorAll("*"), element =>
    element.tagName + " " + element.getAttributeNames().sort().join(" "))"""
STRUCTURE_OF = """part => Array.from(part.querySelectorAll("*"), element =>
    element.tagName + " " + element.getAttributeNames().sort().join(" "))"""
OPEN_ALL = """() => {
    document.querySelectorAll("details").forEach(item => { item.open = true; });
    return Array.from(document.querySelectorAll("details.query"), item => item.dataset.query);
}"""
# the script fills a query once its details have been opened, which the browser tells it in its own time
ALL_FILLED = """opened => opened.every(query => document.querySelector(
    `details.query[data-query="${query}"] .body`).dataset.shown !== undefined)"""
ALL_SHOW = """state => Array.from(document.querySelectorAll("details.query[open] .body"))
    .every(body => body.dataset.shown === state)"""
# whatever was to happen has happened: two frames are drawn, and what they asked for has had its turn
SETTLED = """() => new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))))"""


@contextmanager
def opened(
    browser: Any,
    path: Path,
    size: dict[str, int] | None = None,
    *,
    scripts: bool = True,
    axe: bool = False,
    before: str = "",
) -> Iterator[Any]:
    """The page in a window of its own. It is an error if anything is asked of a network or complained of.

    ``before`` is a script that runs before those of the page.
    """
    context = browser.new_context(viewport=size or DESK, java_script_enabled=scripts, bypass_csp=axe)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.add_init_script(before)
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    yield page
    # answers come in the order of what happened, so complaints and requests are here before this one
    page.evaluate(SETTLED if scripts else "1")
    assert complaints == []
    assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
    context.close()


def open_all(page: Any) -> None:
    """Open everything that can be opened, and wait until the script has filled every query."""
    opened = page.evaluate(OPEN_ALL)
    assert len(opened) > 10
    page.wait_for_function(ALL_FILLED, arg=opened)


def live(page: Any) -> None:
    """Look at every figure, and wait until it is drawn by the script, and its picture for paper is there."""
    for figure in page.query_selector_all("figure.chart"):
        figure.scroll_into_view_if_needed()
        page.wait_for_function("figure => figure.classList.contains('is-live')", arg=figure)
    page.wait_for_function("() => document.querySelector('figure.chart noscript') === null")


def pictures(page: Any, folder: Path) -> None:
    """A picture of each section, as a reader sees it."""
    folder.mkdir()
    for section in page.query_selector_all("main > section"):
        section.evaluate("section => section.scrollIntoView()")
        page.evaluate(SETTLED)
        assert len(page.screenshot(path=folder / f"{section.get_attribute('id')}.png")) > 5000


def test_nothing_leaves_and_nothing_is_refused(browser: Any, sample_report: Any, tmp_path: Path) -> None:
    with opened(browser, sample_report.path) as page:
        page.evaluate(
            "document.addEventListener('securitypolicyviolation', e => console.error(e.violatedDirective))"
        )
        live(page)
        open_all(page)
        pictures(page, tmp_path / "desk")
        assert page.locator(".live svg").count() == page.locator("figure.chart").count() >= 3


def test_the_policy_holds(browser: Any, sample_report: Any) -> None:
    """What somebody would inject is refused: neither eval nor a script nor a request is possible."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(sample_report.path.as_uri())
    ran = page.evaluate(
        """async () => {
            const script = document.createElement("script");
            script.textContent = "window.hurt = 1";
            document.body.appendChild(script);
            const button = document.createElement("button");
            button.setAttribute("onclick", "window.hurt = 2");
            document.body.appendChild(button);
            button.click();
            const asked = await fetch("https://example.org/").then(() => "sent", () => "refused");
            return [window.hurt === undefined, asked];
        }"""
    )
    assert ran == [True, "refused"]
    context.close()


@pytest.mark.slow
def test_tooltips(browser: Any, sample_report: Any) -> None:
    with opened(browser, sample_report.path) as page:
        live(page)
        page.locator("#tradeoff .live path[aria-roledescription='point']").first.hover(force=True)
        page.wait_for_selector(".vg-tooltip.visible")
        said = page.locator(".vg-tooltip").inner_text()
        scores = sample_report.comparison.scores
        for measure in ("NFaiRR@10", "nDCG@10"):  # four digits, and the interval of each
            assert f"{scores.mean(measure, 'bm25'):.4f}" in said
            assert len(re.findall(rf"{measure} ↑, over\s*44 queries, 95% interval", said)) == 1


# of the queries those that are open: the others are the same again, and axe looks at every element
OPEN_ONES = "{exclude: [['details.query:not([open])']]}"


@pytest.mark.needs("axe_playwright_python")
@pytest.mark.parametrize(
    ("size", "part"),
    [
        pytest.param(PHONE, OPEN_ONES, id="phone, open queries", marks=pytest.mark.slow),
        pytest.param(PHONE, "document", id="phone", marks=pytest.mark.slow),
        pytest.param(DESK, "document", id="desk", marks=pytest.mark.slow),
    ],
)
def test_axe_finds_nothing(browser: Any, sample_report: Any, size: dict[str, int], part: str) -> None:
    import axe_playwright_python as axe

    with opened(browser, sample_report.path, size, axe=True) as page:
        live(page)
        for item in page.locator("details").all()[:8]:
            item.evaluate("item => { item.open = true; }")
        page.add_script_tag(content=(Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
        found = page.evaluate(f"() => axe.run({part})")
        assert len(found["passes"]) > 20
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]] == []


@pytest.mark.slow
def test_it_fits_a_phone(browser: Any, sample_report: Any, tmp_path: Path) -> None:
    with opened(browser, sample_report.path, PHONE) as page:
        live(page)
        open_all(page)
        pictures(page, tmp_path / "phone")
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        for box in page.locator("figure.chart").all():
            assert box.evaluate("box => box.getBoundingClientRect().right") <= 375
        # its own drawing, not that for a wide screen made smaller; how wide exactly is up to the fonts
        assert page.locator("#tradeoff .live svg").evaluate("svg => svg.viewBox.baseVal.width") <= 375


def test_without_scripts(browser: Any, sample_report: Any) -> None:
    with opened(browser, sample_report.path, scripts=False) as page:
        assert not page.locator("#controls").is_visible()
        page.locator("#queries .needs").wait_for()
        page.locator("figure.chart img").first.wait_for()
        assert page.locator("figure.chart img").first.bounding_box()["width"] > 300
        assert page.locator("details.query").count() == 5  # readable=5
        item = page.locator("details.query").nth(3)
        item.locator("summary").click()
        assert item.locator(".document").count() == 10
        assert item.locator(".document .text").first.is_visible()
        assert item.locator("mark").count() > 0


@pytest.mark.slow
def test_the_script_shows_what_the_file_holds(browser: Any, sample_report: Any) -> None:
    """On a phone lists are not beside each other: what the script writes is what the file has without it."""
    with opened(browser, sample_report.path, PHONE, scripts=False) as page:
        rows = page.locator("noscript details.query, details.query")
        expected = [rows.nth(place).inner_html() for place in range(5)]
    with opened(browser, sample_report.path, PHONE) as page:
        for place in range(5):
            item = page.locator("details.query").nth(place)
            item.locator("summary").click()
            body = item.locator(".body")
            page.wait_for_function("body => body.dataset.shown !== undefined", arg=body.element_handle())
            page.evaluate("body => body.querySelector('.permalink').remove()", body.element_handle())
            for name in ("data-shown", "data-state"):
                page.evaluate(f"body => body.removeAttribute('{name}')", body.element_handle())
            squeezed = [re.sub(r">\s+<", "><", html).strip() for html in (item.inner_html(), expected[place])]
            assert squeezed[0] == squeezed[1]
            assert body.locator(".document").count() == 10


@pytest.mark.slow
def test_choosing_another_measure_and_system(browser: Any, sample_report: Any) -> None:
    scores = sample_report.comparison.scores
    with opened(browser, sample_report.path) as page:
        page.select_option("#choose-measure", label="nDCG@10")
        page.select_option("#choose-system", label="bm25")
        block = scores.block("nDCG@10", "bm25")
        lowest = sorted(block.values[:, 0].tolist())
        assert page.locator("details.query .value").all_inner_texts() == [f"{value:.4f}" for value in lowest]
        assert page.locator(".was").count() == 0  # the baseline is not beside itself
        assert page.locator("#sorted-by").inner_text() == "By nDCG@10 of bm25"
        page.fill("#find", "hospital nurse")
        assert page.locator("details.query:visible").count() >= 1
        page.wait_for_function("() => document.getElementById('found').textContent.endsWith('of 44 queries')")


@pytest.mark.slow
def test_printed(browser: Any, sample_report: Any, tmp_path: Path) -> None:
    with opened(browser, sample_report.path) as page:
        live(page)
        page.wait_for_function("() => !document.querySelector('figure.chart noscript')")  # drawn when idle
        page.emulate_media(media="print")
        assert page.locator("figure.chart img").first.is_visible()  # a picture: sharp, and without the script
        assert not page.locator("figure.chart .live").first.is_visible()
        assert not page.locator("#controls").is_visible()
        printed = page.pdf(path=tmp_path / "report.pdf", format="A4")
        assert printed.startswith(b"%PDF")
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= 3


def test_hostile_names_in_a_browser(browser: Any, hostile: tuple[Path, Path], tmp_path: Path) -> None:
    seen = []
    for path in hostile:
        with opened(browser, path) as page:
            live(page)
            first = page.evaluate(STRUCTURE)
            open_all(page)
            page.select_option("#choose-system", index=4)
            page.select_option("#choose-measure", index=1)
            open_all(page)
            page.wait_for_function(ALL_SHOW, arg="1-4")
            page.screenshot(path=tmp_path / f"{path.stem}.png")
            assert page.evaluate("window.hurt") is None
            drawn = r"(svg|g|path|text|rect|line|tspan|defs|clipPath) "  # names differ in length
            everything = [element for element in first if not re.match(drawn, element)]
            seen.append((everything, page.locator("#queries").evaluate(STRUCTURE_OF)))
    assert seen[0] == seen[1]


@pytest.mark.slow
def test_a_large_report_opens(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "large.html"
    pages.large_report(path)
    with opened(browser, path) as page:
        assert page.locator("details.query").count() == 50
        page.locator("#more").click()
        assert page.locator("details.query").count() == 100
        item = page.locator("details.query").nth(99)
        item.locator("summary").click()
        item.locator(".document").first.wait_for()
        assert item.locator(".beside .side:last-child .document").count() == 10
        page.select_option("#choose-system", index=7)
        page.wait_for_function("() => document.getElementById('sorted-by').textContent.endsWith('system 7')")
