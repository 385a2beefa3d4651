"""Finds what a page shows as a person does: by its label."""


def labelled(elements, label: str):
    return next(element for element in elements if element.label == label)


def to_take(page) -> dict[str, bool]:
    """The files that a page hands out, and whether they are ready."""
    return {button.label: not button.disabled for button in page.get("download_button")}
