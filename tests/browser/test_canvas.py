"""The canvas of the Live lab alone, without a server: messages come when the test says so."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dashboard.canvas import messages
from dashboard.compute.runs import empty_run
from dashboard.model.experiment import Experiment
from dashboard.model.methods import WINDOWED
from dashboard.model.presets import PRESETS
from tests.browser.bench import Bench
from tests.canvas.ellipses import Ellipses
from tests.dashboard.made_runs import finished, first_rows

SMALL = Experiment(length=500, window=60)


def experiment_of(states: int) -> Experiment:
    law = (1 / states,) * states
    turns = np.arange(states) * 2 * np.pi / states
    means = tuple((round(0.7 * np.cos(a), 3), round(0.7 * np.sin(a), 3)) for a in turns)
    return replace(
        SMALL, transmat=(law,) * states, means=means, sigmas=(0.3,) * states, startprob=law
    )


@pytest.fixture
def bench(browser, modules):
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    yield Bench(context.new_page(), modules)
    context.close()


@pytest.fixture(scope="module")
def run():
    return finished(SMALL)


def test_a_run_that_was_stopped_is_replayed_on_every_screen(bench, run):
    begun = first_rows(run, len(run.path(WINDOWED).step) // 2)
    place = np.array([0.6, 0.8]) * (1 - 1e-9)  # in the disk, but not in single precision
    rim = np.broadcast_to(place, begun.path(WINDOWED).means.shape)
    stopped = begun._replace(paths_so_far={"windowed": begun.path(WINDOWED)._replace(means=rim)})
    last = begun.path(WINDOWED).step[-1]
    bench.receive(stopped, over=False)
    bench.wait_for(f"Number(lab.k) === {last} && lab.playing === 'true'")  # more may come

    bench.receive(stopped, over=True)
    bench.wait_for("lab.playing === 'false'")
    bench.click("play")
    bench.wait_for(f"lab.playing === 'true' && Number(lab.k) < {last}")

    pixels = "document.querySelector('canvas.map').width"
    before = bench.page.evaluate(pixels)
    # a little higher as well: else Chromium does not look at its media queries
    screen = {"width": 1200, "height": 901, "deviceScaleFactor": 2, "mobile": False}
    session = bench.page.context.new_cdp_session(bench.page)
    session.send("Emulation.setDeviceMetricsOverride", screen)
    bench.page.wait_for_function(f"{pixels} > 1.9 * {before}")
    assert bench.complaints == []


@pytest.mark.parametrize("moment", [None, 130])
def test_a_run_that_begins_anew_plays_or_stands_where_it_was_stopped(bench, run, moment):
    bench.receive(run)
    if moment is None:
        bench.page.locator(".scrub").fill("500")  # as when it has played
    else:
        bench.page.locator(".scrub").fill(str(moment))
    bench.wait_for("lab.playing === 'false'")

    bench.receive(empty_run(SMALL), over=False)
    bench.wait_for(f"lab.playing === '{'true' if moment is None else 'false'}'")
    bench.receive(run)

    k = 500 if moment is None else moment
    bench.wait_for(f"Number(lab.k) === {k} && lab.playing === 'false'")


def test_a_run_grows_by_what_is_new_of_it(bench, run):
    begun = first_rows(run, len(run.path(WINDOWED).step) // 2)
    bench.receive(run)
    shown = "JSON.stringify(document.querySelector('main').picture.run)"
    whole = bench.page.evaluate(shown)

    bench.receive(begun, over=False)
    bench.receive(run, version=2, before=begun)
    bench.receive(run, version=2, before=begun)  # as Streamlit does when the colours change

    grown = bench.page.evaluate(shown)
    assert json.loads(grown) == json.loads(whole) | {"version": 2, "continues": 1}
    assert [name for name, _ in bench.sent if name == "missing"] == []


def test_what_follows_a_message_that_was_lost_is_not_shown_but_asked_for(bench, run):
    begun = first_rows(run, 10)
    bench.receive(begun, over=False)

    bench.receive(run, version=3, before=begun)

    bench.wait_for(f"lab.k === '{begun.path(WINDOWED).step[-1]}'")
    assert [name for name, _ in bench.sent if name == "missing"] == ["missing"]
    bench.receive(run, version=4)
    bench.wait_for(f"Number(lab.k) > {begun.path(WINDOWED).step[-1]}")


def test_a_message_that_was_overtaken_does_not_take_the_picture_away(bench, run):
    bench.receive(run, over=False)
    bench.receive(run)

    bench.page.evaluate("window.unmounts[0]()")  # as Streamlit does when it comes late
    bench.wait_for("lab.playing === 'true' && Number(lab.painted) > 5")
    bench.page.evaluate("window.unmounts[1]()")

    assert bench.page.locator(".lab").count() == 0
    bench.page.keyboard.press("Space")
    assert bench.complaints == []


def test_a_picture_that_is_taken_off_the_page_for_a_moment_is_the_same_afterwards(bench, run):
    bench.receive(run)
    bench.page.locator(".scrub").fill("120")
    bench.take(1, -60, 90)
    held = bench.means()[1]
    assert held != list(SMALL.means[1])

    bench.page.evaluate("window.unmounts.at(-1)()")
    assert bench.page.locator(".lab").count() == 0
    bench.receive(run, version=2, before=run)

    bench.wait_for("lab.k === '120' && lab.playing === 'false'")
    assert bench.moves() == [{1: tuple(np.round(held, 3))}]
    bench.page.mouse.up()
    bench.page.mouse.move(20, 20)
    assert bench.means()[1] == np.round(held, 3).tolist()
    assert bench.complaints == []


def test_arrow_keys_are_not_lost_while_messages_come(bench, run):
    unfinished = run._replace(finished=False)
    bench.page.clock.install(time=0)
    bench.page.clock.pause_at(1000)  # from now on it goes only when told
    bench.receive(unfinished, over=False)
    handles = bench.page.locator(".handle")
    for state, key in ((0, "ArrowRight"), (1, "ArrowDown")):
        handles.nth(state).focus()
        bench.page.keyboard.press(key)
        bench.receive(unfinished, over=False)
    bench.page.clock.run_for(700)

    assert bench.moves() == [{0: (0.01, 0), 1: (0.29, 0.81)}]

    handles.nth(2).focus()
    bench.page.keyboard.press("ArrowUp")
    bench.receive(empty_run(replace(SMALL, **PRESETS["Two states"])), over=False)
    bench.page.clock.run_for(700)
    assert len(bench.moves()) == 1  # that state is no more
    assert bench.complaints == []


def test_a_mean_stays_where_it_was_dropped_until_that_was_acknowledged(bench, run):
    bench.receive(run)
    bench.drag(1, -60, 90)
    dropped = bench.means()[1]
    assert bench.moves() == [{1: tuple(dropped)}]

    bench.receive(run, over=False)  # sent before the drop had arrived
    assert bench.means()[1] == dropped

    bench.receive(run, acknowledged=1)  # it has arrived, and was refused
    assert bench.means() == [list(mean) for mean in SMALL.means]


def test_a_drop_that_is_pending_is_sent_again_with_the_next(bench, run):
    bench.receive(run)
    bench.drag(0, 80, 40)
    bench.drag(1, -60, 90)
    first, second, third = bench.means()

    assert bench.moves()[-1] == {0: tuple(first), 1: tuple(second)}

    means = (tuple(first), tuple(second), tuple(third))
    bench.receive(empty_run(replace(SMALL, means=means)), over=False, acknowledged=2)
    bench.drag(2, 60, 60)
    assert bench.moves()[-1] == {2: tuple(bench.means()[2])}


def test_drops_of_a_new_canvas_are_told_from_those_of_the_one_before(bench, run):
    bench.receive(run, acknowledged=7)
    bench.drag(1, -60, 90)
    dropped = bench.means()[1]

    bench.receive(run, over=False, acknowledged=7)

    assert bench.means()[1] == dropped


def test_a_model_with_fewer_states_may_come_before_its_cloud(bench, run):
    bench.receive(run)
    bench.give_cloud(run)
    bench.wait_for("Number(lab.painted) > 3")
    fewer = finished(replace(SMALL, **PRESETS["Two states"]))

    bench.receive(fewer)
    bench.wait_for(f"lab.run === '{messages.run_id(fewer)}' && lab.playing === 'true'")
    bench.wait_for(f"Number(lab.k) > {fewer.path(WINDOWED).step[0]}")
    bench.give_cloud(fewer)
    bench.wait_for(f"Number(lab.k) > {fewer.path(WINDOWED).step[10]}")

    assert bench.complaints == []


@pytest.mark.parametrize("name", ["em", "kmeans"])
def test_baselines_are_drawn_where_there_is_no_online_path(bench, name):
    bench.receive(finished(Experiment(length=500, window=500, algorithms=("windowed",))))
    bench.wait_for("lab.playing === 'false'")
    before = bench.disk()

    bench.page.locator(f"[name={name}]").click()

    assert bench.disk() != before
    assert bench.complaints == []


def test_what_the_learner_holds_has_the_colours_that_were_chosen(bench, run):
    decoded = (run.true_states + 1) % 3
    bench.receive(run)
    bench.click("play")
    bench.wait_for("lab.playing === 'false'")
    bench.give_cloud(run, decoded=decoded)
    bench.page.locator(".colour").select_option("decoded")
    coloured = bench.disk()

    bench.give_cloud(run, states=decoded)
    bench.page.locator(".colour").select_option("true")

    assert bench.disk() == coloured


def test_observations_that_are_not_decoded_are_not_shown_as_decoded(bench, run):
    bench.receive(run)
    bench.click("play")
    bench.wait_for("lab.playing === 'false'")
    bench.give_cloud(run, decoded=run.true_states)
    bench.page.locator(".colour").select_option("decoded")
    decoded = bench.disk()

    bench.give_cloud(run)
    unknown = bench.disk()
    bench.give_cloud(run, states=(run.true_states + 1) % 3)

    assert unknown != decoded
    assert bench.disk() == unknown  # nothing of the truth shows
    assert bench.page.locator(".colour option[value=decoded]").is_disabled()


@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("states", [3, 5, 6, 8])
def test_every_title_of_the_curves_has_room(bench, states, width):
    bench.page.set_viewport_size({"width": width, "height": 900})
    bench.page.evaluate(
        """() => {
          window.written = [];
          const write = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
            const { width } = this.measureText(text);
            if (this.textAlign === "left" && this.textBaseline === "alphabetic") {
              window.written.push([text.trim(), x, x + width, y]);
            }
            write.apply(this, arguments);
          };
        }"""
    )
    bench.receive(empty_run(experiment_of(states)), over=False)
    bench.page.wait_for_function("window.written.length > 0")
    bench.page.evaluate("window.written.length = 0")
    bench.disk()  # a second picture, after the canvas has found its size
    bench.page.evaluate("document.querySelector('main').picture.curves.dirty = true")
    bench.disk()
    written = bench.page.evaluate("window.written")

    titles = [text for text, *_ in written]
    for state in range(1, states + 1):
        assert any(f"from state {state}" in title for title in titles)
        assert str(state) in titles
    edge = bench.page.evaluate("document.querySelector('canvas.plot').width")
    for _, begin, end, line in written:
        nexts = [x for _, x, _, y in written if y == line and x > begin]
        assert end < min(nexts, default=edge)


@pytest.mark.parametrize("control", [".play", "[name=grid]"])
def test_arrows_step_after_a_click(bench, run, control):
    bench.receive(run)
    bench.page.locator(".scrub").fill("120")
    bench.page.locator(control).focus()

    bench.page.keyboard.press("ArrowRight")
    bench.wait_for("Number(lab.k) === 122")  # a row of the path for every second observation
    bench.page.keyboard.press("ArrowLeft")
    bench.wait_for("Number(lab.k) === 120")


def test_space_plays_after_a_mean_was_dragged(bench, run):
    bench.receive(run)
    bench.page.locator(".scrub").fill("120")
    bench.drag(1, -60, 90)

    bench.page.keyboard.press("Space")

    bench.wait_for("lab.playing === 'true'")


def test_space_plays_after_the_scrubber_was_dragged(bench, run):
    bench.receive(run)
    bench.page.locator(".scrub").click()
    bench.wait_for("lab.playing === 'false'")

    bench.page.keyboard.press("Space")

    bench.wait_for("lab.playing === 'true'")


def test_a_switch_is_pressed_by_space_and_nothing_plays(bench, run):
    bench.receive(run)
    bench.page.locator(".scrub").fill("120")
    bench.page.locator("[name=grid]").focus()

    bench.page.keyboard.press("Space")

    assert not bench.page.locator("[name=grid]").is_checked()
    bench.wait_for("lab.playing === 'false'")


def test_numbers_are_read_aloud_only_while_they_stand(bench, run):
    readout = bench.page.locator(".readout")
    bench.receive(run)
    assert readout.get_attribute("aria-live") == "off"

    bench.page.locator(".scrub").fill("120")

    bench.wait_for("lab.playing === 'false'")
    assert readout.get_attribute("aria-live") == "polite"


def test_a_flat_map_of_ellipses_is_played_zoomed_and_dragged_too(bench, run):
    bench.receive(run, chart=Ellipses())
    bench.give_cloud(run)
    bench.wait_for("lab.playing === 'true' && Number(lab.painted) > 5")
    assert bench.page.get_by_role("button", name="Whole map").count() == 1
    assert bench.page.get_by_label("Centre on").locator("option").nth(1).inner_text() == "middle"
    before = bench.means()
    np.testing.assert_allclose(before, 2 * np.array(SMALL.means))

    bench.drag(0, 2000, 2000)

    assert bench.moves() == [{0: (2, -1)}]  # the corner of its extent
    bench.click("closer")
    bench.page.get_by_label("Centre on").select_option("2")
    middle = bench.page.locator("canvas.map").bounding_box()
    x, y = middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2
    bench.page.wait_for_function(
        """([x, y]) => {
          const box = document.querySelectorAll(".handle")[1].getBoundingClientRect();
          return Math.hypot(box.x + box.width / 2 - x, box.y + box.height / 2 - y) < 1;
        }""",
        arg=[x, y],
    )
    assert bench.complaints == []


def test_another_chart_is_seen_as_a_whole(bench, run):
    bench.receive(run)
    bench.click("closer")
    bench.wait_for("lab.zoom === '1.5'")
    other = empty_run(replace(SMALL, seed=5))

    bench.receive(other, over=False, chart=Ellipses())

    bench.wait_for("lab.zoom === '1'")
    assert bench.page.locator("canvas.map").get_attribute("aria-label").startswith("Map with")
    assert bench.complaints == []
