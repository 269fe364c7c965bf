"""Models of transformers that are made in a moment: random weights, a vocabulary of a few words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TEXT = (
    "the a nurse works at night in hospital opera and then again engineers build bridges over rivers "
    "nothing of sort zebra , . : ##s ##es"
)
WORDS = TEXT.split()
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]"]


def _config(**changes: Any) -> Any:
    from transformers import BertConfig

    return BertConfig(
        vocab_size=len(MARKS) + len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=320, initializer_range=0.5, **changes,
    )  # fmt: skip


def _save(model: Any, folder: Path, **further: Any) -> Path:
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertTokenizerFast

    folder.mkdir(parents=True)
    model.save_pretrained(folder)
    vocabulary = {word: code for code, word in enumerate([*MARKS, *WORDS])}
    pieces = BertWordPieceTokenizer(vocabulary, lowercase=True)
    named = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]"}
    tokens = BertTokenizerFast(
        tokenizer_object=pieces._tokenizer, mask_token="[MASK]", model_max_length=128, **named
    )
    tokens.save_pretrained(folder)
    if further:
        _add_tensors(folder, further)
    return folder


def _add_tensors(folder: Path, further: dict[str, Any]) -> None:
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    save_file({**load_file(path), **further}, path, {"format": "pt"})


def encoder(folder: Path) -> Path:
    """A bi-encoder: sentence-transformers takes the mean of its token vectors."""
    import torch
    from transformers import BertModel

    torch.manual_seed(1)
    return _save(BertModel(_config()), folder)


def sentence_encoder(folder: Path) -> Path:
    """The same with a list of modules, as MiniLM has it: the mean of the token vectors, of length 1."""
    import json

    made = encoder(folder)
    places = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    modules = [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (kind, path) in enumerate(places.items())
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling))
    return made


def cross_encoder(folder: Path) -> Path:
    import torch
    from transformers import BertForSequenceClassification

    torch.manual_seed(2)
    return _save(BertForSequenceClassification(_config(num_labels=1)), folder)


def splade(folder: Path) -> Path:
    import torch
    from transformers import BertForMaskedLM

    torch.manual_seed(3)
    return _save(BertForMaskedLM(_config()), folder)


def unicoil(folder: Path) -> Path:
    import torch
    from transformers import BertModel

    torch.manual_seed(4)
    head = {"tok_proj.weight": torch.randn(1, 16), "tok_proj.bias": torch.tensor([4.0])}
    return _save(BertModel(_config()), folder, **head)


def colbert(folder: Path) -> Path:
    import json

    import torch
    from transformers import BertModel

    torch.manual_seed(5)
    made = _save(BertModel(_config()), folder, **{"linear.weight": torch.randn(8, 16)})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["HF_ColBERT"]}))
    return made
