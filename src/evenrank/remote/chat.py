"""Language models behind an OpenAI-compatible address: one question, one answer, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evenrank.errors import ParameterError, RemoteError, shortened
from evenrank.remote.addresses import parse_address
from evenrank.remote.client import Client, Limits
from evenrank.remote.pace import Clock
from evenrank.remote.secrets import Secrets

SHOWN = 200  # characters of what a server says about an error
MOST_TOKENS = 10**12  # that a server may say it used; more is nonsense, and cost is counted from it
TEXT_PARTS = ("text", "output_text")
Messages = Sequence[Mapping[str, str]]
"""As the protocol has them: ``[{"role": "user", "content": "..."}]``."""


class ChatAnswer(NamedTuple):
    """What a model said."""

    text: str
    finish: str  # stop, length (cut off), content_filter, or whatever the server calls it
    model: str  # as the server names it
    input_tokens: int
    output_tokens: int


class ChatEndpoint:
    """The chat and moderation calls of one server. Threads may share it.

    ``url`` ends before ``/chat/completions``, as in ``https://api.example/v1``; the key is the secret called
    ``key``. ``transport`` is that of httpx2, for tests.
    """

    def __init__(
        self,
        url: str,
        *,
        secrets: Secrets | None = None,
        limits: Limits | None = None,
        clock: Clock | None = None,
        transport: Any = None,
    ) -> None:
        address = parse_address(url)
        if address.scheme not in ("http", "https") or address.kind is not None:
            raise ParameterError(f"the address of a model begins with http:// or https://, got {address}")
        self.secrets = secrets or Secrets()
        key = self.secrets.get("key")
        self._path = address.path.rstrip("/")
        self.client = Client(
            address.origin,
            secrets=self.secrets,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            limits=limits,
            clock=clock,
            transport=transport,
        )

    def complete(
        self, model: str, messages: Messages, *, temperature: float, max_tokens: int, seed: int
    ) -> ChatAnswer:
        """The answer to a conversation. What may pass is tried again; whatever else is a RemoteError."""
        body = {
            "model": model, "messages": [dict(message) for message in messages],
            "temperature": temperature, "max_tokens": max_tokens, "seed": seed,
        }  # fmt: skip
        content = self.client.ask("POST", f"{self._path}/chat/completions", body=body)
        self._check_error(content)
        try:
            choice = content["choices"][0]
            text = _joined(choice["message"].get("content"))
            used = content.get("usage") or {}
            return ChatAnswer(
                text,
                str(choice.get("finish_reason") or "stop"),
                str(content.get("model") or model),
                _count(used.get("prompt_tokens")),
                _count(used.get("completion_tokens")),
            )
        except (KeyError, IndexError, TypeError, AttributeError):
            raise RemoteError(
                f"{self.client.origin}: the answer has no choices[0].message.content: is this an "
                "OpenAI-compatible address that ends in /v1?"
            ) from None

    def moderate(self, model: str, texts: Sequence[str]) -> list[dict[str, float]]:
        """Scores by category for every text, from ``/moderations``."""
        content = self.client.ask(
            "POST", f"{self._path}/moderations", body={"model": model, "input": list(texts)}
        )
        self._check_error(content)
        try:
            found = [
                {str(name): float(score) for name, score in result["category_scores"].items()}
                for result in content["results"]
            ]
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
            found = []
        if len(found) != len(texts):
            raise RemoteError(
                f"{self.client.origin}: the answer has no results[].category_scores for each of the "
                f"{len(texts)} texts"
            )
        return found

    def close(self) -> None:
        self.client.close()

    def _check_error(self, content: Any) -> None:
        """Some servers send an error with status 200, as if it were an answer."""
        error = content.get("error") if isinstance(content, dict) else None
        if not error or content.get("choices") or content.get("results"):
            return
        what = error.get("message") if isinstance(error, dict) else error
        text = shortened(self.secrets.redact(" ".join(str(what or error).split())), SHOWN)
        raise RemoteError(f"{self.client.origin}: the server answered with an error: {text}")


def _joined(content: Any) -> str:
    """The text of an answer, which may come as a list of parts; parts that are no text are left out."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [
        part.get("text") if isinstance(part, dict) and part.get("type", "text") in TEXT_PARTS else part
        for part in parts
    ]
    return "".join(text for text in texts if isinstance(text, str))


def _count(value: object) -> int:
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_TOKENS
    return value if known else 0  # type: ignore[return-value]
