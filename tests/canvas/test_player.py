"""player.js: which frame is shown."""

from itertools import pairwise

import pytest

RUN = """
const run = (id, steps, over) => ({ id, steps: Int32Array.from(steps), frames: 10, over });
const frames = (count) => Array.from({ length: count }, (_, i) => 100 + 10 * i);
const player = new m.Player(() => {});
const opened = (k) => ({ k });
"""


def test_a_run_plays_from_its_first_frame_to_its_last(js):
    positions, playing = js.run(
        "player.js",
        RUN
        + """
        player.receive(run("a", frames(10), true), opened(null));
        const positions = [];
        for (let now = 0; now <= 10000; now += 100) {
          player.advance(now);
          positions.push(player.position);
        }
        return [positions, player.playing];
        """,
    )

    assert positions[0] == 0
    assert positions[-1] == 9
    assert all(a <= b for a, b in pairwise(positions))
    assert positions[45] == pytest.approx(45 * 0.1 * 10 / 9)  # ten frames in nine seconds
    assert not playing


def test_a_link_to_a_moment_waits_for_a_run_that_has_not_come_so_far(js):
    seen = js.run(
        "player.js",
        RUN
        + """
        const seen = [];
        const look = () => seen.push([player.position, player.moment, player.playing]);
        player.receive(run("a", frames(3), false), opened(150));
        look();
        player.receive(run("a", frames(8), false), null);
        look();
        player.receive(run("a", frames(10), true), null);
        look();
        return seen;
        """,
    )

    assert seen == [[2, 150, False], [5, 150, False], [5, 150, False]]


def test_the_next_run_opens_where_the_last_one_was_stopped(js):
    position, playing = js.run(
        "player.js",
        RUN
        + """
        player.receive(run("a", frames(10), true), opened(null));
        player.show(4);
        player.receive(run("b", frames(10), true), null);
        return [player.position, player.playing];
        """,
    )

    assert (position, playing) == (4, False)


def test_steps_stop_at_both_ends(js):
    positions = js.run(
        "player.js",
        RUN
        + """
        player.receive(run("a", frames(3), true), opened(100));
        return [-1, 1, 1, 1].map((by) => (player.step(by), player.position));
        """,
    )

    assert positions == [0, 1, 2, 2]


def test_a_run_that_is_being_computed_is_caught_up_with_without_a_jump(js):
    positions = js.run(
        "player.js",
        RUN
        + """
        player.speed = 0;
        player.receive(run("a", frames(101), false), opened(null));
        player.advance(0);
        const positions = [0, 100, 200].map((now) => (player.advance(now), player.position));
        for (let now = 300; now < 10000; now += 100) player.advance(now);
        return [...positions, player.position];
        """,
    )

    assert positions[:3] == pytest.approx([0, 15, 15 + 0.15 * 85])  # 1.5 of the rest a second
    assert positions[3] == pytest.approx(100, abs=0.1)


def test_a_run_without_a_frame_stands_at_zero(js):
    position, moment = js.run(
        "player.js",
        RUN
        + """
        player.receive(run("a", [], false), opened(null));
        player.advance(0);
        player.advance(100);
        return [player.position, player.moment];
        """,
    )

    assert (position, moment) == (0, None)
