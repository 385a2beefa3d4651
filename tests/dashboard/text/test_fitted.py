import numpy as np
import pytest

from dashboard.compute import recording_map
from dashboard.compute.counting import Curve
from dashboard.model.analysis import SHIPPED, HeldFile, shipped
from dashboard.text import fitted as words
from rhmm import Hyperbolic, RiemannianHMM
from rhmm.reading import Report, WrongFileError, WrongRow
from tests.dashboard.made_recordings import (
    disk_fit,
    fitted,
    matrix_fit,
    matrix_model,
    of_matrices,
    of_the_disk,
)

FILE = HeldFile.of("walk.csv", b"x" * 2_000)


def test_every_shipped_recording_has_a_story_and_its_origin():
    assert set(words.STORIES) == set(SHIPPED)
    for key in SHIPPED:
        about = words.origin(shipped(key).recording)
        assert "**Source.**" in about
        assert "**Licence.**" in about
        assert "**How it was processed.**" in about


def test_what_was_detected_is_one_sentence_with_missing_observations_and_roles():
    report = Report("csv", "hyperbolic", "points", label="activity", time="t")

    text = words.found_in(FILE, report, of_the_disk())

    assert text == (
        "**walk.csv** (CSV, 2.0 KB): 300 observations on Hyperbolic(2) in 2 sequences, 1 of them "
        "missing. Each row holds the coordinates of a point. With labels from “activity” and times "
        "from “t”."
    )


def test_names_in_a_file_are_no_markdown():
    file = HeldFile.of("my*best*file.csv", b"")
    problem = WrongFileError("the column '$x_1$' is wrong: correct it")

    said = words.refusal(file, problem)

    assert said == "my\\*best\\*file.csv: the column '\\$x\\_1\\$' is wrong: correct it."


def test_a_refusal_names_the_file_and_every_wrong_row():
    problem = WrongFileError("2 of 9 lines are wrong", [WrongRow(3, "no"), WrongRow(5, "nor")])

    assert words.refusal(FILE, problem) == "walk.csv: 2 of 9 lines are wrong."
    assert words.wrong_rows(problem) == {"Row": ["3", "5"], "Why": ["no", "nor"]}
    assert words.further_rows(problem) == ""


def test_of_very_many_wrong_rows_the_first_are_listed_and_the_others_counted():
    problem = WrongFileError("all", [WrongRow(k, "no") for k in range(1_250)])

    assert len(words.wrong_rows(problem)["Row"]) == 200
    assert words.further_rows(problem) == "And 1,050 more."


def test_the_table_has_the_shares_visits_and_labels_of_the_states():
    result = disk_fit()

    table = words.states_table(result)

    assert list(table) == [
        "State", "Label", "Share (%)", "Visits", "Mean stay", "σ", "Mean",
    ]  # fmt: skip
    assert table["Label"] == ["rest", "walk", "run"]
    shares = np.bincount(result.states) / 300
    assert table["Share (%)"] == [f"{100 * share:.2f}" for share in shares]
    stays = shares[0] * 300 / int(table["Visits"][0])
    assert table["Mean stay"][0] == f"{stays:.1f}"
    assert table["Mean"][1] == "(0.290, 0.820)"


def test_matrices_without_labels_have_neither_labels_nor_accuracy():
    assert list(words.states_table(matrix_fit())) == [
        "State", "Share (%)", "Visits", "Mean stay", "σ",
    ]  # fmt: skip
    assert "labels" not in words.summary(matrix_fit())
    assert words.summary(matrix_fit()).startswith("log p = ")


def test_the_agreement_with_the_labels_is_said():
    share = f"{100 * disk_fit().agreement.accuracy:.2f} %"

    assert f"agree with **{share}** of the labels" in words.summary(disk_fit())


@pytest.mark.parametrize("most", [60, 4_000])
def test_the_map_says_how_much_it_shows_and_what_is_left_out(monkeypatch, most):
    monkeypatch.setattr(recording_map, "MOST_DRAWN", most)
    result = fitted(of_matrices(), matrix_model())

    note = words.map_note(result)

    assert f"{100 * result.picture.share:.2f} % of their variance" in note
    assert ("50 of 200 observations are drawn" in note) == (most == 60)
    assert "The disk is its own map" in words.map_note(disk_fit())


def test_every_criterion_says_why_and_the_choice_stays_the_visitors():
    values = {"bic": np.array([2.0, 1.0])}
    curve = Curve(np.array([1, 2]), values, ("BIC is least with 2 states.",), 3)

    told = words.how_many(curve)

    assert told.startswith("BIC is least with 2 states. The streaming learner, which lets")
    assert "in one pass, ends with 3 states." in told
    assert "“prediction” holds observations out" in told
    assert told.endswith("the choice is yours.")
    both = curve._replace(values=values | {"predictive": values["bic"]}, online=None)
    assert "streaming" not in words.how_many(both)
    assert "foretells best, and often takes more" in words.how_many(both)


def test_what_labels_are_worth_is_said():
    told = words.reference(0.75)
    assert "was taught the labels" in told
    assert "**75.00 %**" in told


def test_heavy_tails_say_how_heavy_they_are():
    model = RiemannianHMM.from_parameters(
        Hyperbolic(2), [1.0], [[1.0]], [[0.3, 0.2]], emission="student", covariances=[0.4],
        degrees=3.26,
    )  # fmt: skip

    assert "ν = 3.3 degrees of freedom" in words.summary(fitted(of_the_disk(), model))


def test_thinning_of_the_whole_recording_is_said():
    whole = "All observations from the first to the last."
    assert words.overview_note(1, has_lines=False) == whole
    assert "One observation of 3 is drawn" in words.overview_note(3, has_lines=False)
    assert "where sequences end" in words.overview_note(1, has_lines=True)
    anew = words.overview_note(1, False, (1_540, 2_000))
    assert anew.endswith("started anew after observation 1,540 and 2,000.")


def test_the_means_of_matrices_are_explained_as_they_are_drawn():
    assert "correlations" in words.means_note(matrix_fit())
    ellipses = fitted(of_matrices(60, size=2), matrix_model(2))
    assert "ellipse" in words.means_note(ellipses)
