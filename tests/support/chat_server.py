"""A server on loopback that speaks the OpenAI protocol: it answers by prompt and seed, or misbehaves."""

from __future__ import annotations

import hashlib
import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "writer-1"
REFUSAL = "I'm sorry, but I can't help with that. As an AI language model I do not take sides."
NOUNS = (
    "city",
    "school",
    "law",
    "family",
    "market",
    "river",
    "museum",
    "teacher",
    "farm",
    "street",
    "budget",
    "plan",
)
VERBS = ("helps", "changes", "protects", "limits", "shapes", "opens", "costs", "needs", "keeps", "follows")

Answer = Callable[["Call"], None]


class Call:
    """One request, and ways to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        self.handler, self.body = handler, body
        self.prompt = str(body["messages"][-1]["content"]) if "messages" in body else ""
        self.seed = int(body.get("seed", 0))
        self.echo = ""  # what every answer ends with

    def send(self, content: Any, status: int = 200, **headers: str) -> None:
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.handler.send_response(status)
        for name, value in {"Content-Length": str(len(raw)), **headers}.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()
        self.handler.wfile.write(raw)

    def say(self, text: str, finish: str = "stop", model: str | None = None) -> None:
        used = {"prompt_tokens": len(self.prompt) // 4, "completion_tokens": len(text) // 4}
        message = {"role": "assistant", "content": text + self.echo}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        self.send({"model": model or self.body["model"], "choices": [choice], "usage": used})

    def hang_up(self) -> None:
        self.handler.close_connection = True
        self.handler.connection.close()

    def article(self, salt: str = "") -> str:
        """Eighty words that depend on the prompt and the seed alone."""
        made = hashlib.sha256(f"{self.prompt} {self.seed} {salt}".encode()).hexdigest()
        draw = random.Random(made)
        sentences = [
            f"The {draw.choice(NOUNS)} of the {draw.choice(NOUNS)} {draw.choice(VERBS)} the "
            f"{draw.choice(NOUNS)} "
            f"that is in a {draw.choice(NOUNS)}."
            for _ in range(7)
        ]
        return " ".join(sentences)

    def good(self) -> None:
        """What a well-behaved model says to each of the prompts."""
        if "debate questions" in self.prompt:
            title = self.prompt.split('"')[1]
            verbs = (
                "banned",
                "taxed",
                "taught",
                "funded",
                "owned",
                "limited",
                "praised",
                "moved",
                "copied",
                "sold",
            )
            self.say("\n".join(f"{at}. Should {title} be {verb} by law?" for at, verb in enumerate(verbs, 1)))
        elif "For each side" in self.prompt:
            self.say(
                f"Perspective 1: Yes, it should\n{self.article('a')}\n\n"
                f"Perspective 2: No, it should not\n{self.article('b')}"
            )
        elif "Answer with one word" in self.prompt:
            self.say("No.")
        else:
            self.say(self.article())


class ChatServer:
    """``script`` gives for a prompt how to answer its first, second, .. request; after that it is good.

    ``echo`` makes what is put to every answer from the credentials that came.
    """

    def __init__(
        self,
        script: Callable[[Call, int], Answer | None] | None = None,
        echo: Callable[[str], str] = lambda authorization: "",
    ) -> None:
        self.calls: list[tuple[str, int]] = []
        self.seen: Counter[tuple[str, int]] = Counter()
        self.authorizations: set[str] = set()
        lock, outer = threading.Lock(), self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 1 << 16

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                call = Call(self, body)
                call.echo = echo(self.headers.get("Authorization", ""))
                if self.path.endswith("/moderations"):
                    scores = [{"category_scores": {"hate": 0.2 if "museum" in text else 0.01, "harm": 0.0}}
                              for text in body["input"]]  # fmt: skip
                    call.send({"results": scores})
                    return
                with lock:
                    key = call.prompt, call.seed
                    number = outer.seen[key]
                    outer.seen[key] += 1
                    outer.calls.append(key)
                    outer.authorizations.add(self.headers.get("Authorization", ""))
                answer = script(call, number) if script is not None else None
                try:
                    (answer or Call.good)(call)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients may leave
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    @contextmanager
    def running(self) -> Iterator[ChatServer]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()
