"""Opens the house. Start with `streamlit run app.py`; what visitors see begins in pages/.

The script that Streamlit runs for visitors must not lie beside a folder called pages: until the
first visitor has come, Streamlit would take every link to a page for a broken one. So the server is
made here, and that script is pages/navigation.py.
"""

from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware

from dashboard import desk, takeaway
from dashboard.canvas import program
from dashboard.latecomers import Latecomers
from dashboard.routes import route


@asynccontextmanager
async def lifespan(app):
    desk.warm_up()
    yield


app = st.App(
    "pages/navigation.py",
    lifespan=lifespan,
    routes=[route(program.ADDRESS, program.serve), takeaway.route()],
    middleware=[Middleware(Latecomers), Middleware(program.Preload)],
)
