"""A folder of sheets, and the annotation page on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any

from evenrank.queryset import Procedure, write_sheets
from evenrank.queryset.page import AnnotationPages

TOKEN = re.compile(r'name="token" value="([^"]+)"')
TEXTS = {"1": "best school", "2": "who is he", "3": "what is pay"}


def written(folder: Path, stage: int, texts: Mapping[str, str] = TEXTS) -> list[Path]:
    return write_sheets(folder, stage, Procedure(), texts)


def client_of(folder: Path) -> Any:
    """A client of the page, as a browser without scripts would be; ``addresses`` by annotator."""
    import pytest

    pytest.importorskip("starlette", reason="starlette is not installed: the page is not tested")
    from starlette.testclient import TestClient

    from evenrank.web.application import make_application

    pages = AnnotationPages(folder, Procedure())
    client = TestClient(make_application(pages.site()))
    client.addresses = {sheet.annotator: pages.path_of(sheet) for sheet in pages.sheets}
    return client


def answer(client: Any, address: str, **fields: str) -> Any:
    """Fill the form of an address and send it."""
    page = client.get(address).text
    token = unescape(TOKEN.search(page).group(1))  # type: ignore[union-attr]
    return client.post(address, data={"token": token, **fields})
