"""What each recording is, in words and numbers."""

from collections.abc import Sequence

from rhmm.datasets.dataset import Dataset, load, spd
from rhmm.validation import check_choice

EMG_SESSIONS = ("mg_s1", "mg_s2", "rr_s1", "rr_s2")
"""Two people, mg and rr, each in two sessions."""

EMG_LABELS = ("rest", "rock", "paper", "scissors", "ok")
EMG_LENGTH = 100
EMG_CYCLES = 6
"""Recordings of each session."""

WATCH_LABELS = ("PEN", "ABD", "FEL", "IR", "ER", "TRAP", "ROW")
GRAVITY = 9.80665
"""The unit of the watch's acceleration, in m/s²."""
WATCH_CHANNELS = {"ax": GRAVITY, "ay": GRAVITY, "az": GRAVITY, "wx": 1.0, "wy": 1.0, "wz": 1.0}
"""Each with its unit in ours, m/s² and rad/s: in g, shrinkage would drown the acceleration."""
WATCH_LENGTH = 100
WATCH_STEP = 1e-6
"""The recording has six digits behind the point."""

WEATHER_LABELS = ("winter", "spring", "summer", "autumn")
WEATHER_CHANNELS = {
    # each with its column in the public file, the step of its numbers there, and that step in our
    # units, in which the channels vary about equally: shrinkage would drown a smaller one
    "sunshine (100 W/m²)": ("GHI (W/m^2)", 1.0, 0.01),
    "temperature (°C)": ("Dry-bulb (C)", 0.1, 0.1),
    "dew point (°C)": ("Dew-point (C)", 0.1, 0.1),
    "pressure (mbar)": ("Pressure (mbar)", 1.0, 1.0),
    "wind (m/s)": ("Wspd (m/s)", 0.1, 0.1),
}
WEATHER_LENGTH = 24
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def load_emg(sessions: Sequence[str] = EMG_SESSIONS) -> Dataset:
    """Eight electrodes around a forearm while a hand makes five signs; points on SPD(8).

    Each of the `sessions` has six recordings of 125 seconds, which are the sequences.
    """
    if isinstance(sessions, str):
        raise ValueError(f"sessions must be a list such as [{sessions!r}], not {sessions!r}")
    for session in sessions:
        check_choice("sessions", session, EMG_SESSIONS)
    if not sessions:
        raise ValueError(f"sessions must name at least one of {', '.join(EMG_SESSIONS)}")
    windows = load([f"emg_{session}" for session in sessions])
    return Dataset(
        **spd(windows, EMG_LENGTH, [1.0] * 8),
        name="emg",
        sequence_names=tuple(
            f"{session}, cycle {cycle}"
            for session in sessions
            for cycle in range(1, EMG_CYCLES + 1)
        ),
        label_names=EMG_LABELS,
        channels=tuple(f"electrode {number}" for number in range(8)),
        description=(
            "Surface electromyograms of two people (mg, rr) in two sessions each, at about 244 Hz. "
            "A recording is one cycle of rest, rock, paper, scissors and ok, 25 seconds each. "
            "Windows of 100 samples side by side; their covariances with OAS shrinkage. The label "
            "of a window is the most frequent one in it. In cycles 5 and 6 of mg_s1 the electrodes "
            "are shifted by one against the cycles before."
        ),
        source="geomstats 2.8.0, geomstats/datasets/data/emg/emg.csv",
        licence="MIT",
    )


def load_watch() -> Dataset:
    """Six axes of a watch during seven exercises of the shoulder; points on SPD(6).

    Each of the 140 sequences is one exercise of one person with one arm.
    """
    windows = load(["watch"])
    firsts = windows.lengths.cumsum() - windows.lengths
    exercises = (WATCH_LABELS[label] for label in windows.labels[firsts])
    return Dataset(
        **spd(windows, WATCH_LENGTH, [WATCH_STEP * unit for unit in WATCH_CHANNELS.values()]),
        name="watch",
        sequence_names=tuple(f"{number}: {name}" for number, name in enumerate(exercises, start=1)),
        label_names=WATCH_LABELS,
        channels=tuple(WATCH_CHANNELS),
        description=(
            "Acceleration in m/s² (ax, ay, az) and angular velocity in rad/s (wx, wy, wz) at the "
            "wrist at 50 Hz. Ten people did seven exercises of the shoulder, some twenty times in "
            "a row, with each arm. Windows of 100 samples, two seconds, side by side; their "
            "covariances with OAS shrinkage."
        ),
        source=(
            "David Burns, seglearn 1.2.5, seglearn/data/watch_dataset.npy; the study is "
            "arXiv:1802.01489"
        ),
        licence="BSD-3-Clause",
    )


def load_weather() -> Dataset:
    """How sunshine, temperature, dew point, pressure and wind move together in a day; on SPD(5).

    Each of the 12 sequences is a month, and each observation a day.
    """
    windows = load(["weather"])
    return Dataset(
        **spd(windows, WEATHER_LENGTH, [scale for *_, scale in WEATHER_CHANNELS.values()]),
        name="weather",
        sequence_names=MONTHS,
        label_names=WEATHER_LABELS,
        channels=tuple(WEATHER_CHANNELS),
        description=(
            "Hourly sunshine (global radiation), temperature, dew point, pressure and wind in "
            "Greensboro, North Carolina. The months are of different years: each is the most "
            "typical of its kind (a typical meteorological year, TMY3). Covariances of 24 hours "
            "with OAS shrinkage; the label is the season."
        ),
        source=(
            "National Renewable Energy Laboratory, TMY3 station 723170; pvlib 0.16.1, "
            "pvlib/data/723170TYA.CSV"
        ),
        licence=(
            "BSD-3-Clause, that of pvlib, which ships the file; the file itself names none. Its "
            "numbers were made for the United States Department of Energy"
        ),
    )
