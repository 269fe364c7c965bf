"""A figure as a page of its own, in a real browser: it draws under a policy that allows nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from effort import some

import evenrank as er
from evenrank.reporting.figures import bars_figure, cutoff_figure, save_figure, scatter_figure

pytestmark = pytest.mark.needs("altair", "vl_convert")

PATIENCE = 60_000  # milliseconds: machines are shared and slow at times
NAME = "</script><script>window.hurt = 1</script>"
WATCH = """document.addEventListener("securitypolicyviolation", event => {
    (window.refused = window.refused || []).push(event.violatedDirective + " " + event.sourceFile); })"""


def scores(cutoffs: list[int]) -> er.Scores:
    """Two runs of ten queries; one of them has a name that would hurt."""
    generator = np.random.default_rng(3)
    documents = [f"d{place}" for place in range(20)]
    qrels = {f"q{n}": {d: int(generator.integers(0, 3)) for d in documents} for n in range(10)}
    runs = {
        name: {query: {d: float(generator.random()) for d in documents} for query in qrels}
        for name in ("plain", NAME)
    }
    return er.evaluate(runs, "nDCG P", qrels=qrels, cutoffs=cutoffs)


FIGURES: dict[str, Callable[[], Any]] = {
    "curves": lambda: cutoff_figure(scores([5, 10])),
    "bars": lambda: bars_figure(scores([5]), "P@5"),
    "plane": lambda: scatter_figure(scores([5]), "nDCG@5", "P@5"),
}


@contextmanager
def opened(browser: Any, path: Path) -> Iterator[Any]:
    """The page, drawn. It is an error if anything is asked of a network, complained of or refused."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.add_init_script(WATCH)
    page.goto(path.as_uri())
    page.wait_for_selector("#figure svg path", state="attached")
    yield page
    assert page.evaluate("window.refused || []") == []
    assert complaints == []
    assert [url for url in requests if not url.startswith(("data:", "blob:"))] == [path.as_uri()]
    context.close()


@pytest.mark.parametrize("kind", some(list(FIGURES)))
def test_it_draws_and_nothing_is_refused(browser: Any, tmp_path: Path, kind: str) -> None:
    save_figure(FIGURES[kind](), tmp_path / "figure.html")
    with opened(browser, tmp_path / "figure.html") as page:
        assert page.evaluate("window.hurt") is None
        drawn = page.locator("#figure svg")
        assert drawn.bounding_box()["width"] > 100
        assert "P" in drawn.text_content()


def test_tooltips_and_the_export(browser: Any, tmp_path: Path) -> None:
    save_figure(FIGURES["curves"](), tmp_path / "figure.html")
    with opened(browser, tmp_path / "figure.html") as page:
        page.locator("#figure svg path[aria-roledescription='point']").first.hover(force=True)
        page.wait_for_selector(".vg-tooltip.visible")
        assert "cutoff" in page.locator(".vg-tooltip").inner_text()
        links = page.locator(".vega-actions a")
        assert links.all_inner_texts() == ["Save as SVG", "Save as PNG"]
        with page.expect_download() as saving:
            links.first.click()
        assert Path(saving.value.path()).read_bytes().startswith(b"<svg")


def test_the_policy_holds(browser: Any, tmp_path: Path) -> None:
    """Neither an injected script nor a handler nor a request nor an evaluated text is possible."""
    save_figure(FIGURES["bars"](), tmp_path / "figure.html")
    context = browser.new_context()
    page = context.new_page()
    page.goto((tmp_path / "figure.html").as_uri())
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
    policy = page.locator("meta[http-equiv='Content-Security-Policy']").get_attribute("content")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    context.close()


def test_a_value_without_a_place_is_left_out(browser: Any, tmp_path: Path) -> None:
    import altair

    rows = [{"a": 1, "b": math.nan}, {"a": 2, "b": 3.0}, {"a": 3, "b": math.inf}]
    chart = altair.Chart(altair.Data(values=rows)).mark_point().encode(x="a:Q", y="b:Q")
    save_figure(chart, tmp_path / "figure.html")
    with opened(browser, tmp_path / "figure.html") as page:
        assert page.locator("#figure svg path[aria-roledescription='point']").count() == 1
