"""Make the picture of the README: the first screen of the report on the shop of docs/guides/shop.md.

``python docs/build_picture.py`` writes docs/first-screen.png; it needs the extra ``report`` and Chromium with
playwright.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PICTURE = DOCS / "first-screen.png"
SIZE = {"width": 1180, "height": 760}
COMMAND = (
    "audit", "shop.toml", "--queries", "queries.csv", "--documents", "products.jsonl", "--groups",
    "seller_size",
)  # fmt: skip


def report(folder: Path) -> Path:
    """The report of the audit of the shop."""
    from evenrank.cli import main
    from evenrank.sample.shop import make_shop

    here = Path.cwd()
    os.chdir(folder)
    try:
        make_shop(Path("shop"))
        os.chdir("shop")
        main(COMMAND)
    finally:
        os.chdir(here)
    (found,) = folder.glob("shop/audit/2*/report.html")
    return found


def draw(page_file: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.goto(page_file.resolve().as_uri())
        bottom = page.locator("#shares .bars").first.bounding_box()
        top = page.locator("#verdicts .card").bounding_box()
        clip = {"x": 0, "y": top["y"] - 12, "width": SIZE["width"]}
        clip["height"] = bottom["y"] + bottom["height"] - clip["y"] + 12
        page.screenshot(path=PICTURE, clip=clip, full_page=True)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        draw(report(Path(temporary)))
