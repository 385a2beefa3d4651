"""What holds for all modules of the front end."""

import re

import pytest

from dashboard.canvas import program


@pytest.mark.parametrize("file", program.modules())
def test_every_module_says_what_it_imports_and_finds_it(js, file):
    names = js.run(file, "return Object.keys(m)")

    assert names


def test_no_module_but_the_disk_s_knows_the_disk():
    # the lesson teaches the geometry of the disk itself; all else shows whatever space there is
    others = {f: s for f, s in program.modules().items() if not f.startswith("lesson/")}
    for file, source in others.items():
        if file not in ("charts/disk.js", "charts/chart.js", "shared.js"):
            assert not re.search(r"Poincaré|geodesic|hyperbolic|\bdisk\b", source, re.I), file
