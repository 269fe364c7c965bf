"""A language model as a re-ranker: it is shown a window of passages and writes their order."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from evenrank.data.run import Run
from evenrank.errors import ParameterError
from evenrank.grammar import declare, integer, parameter, text
from evenrank.remote.addresses import parse_address
from evenrank.remote.answer_log import AnswerLog
from evenrank.remote.chat import ChatEndpoint, Messages
from evenrank.remote.secrets import Secrets
from evenrank.systems.base import Progress, Retriever, Texts, check_depth, check_texts, run_of
from evenrank.systems.declared import LLM, SystemSettings
from evenrank.systems.kept import digest_of
from evenrank.systems.permutations import CUT, RepairCounts, read_permutation
from evenrank.systems.second_stage import SecondStageTerm

KEY = "EVENRANK_LLM_KEY"
TOKENS_PER_PASSAGE = 8  # of an answer such as "[12] > "
Ask = Callable[[Messages, int], tuple[str, bool]]  # messages, most tokens: the answer, and whether it was cut


class Listwise:
    """The first ``depth`` documents of a system, ordered by a language model in windows.

    A window of ``window`` passages moves from the end of the list to its beginning in steps of ``step``, so
    that a good document can rise all the way. Of each passage the first ``words`` words are shown. An answer
    that is no permutation is repaired by rule and counted (``repairs``).
    Sun et al. 2023, Is ChatGPT good at search?, section 3.2.
    """

    def __init__(
        self,
        first: Retriever,
        ask: Ask,
        *,
        name: str,
        depth: int = 100,
        window: int = 20,
        step: int = 10,
        words: int = 200,
        progress: Progress | None = None,
    ) -> None:
        if step > window:
            raise ParameterError(f"Listwise: step must not exceed window, got step={step}, window={window}")
        self._first, self._ask = first, ask
        self._depth, self._window, self._step, self._words = check_depth(depth), window, step, words
        self._progress = progress
        self._texts: dict[str, str] = {}
        self.name = f"{first.name}>>{name}"
        self.repairs = RepairCounts()

    def index(self, documents: Texts) -> None:
        self._texts = check_texts(documents, "documents")
        self._first.index(self._texts)

    def retrieve(self, queries: Texts, k: int = 100) -> Run:
        asked, k = check_texts(queries, "queries"), check_depth(k)
        candidates = self._first.retrieve(asked, self._depth)
        self.repairs = RepairCounts()
        lists = []
        for done, query in enumerate(candidates.query_ids):
            if self._progress is not None:
                self._progress(f"asking {self.name}", done, len(candidates))
            ranked = self._ordered(asked[query], candidates.documents(query))
            lists.append((query, ranked, [float(len(ranked) - place) for place in range(len(ranked))]))
        return run_of(lists, self.name).head(k)

    @property
    def notes(self) -> list[str]:
        return [*getattr(self._first, "notes", []), *self.repairs.describe()]

    def _ordered(self, query: str, documents: list[str]) -> list[str]:
        ranked = list(documents)
        for begin, end in windows(len(ranked), self._window, self._step):
            shown = ranked[begin:end]
            messages = prompt(query, [self._texts[document] for document in shown], self._words)
            answer, cut = self._ask(messages, TOKENS_PER_PASSAGE * len(shown))
            order, problems = read_permutation(answer, len(shown))
            self.repairs.add(problems | ({CUT} if cut else set()))
            ranked[begin:end] = [shown[place] for place in order]
        return ranked


def windows(length: int, window: int, step: int) -> list[tuple[int, int]]:
    """Where the window stands, from the end of the list to its beginning.

    >>> windows(25, 10, 5)
    [(15, 25), (10, 20), (5, 15), (0, 10)]
    """
    if length < 2:
        return []
    found = [(max(0, length - window), length)]
    while found[-1][0] > 0:
        end = found[-1][1] - step
        found.append((max(0, end - window), end))
    return found


def prompt(query: str, passages: list[str], words: int) -> Messages:
    """What a model is asked: the passages with numbers, and the form of the answer."""
    count = len(passages)
    lines = [f"[{number}] {' '.join(text.split()[:words])}" for number, text in enumerate(passages, 1)]
    example = " > ".join(f"[{number}]" for number in range(min(count, 3), 0, -1))
    return [
        {"role": "system", "content": "You rank passages by their relevance to a query."},
        {
            "role": "user",
            "content": f"Here are {count} passages, each with a number in brackets.\n\n"
            + "\n\n".join(lines)
            + f"\n\nQuery: {query}\n\nRank the {count} passages by their relevance to the query, the most "
            f"relevant first. Answer with the numbers alone, in the form {example}, each once.",
        },
    ]


class LoggedChat:
    """A server that is asked each question once: answers are on disk before they are used."""

    def __init__(self, endpoint: ChatEndpoint, model: str, log: Path | None) -> None:
        self._endpoint, self._model = endpoint, model
        self._log = None if log is None else AnswerLog(log, endpoint.secrets)
        self._known: dict[str, tuple[str, bool]] = {}
        for record in self._log.records() if self._log is not None else ():
            self._known[record["key"]] = record["text"], record["cut"]

    def __call__(self, messages: Messages, most: int) -> tuple[str, bool]:
        key = digest_of(self._model, str(most), [text for one in messages for text in one.values()])
        if key not in self._known:
            answer = self._endpoint.complete(self._model, messages, temperature=0, max_tokens=most, seed=0)
            self._known[key] = answer.text, answer.finish == "length"
            if self._log is not None:
                text, cut = self._known[key]
                self._log.add({"key": key, "text": text, "cut": cut, "model": answer.model})
        return self._known[key]


@declare
class ListwiseTerm(SecondStageTerm):
    """A language model behind an OpenAI-compatible address orders the first documents of another system, in
    windows that move up the list; answers that are no permutation are repaired by rule and counted."""

    name = "Listwise"
    family = LLM
    extra = "engines"

    depth: int = parameter(100, integer(1), "how many documents are re-ranked")
    url: str = parameter("", text(), "the address of the server, which ends in /v1")
    model: str = parameter("", text(), "the name of the model there")
    window: int = parameter(20, integer(2), "passages in one question")
    step: int = parameter(10, integer(1), "how far the window moves")
    words: int = parameter(200, integer(1), "words of a passage that are shown")
    key: str = parameter(KEY, text(), "the environment variable with the key of the server")

    def check(self, settings: SystemSettings) -> None:
        super().check(settings)
        if not self.url or not self.model:
            raise ParameterError(
                "Listwise: name the server and the model, as Listwise(url='http://..',model='..')"
            )
        if self.step > self.window:
            raise ParameterError(
                f"Listwise: step must not exceed window, got step={self.step}, window={self.window}"
            )
        parse_address(self.url)
        self._secrets()

    def make(self, settings: SystemSettings) -> Listwise:
        endpoint = ChatEndpoint(self.url, secrets=self._secrets())
        folder = settings.cache_folder
        log = (
            None if folder is None else folder / f"listwise-{digest_of(self.url, self.model)[:16]}.jsonl.zst"
        )
        return Listwise(
            self.first.make(settings), LoggedChat(endpoint, self.model, log), name=self.model,
            depth=self.depth_asked, window=self.window, step=self.step, words=self.words,
            progress=settings.progress,
        )  # fmt: skip

    def _secrets(self) -> Secrets:
        """The key is optional: a server on this machine has none."""
        return Secrets() if self.key == KEY and not os.environ.get(KEY) else Secrets({"key": self.key})
