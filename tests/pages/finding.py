"""Finds what a page shows as a person does: by its label."""


def labelled(elements, label: str):
    return next(element for element in elements if element.label == label)
