"""Late interaction and learned sparse retrieval against plain loops over the same model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tiny_models

from evenrank import DataError
from evenrank.systems import make_system

torch = pytest.importorskip("torch", reason="the extra [embed] is not installed")
pytest.importorskip("sentence_transformers", reason="the extra [embed] is not installed")
pytestmark = pytest.mark.slow  # the libraries of models take seconds to load

LONG = "nurse works, nurse works at night: in the hospital. Then again over rivers"


def tokens_and_model(folder: Path, kind: str):  # type: ignore[no-untyped-def]
    import transformers

    tokens = transformers.AutoTokenizer.from_pretrained(folder)
    return tokens, getattr(transformers, kind).from_pretrained(folder).eval()


def ranked(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda one: (round(scores[one], 4), one.encode()), reverse=True)


def plain_max_sim(query: np.ndarray, document: np.ndarray) -> float:
    return sum(max(float(q @ d / np.linalg.norm(q) / np.linalg.norm(d)) for d in document) for q in query)


def test_max_sim_over_the_tokens_of_any_encoder(
    tmp_path: Path, documents: dict[str, str], queries: dict[str, str]
) -> None:
    folder = tiny_models.encoder(tmp_path / "encoder")
    documents["d6"] = LONG
    tokens, model = tokens_and_model(folder, "BertModel")

    def vectors(text: str) -> np.ndarray:
        with torch.no_grad():
            return model(**tokens(text, return_tensors="pt")).last_hidden_state[0].numpy()

    system = make_system(f"LateInteraction(model='{folder}')", cache=tmp_path / "kept")
    system.index(documents)
    run = system.retrieve(queries, 10)
    assert run.name == "encoder-maxsim"
    for query, text in queries.items():
        scores = {key: plain_max_sim(vectors(text), vectors(one)) for key, one in documents.items()}
        assert run.to_dict()[query] == pytest.approx(scores, abs=5e-3)  # halves have 11 bits
        assert run.documents(query) == ranked(scores)


def test_max_sim_with_the_weights_of_colbert(tmp_path: Path, documents: dict[str, str]) -> None:
    from safetensors.torch import load_file

    folder = tiny_models.colbert(tmp_path / "colbert")
    tokens, model = tokens_and_model(folder, "BertModel")
    weight = load_file(folder / "model.safetensors")["linear.weight"]
    mask, punctuation = tokens.mask_token_id, set(tokens.convert_tokens_to_ids([",", ".", ":"]))

    def vectors(text: str, query: bool) -> np.ndarray:
        inner = tokens(text, add_special_tokens=False)["input_ids"]
        mark = tokens.convert_tokens_to_ids("[unused0]" if query else "[unused1]")
        ids = [tokens.cls_token_id, mark, *inner, tokens.sep_token_id]
        real = len(ids)
        ids += [mask] * (32 - real) if query else []
        seen = torch.tensor([[1] * real + [0] * (len(ids) - real)])
        with torch.no_grad():
            found = model(input_ids=torch.tensor([ids]), attention_mask=seen).last_hidden_state[0] @ weight.T
        kept = [place for place, one in enumerate(ids) if query or one not in punctuation]
        return found[kept].numpy()

    system = make_system(f"LateInteraction(model='{folder}')")
    system.index(documents)
    for text in ("nurse hospital", "bridges over rivers"):
        scores = {
            key: plain_max_sim(vectors(text, True), vectors(one, False)) for key, one in documents.items()
        }
        run = system.retrieve({"q": text}, 10)
        assert run.to_dict()["q"] == pytest.approx(scores, abs=2e-2)
        assert run.documents("q") == ranked(scores)


def test_token_vectors_that_are_none(tmp_path: Path, documents: dict[str, str]) -> None:
    from safetensors.torch import load_file, save_file

    folder = tiny_models.encoder(tmp_path / "mine")
    weights = load_file(folder / "model.safetensors")
    broken = {name: torch.full_like(weight, np.nan) for name, weight in weights.items()}
    save_file(broken, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(DataError, match="mine"):
        make_system(f"LateInteraction(model='{folder}')").index(documents)


@pytest.mark.parametrize("kind", ["Splade", "UniCoil"])
def test_sparse_weights_and_their_products(
    kind: str, tmp_path: Path, documents: dict[str, str], queries: dict[str, str]
) -> None:
    from safetensors.torch import load_file

    folder = getattr(tiny_models, kind.lower())(tmp_path / "model")
    tokens, model = tokens_and_model(folder, "BertForMaskedLM" if kind == "Splade" else "BertModel")
    held = load_file(folder / "model.safetensors")

    def weights(text: str) -> dict[int, float]:
        given = tokens(text, return_tensors="pt")
        with torch.no_grad():
            out = model(**given)
        found: dict[int, float] = {}
        if kind == "Splade":
            for row in out.logits[0]:
                for code, logit in enumerate(row.tolist()):
                    found[code] = max(found.get(code, 0.0), float(np.log1p(max(logit, 0.0))))
            return found
        for code, row in zip(given["input_ids"][0].tolist(), out.last_hidden_state[0], strict=True):
            if code not in tokens.all_special_ids:
                value = float(row @ held["tok_proj.weight"][0] + held["tok_proj.bias"])
                found[code] = max(found.get(code, 0.0), value)
        return found

    system = make_system(f"{kind}(model='{folder}')", cache=tmp_path / "kept")
    system.index(documents)
    run = system.retrieve(queries, 10)
    for query, text in queries.items():
        asked = weights(text)
        scores = {
            key: sum(value * asked.get(code, 0.0) for code, value in weights(one).items())
            for key, one in documents.items()
        }
        scores = {key: value for key, value in scores.items() if value > 1e-6}
        if not scores:
            assert query not in run
            continue
        assert run.to_dict()[query] == pytest.approx(scores, rel=1e-4, abs=1e-4)
        assert run.documents(query) == ranked(scores)


def test_what_was_encoded_is_kept(tmp_path: Path, documents: dict[str, str], monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """A block of texts is encoded once; a file that is damaged is made again."""
    from transformers import BertForMaskedLM

    folder = tiny_models.splade(tmp_path / "model")
    system = make_system(f"Splade(model='{folder}')", cache=tmp_path / "kept")
    system.index(documents)
    expected = system.retrieve({"q": "nurse"}).to_dict()
    encoded: list[int] = []
    original = BertForMaskedLM.forward

    def counted(self, input_ids, *given, **named):  # type: ignore[no-untyped-def]
        encoded.append(len(input_ids))
        return original(self, input_ids, *given, **named)

    monkeypatch.setattr(BertForMaskedLM, "forward", counted)
    again = make_system(f"Splade(model='{folder}')", cache=tmp_path / "kept")
    again.index(documents)
    assert again.retrieve({"q": "nurse"}).to_dict() == expected
    assert encoded == []
    for path in (tmp_path / "kept").iterdir():
        path.write_bytes(path.read_bytes()[:50])
    again.index(documents)
    assert encoded == [len(documents)]
    again.index({**documents, "d1": "another"})
    assert encoded == [len(documents)] * 2
