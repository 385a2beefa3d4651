"""The first page: what this is, and one chain on the Poincaré disk."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dashboard import figures
from rhmm.paper import paper_model

LENGTH = 2_000
SEED = 0


@st.cache_data(max_entries=1, show_spinner="Sampling the chain …")
def sampled_chain(length: int, seed: int) -> tuple[NDArray, NDArray, NDArray]:
    truth = paper_model()
    points, states = truth.sample(length, random_state=seed)
    return points, states, np.asarray(truth.means_)


text, picture = st.columns([2, 3], gap="large")

with text:
    st.title("Hidden Markov models on curved spaces")
    st.markdown(
        """
        A hidden Markov model sees a system only through noise. The system jumps between a few
        hidden states; each state scatters its observations around a mean of its own, and the
        observations are all we get.

        Here they do not live in flat space. **rhmm** learns such models where observations are
        points of a curved one: the hyperbolic plane, hyperbolic space of any dimension, or
        symmetric positive definite matrices such as covariances.
        """
    )

with picture:
    points, states, means = sampled_chain(LENGTH, SEED)
    with st.container(key="disk"):
        st.plotly_chart(
            figures.poincare_disk(points, states, means),
            height="stretch",
            config={"displaylogo": False},
            alt=(
                f"{LENGTH:,} points in the Poincaré disk in three clouds, one for each hidden "
                "state: a tight one at the centre, two wide ones near the upper boundary."
            ),
        )
    st.markdown(
        f"A chain of {LENGTH:,} observations with three hidden states in the Poincaré disk. "
        "The circle is infinitely far away: the clouds squeezed against it are in truth the "
        "wide ones."
    )
