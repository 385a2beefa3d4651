import pytest

from dashboard.model.lesson import INSPECTED, STEPS, Lesson


@pytest.mark.parametrize("step", STEPS)
def test_every_screen_is_a_link(step):
    lesson = Lesson(step=step)

    assert Lesson.from_query(lesson.to_query()) == (lesson, [])


def test_the_first_screen_takes_no_room_in_the_link():
    assert Lesson().to_query() == {}


def test_next_and_previous_go_through_all_screens_and_end():
    forth, back = [STEPS[0]], [STEPS[-1]]
    while Lesson(step=forth[-1]).next is not None:
        forth.append(Lesson(step=forth[-1]).next)
    while Lesson(step=back[-1]).previous is not None:
        back.append(Lesson(step=back[-1]).previous)

    assert tuple(forth) == STEPS
    assert tuple(reversed(back)) == STEPS


def test_both_updates_of_the_paper_s_algorithm_and_ours_can_be_inspected():
    assert {"paper", "convex", "streaming"} <= set(INSPECTED)


@pytest.mark.parametrize("query", [{"lesson": "nonsense"}, {"inspect": "em"}])
def test_a_screen_that_does_not_exist_is_told_and_left_at_its_default(query):
    lesson, problems = Lesson.from_query(query)

    assert lesson == Lesson()
    assert len(problems) == 1
