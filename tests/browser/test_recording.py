"""The Live lab on a recording, as a person at the browser uses it."""

from urllib.parse import parse_qs, urlsplit


def test_a_recording_is_learned_and_changed_and_taken_away(open_lab):
    lab = open_lab("/?source=disk&algorithm=windowed&delta=60", moving=True)
    page = lab.page
    first, k = lab.run, lab.k
    lab.wait_for(f"Number(lab.k) > {k}")  # the trails move
    page.locator(".numbers tbody tr").nth(2).wait_for()

    assert page.locator(".handle").count() == 0
    cards = page.locator(".scores .card")
    assert cards.count() == 3  # no ceiling
    assert page.locator(".colour option[value=true]").inner_text() == "label"
    lab.wait_for_pieces(".scores dd", "(all) => all.every((one) => one.textContent.endsWith('%'))")

    page.get_by_role("slider", name="Δ: observations in the window").press("ArrowRight")
    lab.wait_for_another_run(first)
    lab.wait_for_query(source="disk", delta="80")
    page.get_by_role("button", name="Cancel").wait_for(state="detached")

    with page.expect_download() as taken:
        page.get_by_role("link", name="Script (Python)").click()
    script = taken.value.path().read_text(encoding="utf-8")
    assert 'recording = make_chain("disk")' in script
    assert "window=80" in script

    step = page.get_by_role("link", name="Open this step").get_attribute("href")
    assert parse_qs(urlsplit(step).query)["source"] == ["disk"]
    assert page.complaints == []
