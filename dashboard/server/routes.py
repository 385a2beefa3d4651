"""Addresses beside those of the pages, for what a browser fetches without Streamlit."""

from collections.abc import Awaitable, Callable

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def path_to(address: str) -> str:
    """The path of an address that is relative to a page: all pages lie side by side."""
    prefix = st.get_option("server.baseUrlPath").strip("/")
    return f"/{prefix}/{address}" if prefix else f"/{address}"


def route(address: str, serve: Callable[[Request], Awaitable[Response]]) -> Route:
    """A route to an address that is relative to a page."""
    return Route(path_to(address), serve)
