"""Data: a recording or a visitor's own file, its hidden states, and all of it to take away."""

import streamlit as st

from dashboard.compute.fits import FitRequest, Fitted, ReadRequest
from dashboard.figures import fitted as figures
from dashboard.figures import fitted_solid, fitted_timeline
from dashboard.figures.common import WRONG
from dashboard.figures.states import legend
from dashboard.model.analysis import (
    AS_IT_IS,
    AUTO,
    EM,
    FILE,
    OFFERED,
    RECENTRED,
    SHIPPED,
    SIMULATED,
    TIED,
    shipped,
)
from dashboard.model.experiment import Experiment
from dashboard.model.view import MOST_WIDE, clamped_timeline, turned_timeline
from dashboard.server import uploads
from dashboard.text import columns, emg
from dashboard.text import fitted as words
from dashboard.ui import controls, downloads, sync
from dashboard.ui.chain_component import chain_diagram
from dashboard.ui.charts import chart
from dashboard.ui.job_view import SELDOM, follow, leave, request
from dashboard.ui.own_data import MOST_BYTES, MOST_MEGABYTES
from dashboard.ui.read_controls import read_controls
from dashboard.ui.session import visitor, visitor_id

controls.data_sidebar()

st.title("The states behind your data")
st.caption(
    "Choose a recording or give a file of your own. A hidden Markov model finds the states in it, "
    "says when each of them happened and how sure that is."
)
controls.link_warnings()

me = visitor()
mine = me.data


def choose_source() -> None:
    def choose(key: str | None) -> None:
        if key == FILE:
            me.propose(me.analysis, recording=FILE)
        elif key in OFFERED:
            me.propose(me.analysis, recording=key, states=str(OFFERED[key].states))

    chosen = me.analysis["recording"]
    first = next(iter(SIMULATED))  # stands for all of them in the first row
    titles = {key: one.title for key, one in SHIPPED.items()}
    titles |= {first: "Simulated", FILE: "Your file"}
    sync.widget(
        st.segmented_control, "recording", "Recording", first if chosen in SIMULATED else chosen,
        choose, options=list(titles), format_func=titles.get, label_visibility="collapsed",
    )  # fmt: skip
    if chosen in SIMULATED:
        spaces = {key: one.title for key, one in SIMULATED.items()}
        sync.widget(
            st.segmented_control, "simulated", "Simulated on", chosen, choose,
            options=list(spaces), format_func=spaces.get,
        )  # fmt: skip
        st.markdown(words.SIMULATED)
    else:
        sync.hide("simulated")


SHARPER = {
    "emg": {"method": EM, "shape": TIED, "centring": RECENTRED},
    "emg_refitted": {"method": AUTO, "shape": TIED, "centring": AS_IT_IS},
}
"""What the button beside a story sets."""


def show_sharper(key: str) -> None:
    me.propose(me.analysis, **SHARPER[key])


def is_sharper(key: str) -> bool:
    now = me.analysis.valid
    return all(getattr(now, name) == value for name, value in SHARPER[key].items())


def tell_story(key: str) -> None:
    story = words.STORIES[key]
    st.markdown(f"{story.about} {story.states}")
    if key in SHARPER:
        st.button(words.SHARPER[key], on_click=show_sharper, args=(key,), disabled=is_sharper(key))
    if key.startswith("emg"):
        with st.expander(emg.TITLE):
            st.html(columns.table_html(emg.table(), emg.TITLE))
            st.markdown(emg.words())
    with st.expander("Who made it, its licence, and how it was processed"):
        st.markdown(words.origin(shipped(key).recording))


def give_file() -> None:
    mine.grant = mine.grant or uploads.Grant(visitor_id(), MOST_BYTES)
    key = f"file-{mine.uploads}"

    def take() -> None:
        given = st.session_state.get(key)
        if given is not None:
            mine.take(given.name, given.getvalue())
            uploads.let_go(visitor_id())

    st.file_uploader(
        "Drop a file here" if mine.file is None else "Drop another file here",
        key=key, on_change=take, max_upload_size=MOST_MEGABYTES, help=words.FORMATS,
    )  # fmt: skip
    if mine.problem is not None and mine.file is not None:
        st.error(words.refusal(mine.file, mine.problem))
        if mine.problem.rows:
            with st.expander(f"All wrong rows ({len(mine.problem.rows):,})", expanded=True):
                st.html(columns.table_html(words.wrong_rows(mine.problem), "Wrong rows"))
                st.caption(words.further_rows(mine.problem))
    st.caption(words.KEPT)


def tell_file() -> None:
    """What was found in the file, and the controls that change it."""
    if mine.file is None:
        return
    if mine.report is not None and mine.held is not None and mine.problem is None:
        st.markdown(words.found_in(mine.file, mine.report, mine.held))
        if mine.report.notes:
            st.markdown(words.notes(mine.report))
    with st.expander("Read it in another way", expanded=mine.problem is not None):
        read_controls()
    st.button("Remove the file", on_click=mine.remove)


def current() -> ReadRequest | FitRequest | None:
    """What the page needs next; None without a recording."""
    now = me.analysis.valid
    held = mine.held
    if now.recording == FILE:
        if mine.to_read is not None:
            return mine.to_read
    else:
        held = shipped(now.recording)
    if held is None:
        return None
    is_recentred = now.centring == RECENTRED
    return FitRequest(held, now.n_states, now.method, now.emission, is_recentred)


