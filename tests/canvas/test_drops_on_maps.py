"""protocol.js: drops on a map that the next message may replace."""


def test_what_is_pending_names_the_map_that_it_was_dropped_on(js):
    first, second = js.run(
        "protocol.js",
        """
        const pending = new m.Pending();
        const first = pending.add(new Map([[0, [0.1, 0.2]]]), "old");
        const second = pending.add(new Map([[1, [0.3, 0.4]]]), "new");
        return [first, second];
        """,
    )

    assert first["pending"] == [{"state": 0, "x": 0.1, "y": 0.2, "chart": "old"}]
    assert second["pending"] == [
        {"state": 0, "x": 0.1, "y": 0.2, "chart": "old"},
        {"state": 1, "x": 0.3, "y": 0.4, "chart": "new"},
    ]


def test_the_only_map_of_a_space_is_not_named(js):
    sent = js.run("protocol.js", 'return new m.Pending().add(new Map([[2, [0, 1]]]), "")')

    assert sent["pending"] == [{"state": 2, "x": 0, "y": 1}]
