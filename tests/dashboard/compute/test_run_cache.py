import os
from pathlib import Path

import pytest

import rhmm
from dashboard.compute import run_cache
from dashboard.compute.run_cache import RunCache
from rhmm import Configuration
from rhmm.paper import paper_model
from rhmm.sweeping import fingerprint, load_runs, run_once

TRUTH = paper_model()
LENGTH = 50


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("RHMM_CACHE", str(folder))
    return folder


@pytest.fixture(scope="module")
def run():
    return run_once(TRUTH, Configuration("ceiling", LENGTH), 0)


def file_in(folder):
    return folder / f"{fingerprint(TRUTH)}-{rhmm.__version__}-T{LENGTH}.csv"


def test_what_is_kept_is_known_the_next_time(cache, run):
    with RunCache(TRUTH, LENGTH) as kept:
        assert kept.known == {}
        kept.keep(run)
    with RunCache(TRUTH, LENGTH) as kept:
        assert kept.known == {run.task: run}
        assert kept.note == ""


def test_of_many_files_the_oldest_of_its_own_go_and_no_others(cache, monkeypatch):
    monkeypatch.setattr(run_cache, "_KEPT_FILES", 3)
    cache.mkdir()
    own = [cache / f"{i:016x}-{rhmm.__version__}-T500.csv" for i in range(3)]
    of_old = cache / f"{3:016x}-0.3.0.csv"
    others = [cache / "thesis.csv", cache / "0123-0.3.0.csv", own[0].with_suffix(".unreadable")]
    for age, path in enumerate([*others, of_old, *own]):
        path.touch()
        os.utime(path, (age, age))

    with RunCache(TRUTH, LENGTH):
        assert {*cache.iterdir()} == {*others, *own[1:], file_in(cache)}


def test_of_large_files_the_oldest_go_until_the_rest_is_small_enough(cache, monkeypatch):
    monkeypatch.setattr(run_cache, "_KEPT_BYTES", 250)
    cache.mkdir()
    own = [cache / f"{i:016x}-{rhmm.__version__}-T500.csv" for i in range(4)]
    for age, path in enumerate(own):
        path.write_bytes(bytes(100))
        os.utime(path, (age, age))

    with RunCache(TRUTH, LENGTH):
        assert {*cache.iterdir()} == {*own[2:], file_in(cache)}


def test_the_file_that_is_asked_for_stays_however_large_it_is(cache, run, monkeypatch):
    monkeypatch.setattr(run_cache, "_KEPT_BYTES", 1)
    with RunCache(TRUTH, LENGTH) as kept:
        kept.keep(run)

    with RunCache(TRUTH, LENGTH) as kept:
        assert list(kept.known.values()) == [run]


def test_the_file_that_is_asked_for_is_not_one_of_the_oldest(cache, run, monkeypatch):
    with RunCache(TRUTH, LENGTH) as kept:
        kept.keep(run)
    os.utime(file_in(cache), (0, 0))
    monkeypatch.setattr(run_cache, "_KEPT_FILES", 2)
    for i in range(2):
        (cache / f"{i:016x}-{rhmm.__version__}-T500.csv").touch()

    with RunCache(TRUTH, LENGTH) as kept:
        assert list(kept.known.values()) == [run]


def test_every_file_that_cannot_be_read_is_moved_to_a_place_of_its_own(cache, run):
    cache.mkdir()
    for content, name in (("first", ""), ("second", "-2"), ("third", "-3")):
        file_in(cache).write_text(content)
        with RunCache(TRUTH, LENGTH) as kept:
            kept.keep(run)
        aside = cache / f"{file_in(cache).stem}{name}.unreadable"
        assert aside.name in kept.note
        assert aside.read_text() == content
        assert load_runs(file_in(cache), TRUTH) == [run]
    assert len([*cache.glob("*.unreadable")]) == 3


def test_a_file_that_cannot_be_read_or_moved_costs_only_the_keeping(cache, run, monkeypatch):
    def refuse(*_):
        raise PermissionError

    cache.mkdir()
    file_in(cache).write_text("something")
    monkeypatch.setattr(Path, "replace", refuse)
    with RunCache(TRUTH, LENGTH) as kept:
        kept.keep(run)

    assert kept.known == {}
    assert "Not all runs could be kept" in kept.note
    assert file_in(cache).read_text() == "something"


def test_a_server_without_a_home_folder_keeps_nothing(run, monkeypatch, tmp_path):
    def unknown(user):
        raise KeyError(user)

    pwd = pytest.importorskip("pwd")
    for name in ("RHMM_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.chdir(tmp_path)
    with RunCache(TRUTH, LENGTH) as kept:
        kept.keep(run)

    assert kept.known == {}
    assert "cannot be kept" in kept.note
    assert list(tmp_path.iterdir()) == []


def test_runs_lie_where_the_system_keeps_caches(run, monkeypatch, tmp_path):
    monkeypatch.delenv("RHMM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with RunCache(TRUTH, LENGTH) as kept:
        kept.keep(run)

    assert file_in(tmp_path / "rhmm").exists()
