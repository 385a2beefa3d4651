"""What the Stream page keeps of its news: a ring of rows, and a position that glides."""

from itertools import pairwise

import pytest

FILE = "stream/news.js"


def test_rows_keep_the_latest_in_order(js):
    kept = js.run(
        FILE,
        """const rows = new m.Rows(2, 4);
           for (let step = 0; step < 10; step++) rows.push(10 * step, [step, -step]);
           return [rows.length, [0, 1, 2, 3].map((i) => [rows.step(i), rows.value(i, 1)])];""",
    )

    assert kept == [4, [[60, -6], [70, -7], [80, -8], [90, -9]]]


def test_a_row_that_came_before_is_not_kept_twice(js):
    script = """const rows = new m.Rows(1, 9);
      for (const k of a[0]) rows.push(k, [k]);
      return rows.length;"""

    assert js.run(FILE, script, [50, 100, 100, 50, 150]) == 3


@pytest.mark.parametrize(("step", "row"), [(0, 0), (50, 0), (51, 1), (100, 1), (500, 3)])
def test_the_first_row_from_a_step_on_is_found(js, step, row):
    script = """const rows = new m.Rows(1, 3);
      for (const k of [0, 50, 100, 150]) rows.push(k, [0]);
      return rows.from(a[0]);"""

    assert js.run(FILE, script, step) == max(0, row)


def test_rows_need_the_same_room_however_many_come(js):
    sizes = js.run(
        FILE,
        """const rows = new m.Rows(3, 100), sizes = new Set();
           for (let k = 1; k < 1e5; k++) { rows.push(k, [1, 2, 3]); sizes.add(rows.values.length); }
           return [...sizes];""",
    )

    assert sizes == [300]


def test_the_position_glides_from_message_to_message_and_never_beyond(js):
    seen = js.run(
        FILE,
        """const head = new m.Playhead(), seen = [];
           let now = 1000;
           for (let k = 100; k <= 2000; k += 100) {
             head.arrive(k, now);
             for (let frame = 0; frame < 6; frame++) {
               now += 100 / 6;
               head.advance(now);
               seen.push([k, head.position]);
             }
           }
           return seen;""",
    )

    positions = [position for _, position in seen]
    assert positions == sorted(positions)
    assert all(position <= taken for taken, position in seen)
    steps = [b - a for a, b in pairwise(positions[60:])]
    assert max(steps) < 2.5 * 100 / 6  # no jumps: a frame moves about as far as another
    assert min(steps) > 0.2 * 100 / 6


def test_a_position_that_has_arrived_stands(js):
    moves = js.run(
        FILE,
        """const head = new m.Playhead();
           head.arrive(70, 1000);
           const before = head.moves;
           head.advance(9000);
           return [before, head.moves, head.position];""",
    )

    assert moves == [True, False, 70]
