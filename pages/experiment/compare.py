"""Compare: online, EM, K-means and the ceiling on the same data, and why they differ."""

import streamlit as st

from dashboard.compute.measures import posteriors
from dashboard.figures import compare
from dashboard.figures.common import CONFIG, WRONG
from dashboard.figures.states import legend
from dashboard.model.methods import method_name
from dashboard.model.spaces.registry import SPACES
from dashboard.model.view import MOST_WIDE, clamped_timeline, turned_timeline
from dashboard.text import explanations, tables
from dashboard.ui import controls, downloads, sync
from dashboard.ui.job_view import POLL_BESIDE_CHARTS, follow_experiment, has_ended, request
from dashboard.ui.session import visitor

NOTHING_YET = "No method has finished yet: words and pictures come with the first result."

controls.sidebar()

st.title("Online, EM and K-means on the same data")
controls.link_warnings()

me = visitor()
job = request(me.experiment.valid)


def show(run) -> None:
    st.table(tables.methods_table(run))

    st.subheader("Why do they differ?")
    sentences = explanations.why_they_differ(run)
    st.markdown("\n".join(f"- {sentence}" for sentence in sentences) or NOTHING_YET)
    if run.methods:
        show_results(run)
    downloads.run_files(run, ended=run.finished or has_ended(job))


def show_results(run) -> None:
    pictures = compare.pictures(run)
    words = SPACES[run.experiment.space].words

    st.subheader("What each of them sees")
    st.html(
        legend(
            run.experiment.n_states,
            f"<span>✕ true mean</span><br>{words.estimates} {run.experiment.chart.note}",
        )
    )
    panels("maps", run, pictures.maps, compare.map_in_words)

    if run.experiment.n_states > 1:
        show_matrices(run, pictures)

    st.subheader("Log-likelihood per observation")
    show_likelihood(run, pictures)

    st.subheader("State by state, against the truth")
    show_timeline(run)


def panels(kind: str, run, drawings: dict, in_words) -> None:
    """One figure for each method, in the same order everywhere."""
    with st.container(key=f"panels-{kind}"):
        for key in run.experiment.methods:
            with st.container(key=f"panel-{kind}-{key}"):
                if key not in drawings:
                    st.markdown(f"**{method_name(key)}:** no result yet.")
                    continue
                st.plotly_chart(
                    drawings[key],
                    key=f"{kind}-{key}",
                    height="stretch",
                    config=CONFIG,
                    alt=in_words(run, run.method(key)),
                )


def show_matrices(run, pictures: compare.Pictures) -> None:
    size = "roomy" if run.experiment.n_states > 4 else "small"
    st.subheader("Transition matrices")
    st.markdown("What each method learned, and below it how far that is from the true A.")
    panels(f"{size}-transitions", run, pictures.transitions, compare.transitions_in_words)
    panels(f"{size}-errors", run, pictures.errors, compare.errors_in_words)

    st.subheader("Which states are confused")
    st.markdown("Of 100 observations of each true state, how many get each label.")
    panels(f"{size}-confusions", run, pictures.confusions, compare.confusions_in_words)


def show_likelihood(run, pictures: compare.Pictures) -> None:
    shown = {"From K-means’ start to the end": pictures.likelihood}
    if pictures.likelihood_closer is not None:
        shown["The end, closer"] = pictures.likelihood_closer
    for column, (title, figure) in zip(st.columns(len(shown)), shown.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            st.plotly_chart(figure, key=title, config=CONFIG, alt=compare.likelihood_in_words(run))


@st.fragment
def show_timeline(run) -> None:
    length = run.experiment.length
    kept = me.view.timeline
    window = clamped_timeline(kept, kept, length)

    def moved(asked):
        me.show(timeline=clamped_timeline(asked, window, length))

    def turn(pages: int):
        me.show(timeline=turned_timeline(window, pages, length))

    sync.widget(
        st.slider,
        f"timeline-{length}",  # a slider that ends elsewhere is another one to Streamlit
        f"Observations shown, at most {MOST_WIDE} at once",
        window,
        moved,
        min_value=1,
        max_value=length,
        help="Move one end further than that, and the other follows.",
    )
    with st.container(horizontal=True):
        st.button("Earlier", on_click=turn, args=(-1,), disabled=window[0] == 1)
        st.button("Later", on_click=turn, args=(1,), disabled=window[1] == length)
    st.html(
        legend(
            run.experiment.n_states,
            f'<span><span style="color:{WRONG}">▲</span> below a strip: wrong state</span>'
            "<br>Heights are the probabilities of the states given all observations; K-means has "
            "none, only labels.",
        )
    )
    st.plotly_chart(
        compare.timeline(run, posteriors(run), window),
        key="timeline-figure",
        config=CONFIG,
        alt=compare.timeline_in_words(run, window),
    )


follow_experiment(job, show, every=POLL_BESIDE_CHARTS)
