import numpy as np

from dashboard.compute.measures import clouds
from dashboard.figures import paper
from tests.dashboard.figures.checking import checked
from tests.dashboard.made_runs import PAPERS


def test_the_papers_figure_shows_every_estimate(papers):
    (em,) = clouds(PAPERS.experiment, papers)

    boxes = checked(paper.cloud_distances(PAPERS.experiment, [em])).data
    assert [len(box.y) for box in boxes] == [2, 2, 2]
    np.testing.assert_array_equal([box.y for box in boxes], em.distances.T)
    means = checked(paper.cloud_map(PAPERS.experiment, em)).data[-3:]
    np.testing.assert_array_equal([trace.x for trace in means], em.means[:, :, 0].T)
