from dashboard.model.methods import learner_of, opens_in_the_lab


def test_what_the_live_lab_does_not_know_has_no_link(swept):
    cannot = {
        learner_of(run.configuration) for run in swept if not opens_in_the_lab(run.configuration)
    }

    assert cannot == {"fixed", None}
