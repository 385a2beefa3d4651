"""A small share of ``python -m benchmarks.fuzz``, always the same."""

from benchmarks import degenerate, fuzz


def test_damaged_and_forged_files_are_refused_or_work():
    for what, verdict in fuzz.files(range(400)):
        assert fuzz.is_good(verdict), f"{what}: {verdict}"


def test_streams_that_are_hard_on_arithmetic_end_in_finite_parameters():
    for what, verdict in fuzz.streams(range(300)):
        assert fuzz.is_good(verdict), f"{what}: {verdict}"


def test_a_verdict_sees_what_is_not_finite():
    case = degenerate.draw_case(0)
    assert degenerate.verdict(case._replace(estimator=_Broken())) == "wrong error: KeyError"
    assert not fuzz.is_good("wrong error: KeyError")


class _Broken:
    def fit(self, X):
        raise KeyError
