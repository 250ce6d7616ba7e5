"""The folder of the cache: where it is, its size, whom it trusts, and zipped packages."""

import os
import subprocess
import sys
import time
import zipfile

import platformdirs
import pytest

from adjoint.runtime.cache import folder


@pytest.fixture
def cache(tmp_path, monkeypatch):
    made = tmp_path / "cache"
    monkeypatch.setenv("ADJOINT_CACHE", str(made))
    folder.folder.cache_clear()
    folder.make_room.cache_clear()
    yield made
    folder.folder.cache_clear()
    folder.make_room.cache_clear()


def filled(version, sizes):
    """Files of these sizes, the first used the longest time ago."""
    version.mkdir(parents=True, exist_ok=True)
    now = time.time()
    for i, size in enumerate(sizes):
        path = version / f"file{i}"
        path.write_bytes(b"x" * size)
        os.utime(path, (now, now - 1000.0 * (len(sizes) - i)))


def left(cache):
    return sorted(path.name for path in cache.rglob("file*"))


def test_it_is_the_users_folder_for_caches(monkeypatch):
    monkeypatch.delenv("ADJOINT_CACHE", raising=False)
    assert folder.root() == platformdirs.user_cache_dir("adjoint", appauthor=False)
    monkeypatch.setenv("ADJOINT_CACHE", "off")
    assert folder.root() is None


def test_the_oldest_files_go(cache):
    filled(cache / ("a" * 16), [100] * 10)
    folder.remove_oldest(str(cache), 1000)
    assert len(left(cache)) == 10
    folder.remove_oldest(str(cache), 900)
    assert left(cache) == [f"file{i}" for i in range(4, 10)]
    other = cache / "not of ours"
    filled(other, [5000])
    folder.remove_oldest(str(cache), 900)
    assert (other / "file0").exists()


def test_room_is_made_once_a_day(cache, monkeypatch):
    monkeypatch.setattr(folder, "MOST_BYTES", 500)
    own = folder.folder()
    assert own is not None
    filled(cache / ("a" * 16), [100] * 10)
    folder.make_room()
    assert len(left(cache)) == 10  # the folder was made today
    folder.make_room.cache_clear()
    os.utime(cache, (0, 0))
    folder.make_room()
    assert left(cache) == ["file7", "file8", "file9"]


def test_use_is_noted(cache):
    filled(cache / ("a" * 16), [1, 1])
    path = cache / ("a" * 16) / "file0"
    recent = path.stat().st_mtime
    folder.note_used(str(path))
    assert path.stat().st_mtime == recent
    os.utime(path, (0, 0))
    folder.note_used(str(path))
    assert path.stat().st_mtime > recent


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files")
def test_a_refused_folder_is_said_once(cache):
    cache.mkdir()
    cache.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="others can write to it. chmod go-w") as caught:
        assert folder.folder() is None
        assert folder.folder() is None
    assert len(caught) == 1


def test_a_folder_that_cannot_be_made_is_said(cache):
    cache.write_text("a file")
    with pytest.warns(RuntimeWarning, match="adjoint keeps no generated code"):
        assert folder.folder() is None


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import adjoint as ad, zipped
from adjoint.runtime.cache import units
made = []
generate = units.generate
units.generate = lambda f: made.append(f.__name__) or generate(f)
print(ad.grad(zipped.f, tier="generic")(3.0), made)
"""


def test_functions_of_a_zipped_package_are_kept_by_its_contents(cache, tmp_path):
    archive = tmp_path / "zipped.zip"

    def run(text):
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr(zipfile.ZipInfo("zipped.py"), text)  # without the present time
        command = [sys.executable, "-c", PROGRAM, str(archive)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    text = "def f(x):\n    return x * x * x\n"
    assert run(text) == "27.0 ['f']"
    assert run(text) == "27.0 []"
    assert run(text.replace("x * x * x", "x * x * 2")) == "12.0 ['f']"
