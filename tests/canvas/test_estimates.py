WINDOW = {"x": 0, "y": 0, "width": 400, "height": 400}
BOX = "return m.freeBox(a[0], a[1], 50, 20, a[2], a[3], 1)"


def meet(a, b):
    across = a["x"] < b["x"] + b["width"] and b["x"] < a["x"] + a["width"]
    return across and a["y"] < b["y"] + b["height"] and b["y"] < a["y"] + a["height"]


def test_names_of_one_point_do_not_cover_each_other(js):
    taken = [{"x": 186, "y": 186, "width": 52, "height": 28}]
    for _ in range(6):
        taken.append(js.run("estimates.js", BOX, 200, 200, taken, WINDOW))

    assert not any(meet(a, b) for i, a in enumerate(taken) for b in taken[:i])


def test_names_stay_on_the_canvas(js):
    for x, y in ((5, 5), (395, 5), (5, 395), (395, 395)):
        box = js.run("estimates.js", BOX, x, y, [], WINDOW)

        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + 50 <= 400
        assert box["y"] + 20 <= 400