def show(progress) -> None:
    result = progress.result
    if not isinstance(result, Fitted):
        return
    st.markdown(words.summary(result))
    show_reference(result)
    st.html(columns.table_html(words.states_table(result), "The states"))
    show_map(result)
    st.subheader(
        "When each state happened",
        help="In the lower picture the heights are the probabilities of the states, given "
        f"{'those until then' if result.request.method == AUTO else 'all observations'}.",
    )
    show_timeline(result)
    if result.request.held.is_of_matrices:
        show_means(result)
    show_stays(result)
    st.subheader("Take it away")
    downloads.fitted_files_row(result)
    st.caption("Every figure has an SVG of itself in the bar above it.")


def show_reference(fitted: Fitted) -> None:
    if controls.asks_for_reference(me.analysis, has_labels=fitted.reference is not None):
        st.markdown(words.reference(fitted.reference))


def show_map(fitted: Fitted) -> None:
    with st.container(key="data-pictures"):
        with st.container(key="data-map"):
            st.subheader("Where the observations lie")
            with st.container(key="data-map-box"):
                if fitted.picture.is_solid:
                    drawing, alt = (
                        fitted_solid.ball_figure(fitted),
                        fitted_solid.ball_in_words(fitted),
                    )
                else:
                    drawing, alt = figures.map_figure(fitted), figures.map_in_words(fitted)
                chart(drawing, key="data-map-figure", height="stretch", alt=alt)
        with st.container(key="data-chain"):
            st.subheader("How states follow each other", help=columns.TRANSMAT.definition)
            chain_diagram(figures.chain(fitted), key="data-chain-picture")
    st.html(legend(fitted.n_states, f"<br>{words.map_note(fitted)}"))


@st.fragment
def show_timeline(fitted: Fitted) -> None:
    length = len(fitted.states)
    window = clamped_timeline(mine.timeline, mine.timeline, length)

    def moved(asked) -> None:
        mine.timeline = clamped_timeline(asked, window, length)

    def turn(pages: int) -> None:
        mine.timeline = turned_timeline(window, pages, length)

    overview = fitted_timeline.overview(fitted)
    chart(overview, key="data-overview", alt=f"The states of all {length:,} observations.")
    stride, has_lines = fitted_timeline.stride_of(fitted), fitted_timeline.shows_sequences(fitted)
    st.caption(words.overview_note(stride, has_lines, fitted.restarts))
    if length > 2:
        sync.widget(
            st.slider, f"data-timeline-{length}", f"A part of it, at most {MOST_WIDE} at once",
            window, moved, min_value=1, max_value=length,
        )  # fmt: skip
    with st.container(horizontal=True):
        st.button("Earlier", on_click=turn, args=(-1,), disabled=window[0] == 1)
        st.button("Later", on_click=turn, args=(1,), disabled=window[1] == length)
    if fitted.agreement is not None:
        mark = f'<span style="color:{WRONG}">▲</span>'
        st.html(f'<p class="legend"><span>{mark} differs from the label</span></p>')
    chart(fitted_timeline.timeline(fitted, window), key="data-timeline-figure",
          alt=fitted_timeline.timeline_in_words(fitted, window))  # fmt: skip


def show_means(fitted: Fitted) -> None:
    st.subheader("What each state looks like")
    st.markdown(words.means_note(fitted))
    if fitted.recording.manifold.size == 3:
        with st.container(key="data-ellipsoids"):
            chart(fitted_solid.ellipsoids_figure(fitted), key="ellipsoids", height="stretch",
                  alt=fitted_solid.ellipsoids_in_words(fitted))  # fmt: skip
    with st.container(key="panels-roomy-means"):
        for state, drawing in enumerate(figures.mean_figures(fitted)):
            with st.container(key=f"panel-roomy-means-{state}"):
                chart(drawing, key=f"mean-{state}", height="stretch",
                      alt=figures.mean_in_words(fitted, state))  # fmt: skip


def show_stays(fitted: Fitted) -> None:
    curve = mine.curve[1] if mine.curve and mine.curve[0] == fitted.request.data else None
    places = st.columns(2) if curve else [st.container()]
    with places[0]:
        st.subheader("How long states stay")
        chart(figures.stays_figure(fitted), key="stays", alt=figures.stays_in_words(fitted))
        st.caption("A box holds the middle half of all visits, whiskers all; dashed is the mean.")
    if curve:
        with places[1]:
            st.subheader("How many states")
            told = words.how_many(curve)
            chart(figures.curve_figure(curve, fitted.n_states), key="curve", alt=told)
            st.caption(told)


def opens_in_the_lab() -> None:
    """The way to the pages that learn the same recording online."""
    now = me.analysis.valid
    recording = mine.online if now.recording == FILE else now.recording
    if recording is None:
        if mine.held is not None:
            st.caption(words.TOO_SHORT)
        return
    states = now.n_states if isinstance(now.n_states, int) else None  # what BIC finds comes later
    experiment = Experiment.of_recording(recording, states)
    st.page_link(
        "experiment/live.py",
        label="Open in the Live lab: learned online, step by step",
        query_params=me.query(experiment),
    )


choose_source()
if me.analysis.valid.recording == FILE:
    give_file()
else:
    mine.grant = None  # no uploader, no files
    if me.analysis.valid.recording in SHIPPED:
        tell_story(me.analysis.valid.recording)

wanted = current()
job = None if wanted is None else request(wanted)
if isinstance(wanted, ReadRequest) and job is not None and job.finished:
    mine.accept(wanted, job.progress.result)
    st.rerun()  # what is wrong with the file is said beside the uploader
if me.analysis.valid.recording == FILE:
    tell_file()
if job is None:
    leave()
else:
    if job.finished:
        mine.compare_counts(job.progress.result)
    follow(job, current, show, every=SELDOM)
opens_in_the_lab()
