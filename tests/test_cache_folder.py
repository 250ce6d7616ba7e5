"""The folder of the cache: where it is, its size, whom it trusts, and zipped packages."""

import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import platformdirs
import pytest

from adjoint.runtime.cache import folder


@pytest.fixture
def cache(tmp_path, monkeypatch):
    made = tmp_path / "cache"
    monkeypatch.setenv("ADJOINT_CACHE", str(made))
    folder.folder.cache_clear()
    yield made
    folder.folder.cache_clear()


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


BLOCK = 4096


def test_the_oldest_files_go(cache):
    filled(cache / ("a" * 16), [100] * 10)  # each takes a block of the disk
    assert folder.remove_oldest(str(cache), 10 * BLOCK) == 10 * BLOCK
    assert len(left(cache)) == 10
    assert folder.remove_oldest(str(cache), 9 * BLOCK) == 6 * BLOCK
    assert left(cache) == [f"file{i}" for i in range(4, 10)]
    other = cache / "not of ours"
    filled(other, [50_000])
    folder.remove_oldest(str(cache), 9 * BLOCK)
    assert (other / "file0").exists()


def write(own, count, size, start=0):
    """Files as `disk.write` makes them, and the largest size of all on the way."""
    most = 0
    for i in range(start, start + count):
        path = own / f"file{i:04}"
        path.write_bytes(b"x" * size)
        os.utime(path, (1e9 + i, 1e9 + i))
        folder.note_written(size)
        most = max(most, folder.usage(str(own.parent)).size)
    return most


def test_the_size_never_exceeds_the_limit_by_more_than_a_file(cache, monkeypatch):
    limit = 40 * BLOCK
    monkeypatch.setattr(folder, "MOST_BYTES", limit)
    own = Path(folder.folder())
    for size in (100, 5000):  # one block, and two
        assert limit // 2 < write(own, 100, size, start=size) <= limit
    assert max(left(cache)) == "file5099" and "file0100" not in left(cache)
    measured = []
    monkeypatch.setattr(folder, "make_room", measured.append)
    write(own, 5, 100, start=9000)
    assert not measured  # files are counted, not measured, until there may be too many


def test_what_others_have_written_counts(cache, monkeypatch):
    """Files of another version that has not counted them, or of a count that was lost."""
    monkeypatch.setattr(folder, "MOST_BYTES", 20 * BLOCK)
    filled(cache / ("a" * 16), [100] * 30)
    own = Path(folder.folder())  # a new version: all is measured
    assert folder.usage(str(cache)).size <= 15 * BLOCK
    filled(cache / ("b" * 16), [100] * 30)
    (cache / "blocks").unlink()
    write(own, 1, 100)
    assert folder.usage(str(cache)).size <= 15 * BLOCK
    folder.clear(str(cache))
    assert not [*cache.iterdir()]


WRITER = """
import sys
from adjoint.runtime.cache import folder
folder.MOST_BYTES = 100 * 4096
own = folder.folder()
for i in range(200):
    with open(f"{own}/file{sys.argv[1]}-{i}", "wb") as file:
        file.write(b"x" * 100)
    folder.note_written(100)
"""


def test_several_processes_share_the_limit(cache):
    folder.folder()
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(i)]) for i in range(2)]
    assert [one.wait() for one in running] == [0, 0]
    assert folder.usage(str(cache)).size <= 102 * BLOCK


def test_generated_code_is_counted(cache):
    source = cache.parent / "counted.py"
    source.write_text("".join(f"def f{i}(x):\n    return x * {i}.0\n\n\n" for i in range(20)))
    program = f"""
import sys
sys.path.insert(0, {str(cache.parent)!r})
import adjoint as ad, counted
from adjoint.runtime.cache import folder
folder.MOST_BYTES = 10 * 4096
for i in range(20):
    ad.grad(getattr(counted, f"f{{i}}"), tier="generic")(2.0)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert 0 < folder.usage(str(cache)).size <= 10 * BLOCK


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
