"""Forms that only our own pages can send: what they say, and the token that proves where they come from.

A token names the purpose of its form and is signed for one session, so a form of another site, of another
session or of another step is refused. Sessions are signed as well: nobody can make up one. That a step is
recorded once is for the store to hold: see ``steps.record``.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from urllib.parse import parse_qsl

from evenrank.errors import DataError

MOST_BYTES = 64 * 1024
MOST_FIELDS = 100


class FormTokens:
    """Makes and checks tokens with a secret that the store keeps, so that they outlive the server.

    >>> tokens = FormTokens("secret")
    >>> tokens.purpose(tokens.issue("session", "step-3"), "session")
    'step-3'
    >>> tokens.purpose(tokens.issue("session", "step-3"), "another") is None
    True
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def issue(self, session: str, purpose: str) -> str:
        return f"{purpose}.{self._signature(session, purpose)}"

    def purpose(self, token: str, session: str) -> str | None:
        """What the form of this token is for; None if the token is not ours or of another session."""
        purpose, _, signature = token.rpartition(".")
        expected = self._signature(session, purpose)
        return purpose if hmac.compare_digest(signature.encode(), expected.encode()) else None

    def new_session(self, origin: str | None = None) -> str:
        """A session that we have signed, drawn by chance; with an ``origin`` always the same one for it."""
        name = secrets.token_urlsafe(32) if origin is None else self.keyed(f"origin {origin}")
        return f"{name}.{self.keyed(f'session {name}')}"

    def is_session(self, text: str) -> bool:
        """Whether we have signed this session."""
        name, _, signature = text.rpartition(".")
        return hmac.compare_digest(signature.encode(), self.keyed(f"session {name}").encode())

    def keyed(self, text: str) -> str:
        """A digest that nobody can compute without the secret."""
        return hmac.new(self._secret, f"keyed\0{text}".encode(), hashlib.sha256).hexdigest()

    def _signature(self, session: str, purpose: str) -> str:
        said = f"{len(session)} {session} {purpose}".encode()
        return hmac.new(self._secret, said, hashlib.sha256).hexdigest()


def parse_form(body: bytes) -> dict[str, str]:
    """The fields of a form; of a field that stands there twice, the last."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError:
        raise DataError("the form cannot be read") from None
    return {name: value.replace("\r\n", "\n").replace("\0", "") for name, value in pairs}
