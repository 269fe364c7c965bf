"""Credentials: named in settings, taken from the environment, and never shown."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Mapping

from evenrank.errors import ParameterError

PREFIX = "EVENRANK_"
HIDDEN = "***"


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
        self._forms = sorted(_forms(self._values), key=len, reverse=True)

    def get(self, use: str) -> str | None:
        return self._values.get(use)

    def redact(self, text: str) -> str:
        """The text without any of the values, however they are written."""
        for form in self._forms:
            text = text.replace(form, HIDDEN)
        return text

    def __bool__(self) -> bool:
        return bool(self._values)

    def __repr__(self) -> str:
        told = ", ".join(f"{use} from {name}" for use, name in self.names.items())
        return f"<Secrets: {told or 'none'}>"


def _forms(values: Mapping[str, str]) -> Iterable[str]:
    """How the values may be written: as they are, in JSON, in base64, in a URL."""
    from urllib.parse import quote, quote_plus

    user = values.get("user", "")
    forms: set[str] = set()
    for use, value in values.items():
        if use == "user":  # a name, which stands in many texts that are not secret
            continue
        pair = f"{user}:{value}"
        forms |= {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
        forms |= {quote(value), quote(value, safe=""), quote_plus(value)}
        forms |= {base64.b64encode(text.encode()).decode() for text in (value, pair)}
    return {form for form in forms if form}
