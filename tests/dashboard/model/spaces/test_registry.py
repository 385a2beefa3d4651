"""Nothing but the disk's own files, and the lesson about it, knows that there is a disk."""

import re
from pathlib import Path

from dashboard.model.spaces.registry import DEFAULT, SPACES

ROOT = Path(__file__).parents[4]
DISKS_OWN = {"dashboard/model/spaces/disk.py", "dashboard/canvas/charts/disk.js"}
MAY_SAY_IT = {
    "dashboard/model/spaces/registry.py": "lists all spaces",
    "dashboard/canvas/charts/chart.js": "lists all charts",
    "dashboard/compute/run_cache.py": "means the disk that files are on",
    "dashboard/compute/kernels.py": "means the disk that files are on",
    "dashboard/text/glossary.py": "explains the words",
    "dashboard/compute/outlines.py": "outlines on the disk are exact",
    "dashboard/compute/recording_map.py": "draws a recording of the disk on the disk",
    "dashboard/model/spaces/recorded.py": "draws a recording of the disk on the disk",
    "dashboard/figures/fitted.py": "draws a recording of the disk on the disk",
    "dashboard/figures/fitted_solid.py": "draws a recording of hyperbolic 3-space in the ball",
    "dashboard/model/analysis.py": "lists the spaces of simulated recordings",
    "dashboard/text/fitted.py": "says which spaces files may be of",
}
LESSON = re.compile(r"/lesson(/|\.py$)")
WORDS = re.compile("disk|poincar|hyperbolic", re.IGNORECASE)


def test_only_the_disks_own_files_speak_of_the_disk():
    files = [
        file
        for folder in ("dashboard", "pages")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in {".py", ".js", ".ts", ".html", ".css", ".txt"}
    ]
    speaking = {
        file.relative_to(ROOT).as_posix()
        for file in files
        if WORDS.search(file.read_text(encoding="utf-8")) and not LESSON.search(file.as_posix())
    }

    assert speaking == DISKS_OWN | MAY_SAY_IT.keys()


def test_each_space_is_listed_under_its_key():
    assert all(space.key == key for key, space in SPACES.items())
    assert len({space.label for space in SPACES.values()}) == len(SPACES)
    assert DEFAULT in SPACES.values()
