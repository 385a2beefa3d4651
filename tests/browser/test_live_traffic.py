"""What goes over the line between the Live lab and its server."""

from dashboard.canvas import program
from tests.browser.ear import Ear
from tests.browser.lab import Lab
from tests.browser.stillness import wait_until_still


def modules(server):
    """The addresses of the modules that the first page needs."""
    folder = f"{server.address}/canvas/{program.version()}"
    return sorted(f"{folder}/{file}" for file in program.first_modules())


def test_another_look_at_a_finished_run_does_not_send_it_again(open_lab):
    ear = Ear()
    lab = open_lab("/?seed=4", before=ear, knows_the_server=False)
    lab.wait_for_results()
    wait_until_still(lab.page)
    ear.forget()

    lab.page.get_by_role("button", name="Zoom in").click()
    lab.page.wait_for_function("location.search.includes('look=')")
    lab.wait_for_results()

    assert ear.size() < 20_000


def test_a_run_that_got_lost_on_the_way_is_asked_for(open_lab):
    lab = open_lab("/?seed=4")
    lab.wait_for_results()
    lab.box.evaluate("(box) => (box.getRootNode().picture.run.version = 0)")

    lab.page.get_by_role("button", name="Zoom in").click()

    whole = "([box]) => (({ version, continues }) => version > 0 && continues === null)"
    lab.wait_for_pieces(".lab", f"{whole}(box.getRootNode().picture.run)")


def test_a_run_is_no_more_than_its_messages_and_the_program(open_lab, server):
    """Files that the visitor does not ask for are not sent, also when they are ready."""
    open_lab().wait_for_results()  # from now on it is finished for all visitors
    ear = Ear()

    lab = open_lab("/", before=ear, knows_the_server=False)
    lab.wait_for_results()
    lab.page.get_by_role("link", name="Data (CSV)").and_(lab.page.locator("[href]")).wait_for()
    wait_until_still(lab.page)

    assert set(modules(server)) <= set(ear.addresses())
    assert ear.size() < 300_000  # two paths, and the probabilities of each observation


def test_the_program_is_fetched_once_and_not_sent_with_the_messages(open_lab, server):
    ear = Ear()
    lab = open_lab("/?T=1000&delta=60", before=ear, knows_the_server=False)
    lab.wait_for_results()
    lab.page.get_by_role("button", name="Zoom in").click()
    lab.page.wait_for_function("location.search.includes('look=')")
    lab.page.get_by_role("link", name="Set the truth").click()
    lab.page.locator(".sketch").wait_for()

    assert not any(b"class Scene" in message for message in ear.heard)
    fetched = [address for address in ear.addresses() if "/canvas/" in address]
    assert sorted(fetched) == modules(server)


def test_a_cloud_that_got_lost_on_the_way_is_asked_for(open_lab, server):
    lab = open_lab("/?T=800&delta=60")
    lab.wait_for_results()
    clouds = f"{server.address}/canvas/{program.version()}/clouds.js"
    lab.page.evaluate("async (clouds) => (await import(clouds)).keepCloud(null)", clouds)

    lab.page.get_by_role("button", name="Zoom in").click()

    lab.page.wait_for_function("async (c) => (await import(c)).latestCloud() !== null", arg=clouds)


def test_nothing_is_fetched_from_elsewhere(open_page, server):
    elsewhere = []
    lab = Lab(
        open_page(
            before=lambda page: page.on(
                "request", lambda r: r.url.startswith(server.address) or elsewhere.append(r.url)
            ),
            knows_the_server=False,
        )
    )
    lab.wait_until_shown()
    lab.wait_for_results()

    assert [url for url in elsewhere if url.startswith("http")] == []
