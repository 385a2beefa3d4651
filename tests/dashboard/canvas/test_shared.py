import json
import re

import pytest

from dashboard.canvas.shared import HERE, shared_module
from dashboard.model.view import MOST_ZOOM, SWITCHES


@pytest.fixture
def constants():
    lines = shared_module().splitlines()
    found = (re.fullmatch("export const ([A-Z_]+) = (.*);", line).groups() for line in lines)
    return {name: json.loads(value) for name, value in found}


def test_the_browser_has_the_switches_and_limits_of_python(constants):
    assert tuple(constants["SWITCHES"]) == SWITCHES
    assert constants["MOST_ZOOM"] == MOST_ZOOM


def test_every_switch_has_its_box_in_the_lab(constants):
    boxes = re.findall(r'type="checkbox" name="(\w+)"', constants["MARKUP"]["lab"])

    assert tuple(boxes) == SWITCHES


def test_every_constant_has_a_type(constants):
    types = (HERE / "shared.d.ts").read_text(encoding="utf-8")

    assert re.findall(r"export const (\w+)", types) == list(constants)
