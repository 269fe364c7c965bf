"""Text from outside on its way into the page: names, document texts, URLs, data for our script.

Jinja escapes everything that a template shows. What is here comes before that: characters that HTML cannot
hold or that would steer the reader's eye, links that are none, and JSON that must not end its own element.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any
from urllib.parse import urlsplit

from evenrank.text import printable

SCHEMES = ("http", "https")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_IN_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def name(text: str) -> str:
    r"""An id, a label, a name: on one line, with nothing in it that cannot be seen.

    >>> name("a\u202eb\n")
    'a\\u202eb\\n'
    """
    return printable(text)


def prose(text: str) -> str:
    r"""A text to read: its characters stay, except those that HTML cannot hold.

    >>> prose("naïve\x00\ttext")
    'naïve�\ttext'
    """
    return text if text.isprintable() else _CONTROL.sub("�", text)


def link(url: str) -> str | None:
    """The URL if it leads to a web page, None for anything else, as ``javascript:``.

    >>> link("https://example.org/a?b"), link("javascript:alert(1)"), link("//example.org")
    ('https://example.org/a?b', None, None)
    """
    if url != printable(url) or url != url.strip():
        return None
    try:
        parts = urlsplit(url)
        good = parts.scheme.lower() in SCHEMES and bool(parts.hostname)
    except ValueError:
        return None
    return url if good else None


def script_json(value: Any) -> str:
    """JSON that can stand inside a script element, whatever strings it holds.

    >>> script_json(["</script>"])
    '["\\\\u003c/script\\\\u003e"]'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = _CONTROL.sub("�", text)
    for character, written in _IN_SCRIPT.items():
        text = text.replace(character, written)
    return text


def digest(text: str) -> str:
    """What a content security policy calls this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def data_url(content: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
