"""player.js: which moment is shown."""

from itertools import pairwise

import pytest

RUN = """
const run = (id, reached, over) => ({ id, reached, length: 1000, stride: 10, over });
const player = new m.Player(() => {});
const opened = (k) => ({ k });
"""


def test_a_run_plays_from_its_first_observation_to_its_last(js):
    positions, playing = js.run(
        "player.js",
        RUN
        + """
        player.receive(run("a", 1000, true), opened(null));
        const positions = [];
        for (let now = 0; now <= 10000; now += 100) {
          player.advance(now);
          positions.push(player.position);
        }
        return [positions, player.playing];
        """,
    )

    assert positions[0] == 0
    assert positions[-1] == 1000
    assert all(a <= b for a, b in pairwise(positions))
    assert positions[45] == pytest.approx(45 * 0.1 * 1000 / 9)  # all in nine seconds
    assert not playing


def test_a_link_to_a_moment_waits_for_a_run_that_has_not_come_so_far(js):
    seen = js.run(
        "player.js",
        RUN
        + """
        const seen = [];
        const look = () => seen.push([player.position, player.moment, player.playing]);
        player.receive(run("a", 120, false), opened(150));
        look();
        player.receive(run("a", 170, false), null);
        look();
        player.receive(run("a", 1000, true), null);
        look();
        return seen;
        """,
    )

    assert seen == [[120, 150, False], [150, 150, False], [150, 150, False]]


def test_the_next_run_opens_where_the_last_one_was_stopped(js):
    position, playing = js.run(
        "player.js",
        RUN
        + """
        player.receive(run("a", 1000, true), opened(null));
        player.show(432);
        player.receive(run("b", 1000, true), null);
        return [player.position, player.playing];
        """,
    )

    assert (position, playing) == (432, False)


def test_steps_stop_at_both_ends(js):
    positions = js.run(
        "player.js",
        RUN
        + """
        player.receive(run("a", 30, true), opened(0));
        return [-1, 1, 1, 1, 1].map((by) => (player.step(by), player.position));
        """,
    )

    assert positions == [0, 10, 20, 30, 30]


def test_a_step_goes_to_the_next_row_of_a_path(js):
    positions = js.run(
        "player.js",
        RUN
        + """
        player.receive(run("a", 1000, true), opened(null));
        return [1, -1].map((by) => (player.show(432), player.step(by), player.position));
        """,
    )

    assert positions == [440, 430]


def test_a_run_that_is_being_computed_is_caught_up_with_without_a_jump(js):
    positions = js.run(
        "player.js",
        RUN
        + """
        player.speed = 0;
        player.receive(run("a", 100, false), opened(null));
        player.advance(0);
        const positions = [0, 100, 200].map((now) => (player.advance(now), player.position));
        for (let now = 300; now < 10000; now += 100) player.advance(now);
        return [...positions, player.position];
        """,
    )

    assert positions[:3] == pytest.approx([0, 15, 15 + 0.15 * 85])  # 1.5 of the rest a second
    assert positions[3] == pytest.approx(100, abs=0.1)


def test_a_run_of_which_nothing_is_learned_stands_at_zero(js):
    position, moment = js.run(
        "player.js",
        RUN
        + """
        player.receive(run("a", 0, false), opened(null));
        player.advance(0);
        player.advance(100);
        return [player.position, player.moment];
        """,
    )

    assert (position, moment) == (0, None)
