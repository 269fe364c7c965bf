"""Credentials: named in settings, taken from the environment, and never shown."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from evenrank.errors import ParameterError

PREFIX = "EVENRANK_"
HIDDEN = "***"
SHORTEST = 6  # characters of base64; fewer may be there by chance
_FOR_URLS = str.maketrans("+/", "-_")


class Secrets:
    """The values of environment variables, and the text without them.

    Names must begin with EVENRANK_: a settings file that somebody else wrote cannot send other variables of
    this machine to its server.

    >>> secrets = Secrets({"password": "EVENRANK_PASSWORD"}, {"EVENRANK_PASSWORD": "hunter2"})
    >>> secrets.redact("wrong password hunter2")
    'wrong password ***'
    >>> secrets
    <Secrets: password from EVENRANK_PASSWORD>
    """

    def __init__(
        self, names: Mapping[str, str] | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        self.names = dict(names or {})
        found = os.environ if environment is None else environment
        self._values: dict[str, str] = {}
        for use, name in self.names.items():
            if not isinstance(name, str) or not name.startswith(PREFIX) or name == PREFIX:
                # what stands there may be the secret itself: it is not repeated
                raise ParameterError(
                    f"credentials: {use} must be the name of an environment variable that begins with "
                    f"{PREFIX} (the value itself belongs into that variable, never into a file or an "
                    "address)"
                )
            if not found.get(name):
                raise ParameterError(
                    f"credentials: {use} is taken from the environment variable {name}, which is not "
                    f"set: export {name}=..."
                )
            self._values[use] = found[name]
        self._forms = sorted(_forms(self._values), key=len, reverse=True)  # the longest first

    def get(self, use: str) -> str | None:
        return self._values.get(use)

    def redact(self, text: str) -> str:
        """The text without any of the values, however they are written."""
        for form in self._forms:
            text = text.replace(form, HIDDEN)
        return text

    def redact_json(self, value: Any, text: str | None = None) -> Any:
        """JSON without any of the values, in whatever way they stand in it; ``text`` is how it was written,
        where that is known.

        >>> secrets = Secrets({"key": "EVENRANK_KEY"}, {"EVENRANK_KEY": "12345"})
        >>> secrets.redact_json({"a": ["key=12345", 12345]})
        {'a': ['key=***', '***']}
        """
        if not self._forms:
            return value
        if text is None or "\\" in text:  # an escape may be written in several ways
            text = json.dumps(value, ensure_ascii=False)
        return value if self.redact(text) == text else self._redacted(value)

    def _redacted(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self.redact(name): self._redacted(own) for name, own in value.items()}
        if isinstance(value, list):
            return [self._redacted(own) for own in value]
        text = value if isinstance(value, str) else json.dumps(value)
        return value if self.redact(text) == text else self.redact(text)

    def __bool__(self) -> bool:
        return bool(self._values)

    def __repr__(self) -> str:
        told = ", ".join(f"{use} from {name}" for use, name in self.names.items())
        return f"<Secrets: {told or 'none'}>"


def _forms(values: Mapping[str, str]) -> set[str]:
    """How the values may be written: as they are, in JSON (also in JSON within JSON), in base64, in a URL."""
    user = values.get("user", "")
    forms: set[str] = set()
    for use, value in values.items():
        if use == "user":  # a name, which stands in many texts that are not secret
            continue
        written = {value}
        for _ in range(3):
            written |= {json.dumps(form, ensure_ascii=own)[1:-1] for form in written for own in (True, False)}
        quoted = {quote(value), quote(value, safe=""), quote_plus(value)}
        quoted |= {re.sub("%..", lambda escape: escape[0].lower(), form) for form in quoted}
        forms |= written | quoted | _in_base64(value) | _in_base64(f"{user}:{value}")
    return forms


def _in_base64(text: str) -> set[str]:
    """A text in base64, and what is always the same of it wherever it stands inside of another."""
    content = text.encode()
    forms = {base64.b64encode(content).decode()}
    for before in range(3):
        inside = base64.b64encode(bytes(before) + content).decode()
        forms.add(inside[-(-before * 8 // 6) : (before + len(content)) * 8 // 6])
    return {form for form in forms | {form.translate(_FOR_URLS) for form in forms} if len(form) >= SHORTEST}
