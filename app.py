"""The server. Start it with `streamlit run app.py`; what visitors see begins in pages/.

The script that Streamlit runs for visitors must not lie beside a folder called pages: until the
first visitor has come, Streamlit would take every link to a page for a broken one. So this file
only makes the server, and that script is pages/navigation.py.
"""

import asyncio
from contextlib import asynccontextmanager
from threading import Thread

import streamlit as st
from starlette.middleware import Middleware

from dashboard.canvas import program
from dashboard.compute import data_workers, kernels, queues, run_workers, stream_workers
from dashboard.server import flows, left_sessions, offers
from dashboard.server.doors import Doors
from dashboard.server.routes import route
from dashboard.server.stale_requests import StaleRequests
from dashboard.server.unreadable_values import UnreadableValues


@asynccontextmanager
async def lifespan(app):
    run_workers.start()
    data_workers.start()
    queues.warm_up()
    Thread(target=queues.load_kernels, daemon=True).start()
    dropping = asyncio.create_task(left_sessions.drop_regularly())
    yield
    dropping.cancel()
    run_workers.stop()
    data_workers.stop()
    stream_workers.workers().close()
    kernels.compilers().close()


app = st.App(
    "pages/navigation.py",
    lifespan=lifespan,
    routes=[route(program.ADDRESS, program.serve), offers.route(), flows.route()],
    middleware=[
        Middleware(Doors),
        Middleware(UnreadableValues),
        Middleware(StaleRequests),
        Middleware(program.Preload),
    ],
)
