"""Files of learners with something else in them, as a forger would write them."""

import numpy as np

from rhmm.storage import write_npz


def altered(path, **arrays):
    """The file with other arrays in it, or another word in its head, and the right checksum."""
    with np.load(path) as file:
        content = {name: file[name] for name in file.files}
    write_npz(path, content | arrays)


def with_other_head(path, old: str, new: str):
    """The file with another word in its head, and the right checksum."""
    with np.load(path) as file:
        head = str(file["head"])
    assert old in head
    altered(path, head=head.replace(old, new))


def with_other_entry(path, array: str, at: int, value):
    """The file with another number at this place of an array, and the right checksum."""
    with np.load(path) as file:
        changed = file[array]
    changed.flat[at] = value
    altered(path, **{array: changed})
