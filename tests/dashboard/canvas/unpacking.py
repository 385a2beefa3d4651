"""An independent reading of the messages that protocol.js reads in the browser."""

import json

import numpy as np


def unpack(message: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """What a message says, and its arrays by their names, each of one dimension."""
    length = int.from_bytes(message[:4], "little")
    head = json.loads(message[4 : 4 + length])
    begin = -(-(4 + length) // 8) * 8
    arrays = {
        a["name"]: np.frombuffer(message, a["type"], a["count"], begin + a["offset"])
        for a in head["arrays"]
    }
    return head["about"], arrays
