"""Compare: online learners, EM, K-means and the ceiling on the same data, and why they differ."""

from html import escape

import streamlit as st

from dashboard.compute.measures import posteriors
from dashboard.figures import compare
from dashboard.figures.common import WRONG
from dashboard.figures.states import legend
from dashboard.model.methods import method_name
from dashboard.model.model_checks import indexed
from dashboard.model.spaces.registry import SPACES
from dashboard.model.view import MOST_WIDE, clamped_timeline, turned_timeline
from dashboard.text import ceiling, columns, explanations, tables
from dashboard.ui import controls, downloads, sync
from dashboard.ui.charts import chart
from dashboard.ui.job_view import SELDOM, follow_experiment, has_ended, request
from dashboard.ui.session import visitor

NOTHING_YET = "No method has finished yet: words and pictures come with the first result."

WHOLE = -1
"""Among the states on which maps can be centred: none of them."""

controls.sidebar()

st.title("Online, EM and K-means on the same data")
controls.link_warnings()

me = visitor()
job = request(me.experiment.valid)


def show(run) -> None:
    st.html(columns.table_html(tables.methods_table(run), "Results of all methods"))
    controls.reference_of(run)
    st.caption(ceiling.of_this_chain(run))

    st.subheader("Why do they differ?")
    sentences = explanations.why_they_differ(run)
    st.markdown("\n".join(f"- {sentence}" for sentence in sentences) or NOTHING_YET)
    if run.methods:
        show_results(run)
    downloads.run_files(run, ended=run.finished or has_ended(job))


def show_results(run) -> None:
    is_recorded = run.experiment.is_recorded
    words = run.experiment.observed_in.words

    st.subheader("What each of them sees")
    centre = choose_centre(run.experiment)
    pictures = compare.pictures(run, centre)
    note = compare.chart_of(run, centre).note
    crosses = "" if is_recorded else "<span>✕ true mean</span>"
    shapes = explanations.SHAPES if run.experiment.has_shapes else ""
    st.html(
        legend(
            run.experiment.n_states,
            f"{crosses}<br>{words.estimates} {shapes}{note} {labels_in_words(run)}",
        )
    )
    panels("maps", run, pictures.maps, compare.map_in_words)

    if run.experiment.n_states > 1:
        show_matrices(run, pictures)

    st.subheader(columns.LOG_LIKELIHOOD.name, help=columns.LOG_LIKELIHOOD.definition)
    st.caption(explanations.EMS_START)
    show_likelihood(run, pictures)

    against = ", against the labels" if run.has_labels else ""
    st.subheader(f"State by state{against if is_recorded else ', against the truth'}")
    show_timeline(run)


def choose_centre(experiment) -> int | None:
    """The state whose mean is to be in the middle of the maps; None for the whole map."""
    if experiment.is_recorded:
        return None
    space = SPACES[experiment.space]
    if space.centred_chart(experiment.means[0]) is None:
        return None
    chosen = st.segmented_control(
        "Centre the maps on",
        [WHOLE, *range(experiment.n_states)],
        default=0 if space.is_cramped(experiment.means) else WHOLE,
        required=True,
        format_func=lambda i: f"Whole {space.words.noun}" if i == WHOLE else indexed("c", i),
        key=f"centre-{experiment.means}",  # another truth begins with its own best view
        help="cᵢ is the true mean of state i. Near the edge of the map everything looks small: "
        "centre on a mean to see what is around it. No distance changes.",
    )
    return None if chosen == WHOLE else chosen


def panels(kind: str, run, drawings: dict, in_words) -> None:
    """One figure for each method, in the same order everywhere."""
    with st.container(key=f"panels-{kind}"):
        for key in run.experiment.methods:
            with st.container(key=f"panel-{kind}-{key}"):
                if key not in drawings:
                    st.markdown(f"**{method_name(key)}:** no result yet.")
                    continue
                chart(
                    drawings[key],
                    key=f"{kind}-{key}",
                    height="stretch",
                    alt=in_words(run, run.method(key)),
                )


def show_matrices(run, pictures: compare.Pictures) -> None:
    size = "roomy" if run.experiment.n_states > 4 else "small"
    st.subheader(
        "Transition matrices",
        help="Row i, column j of A: the probability that state j follows state i. Â is what a "
        f"method has learned. {columns.TRANSITION_ERROR.definition}",
    )
    is_recorded = run.experiment.is_recorded
    if not is_recorded:
        st.markdown("What each method learned, and below it how far that is from the true A.")
    panels(f"{size}-transitions", run, pictures.transitions, compare.transitions_in_words)
    if not is_recorded:
        panels(f"{size}-errors", run, pictures.errors, compare.errors_in_words)
    if not run.has_labels:
        return
    meaning = columns.AGREEMENT if is_recorded else columns.ACCURACY
    st.subheader("Which states are confused", help=meaning.definition)
    if is_recorded:
        st.markdown("Of 100 observations of each label, how many are taken for each state.")
    else:
        st.markdown("Of 100 observations of each true state, how many get each label.")
    panels(f"{size}-confusions", run, pictures.confusions, compare.confusions_in_words)


def labels_in_words(run) -> str:
    """Which label each state is matched with, in HTML."""
    names = run.experiment.label_names
    listed = ", ".join(f"{i + 1} {escape(name)}" for i, name in enumerate(names))
    return f"Labels, in the order of the states matched with them: {listed}." if names else ""


def show_likelihood(run, pictures: compare.Pictures) -> None:
    shown = {"From EM’s own start to the end": pictures.likelihood}
    if pictures.likelihood_closer is not None:
        shown["The end, closer"] = pictures.likelihood_closer
    for column, (title, figure) in zip(st.columns(len(shown)), shown.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            chart(figure, key=title, alt=compare.likelihood_in_words(run))


def wrong_mark(run) -> str:
    if not run.has_labels:
        return ""
    meaning = "differs from the label" if run.experiment.is_recorded else "wrong state"
    return f'<span><span style="color:{WRONG}">▲</span> below a strip: {meaning}</span>'


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
            f"{wrong_mark(run)}<br>Heights are the probabilities of the states given all "
            "observations; K-means has none, only labels.",
        )
    )
    chart(
        compare.kept_timeline(run, posteriors(run), window),
        key="timeline-figure",
        alt=compare.timeline_in_words(run, window),
    )


follow_experiment(job, show, every=SELDOM)
