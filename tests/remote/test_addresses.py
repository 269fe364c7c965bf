"""Addresses and credentials: what is read, and what is never shown."""

from __future__ import annotations

import pytest

from evenrank.errors import EvenrankWarning, ParameterError
from evenrank.remote import Secrets, parse_address


def test_userinfo_is_left_out_and_not_repeated() -> None:
    with pytest.warns(EvenrankWarning) as caught:
        address = parse_address("opensearch+https://me:hunter2@host:9200/shop?rate=3")
    assert (address.kind, address.origin, address.path) == ("opensearch", "https://host:9200", "/shop")
    assert "hunter2" not in str(caught[0].message) + str(address) + repr(address)
    assert "EVENRANK_PASSWORD" in str(caught[0].message)


@pytest.mark.parametrize(
    "text",
    [
        "http://me:hunter2@host:99999/x",
        "http://me:hunter2@/x",
        "http://a:hunter2@h/#f",
        "http://a:1/hunter2@h/x",
    ],
)
def test_a_bad_address_is_not_repeated_with_its_password(text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        parse_address(text)
    assert "hunter2" not in str(caught.value)


def test_only_variables_of_ours_are_read() -> None:
    for name in ("HOME", "AWS_SECRET_ACCESS_KEY", "EVENRANK_", "hunter2"):
        with pytest.raises(ParameterError) as caught:
            Secrets({"password": name}, {name: "x"})
        assert name not in str(caught.value).replace("EVENRANK_ ", "") or name == "EVENRANK_"
    with pytest.raises(ParameterError, match="EVENRANK_KEY, which is not set"):
        Secrets({"api_key": "EVENRANK_KEY"}, {})


def test_every_form_of_a_secret_is_hidden() -> None:
    import base64
    from urllib.parse import quote

    secrets = Secrets(
        {"user": "EVENRANK_U", "password": "EVENRANK_P"}, {"EVENRANK_U": "me", "EVENRANK_P": "a b/ü"}
    )
    pair = base64.b64encode("me:a b/ü".encode()).decode()
    for form in ("a b/ü", quote("a b/ü"), quote("a b/ü", safe=""), "a b/\\u00fc", pair):
        assert secrets.redact(f"<{form}>") == "<***>"
    assert "a b" not in repr(secrets)
