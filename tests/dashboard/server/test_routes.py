import pytest
import streamlit as st

from dashboard.server.routes import route


@pytest.mark.parametrize(
    ("prefix", "path"), [("", "/take/me"), ("lab", "/lab/take/me"), ("/a/b/", "/a/b/take/me")]
)
def test_an_address_lies_beside_the_pages(monkeypatch, prefix, path):
    monkeypatch.setattr(st, "get_option", {"server.baseUrlPath": prefix}.get)

    assert route("take/me", lambda request: None).path == path
