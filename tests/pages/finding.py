"""Finds what a page shows as a person does: by its label."""

import re


def labelled(elements, label: str):
    return next(element for element in elements if element.label == label)


def to_take(page) -> dict[str, bool]:
    """The files that a page hands out, and whether they are ready."""
    links = re.findall(r"<a ([^>]*)>([^<]*)</a>", " ".join(e.proto.body for e in page.get("html")))
    return {label: "href=" in attributes for attributes, label in links}
