import gc

import pytest

from dashboard.server.offers import File, Offer
from tests.dashboard.server.asking import answer


@pytest.fixture
def made():
    return []


@pytest.fixture
def file(made):
    def make(shown):
        made.append(shown)
        return f"about {shown}"

    return File("Text", "text.txt", "text/plain", make, "this")


def test_a_file_is_made_when_it_is_fetched(file, made):
    offer = Offer(file)
    assert made == []

    response = answer(offer.address)

    assert made == ["this"]
    assert response.body == b"about this"
    assert response.headers["content-disposition"] == 'attachment; filename="text.txt"'
    assert response.headers["cache-control"] == "no-store"
    assert response.media_type == "text/plain"


def test_every_offer_has_an_address_of_its_own(file):
    first, second = Offer(file), Offer(file)

    assert first.address != second.address


def test_an_offer_that_no_session_keeps_is_gone(file, made):
    address = Offer(file).address
    gc.collect()

    response = answer(address)

    assert response.status_code == 404
    assert b"open its page again" in response.body
    assert made == []
