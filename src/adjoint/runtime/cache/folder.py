"""The folder of the cache on disk: where it is, who may write to it, and how large it may become.

It is the user's folder for caches (`platformdirs.user_cache_dir`), with one folder in it for each
version of Python and of this library. The environment variable ``ADJOINT_CACHE`` names another
folder; ``ADJOINT_CACHE=off`` disables the cache.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import time
import warnings
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from adjoint.primal.code_owner import LIBRARY

if TYPE_CHECKING:
    from hashlib import _Hash

DAYS_UNUSED = 30
"""Days without use after which the files of other versions of this library are removed."""
MOST_BYTES = 256 << 20
"""The size on the disk of all files above which those that were not used for the longest time are
removed."""
DAY = 86400.0

_open = open  # independent of replacements of the builtin


def sha256(data: bytes) -> _Hash:
    import hashlib  # deferred, to keep `import adjoint` fast

    return hashlib.sha256(data)


# ---- where it is ---------------------------------------------------------------------------------


def root() -> str | None:
    """Return the folder of all versions, which may not exist yet; ``None`` without a cache."""
    setting = os.environ.get("ADJOINT_CACHE", "")
    if setting.lower() in ("off", "0", "no", "false"):
        return None
    if setting:
        return setting
    try:
        from platformdirs import user_cache_dir  # deferred, to keep `import adjoint` fast
    except ImportError:  # a checkout without its dependencies
        return None
    return user_cache_dir("adjoint", appauthor=False)


@cache
def folder() -> str | None:
    """Return the folder for this version of Python and the library; ``None`` without a cache."""
    whole = root()
    if whole is None:
        return None
    own = os.path.join(whole, _version())
    try:
        if not os.path.isdir(own):
            for path in (whole, own):
                os.makedirs(path, mode=0o700, exist_ok=True)
            _remove_unused(whole)
            make_room(whole)  # earlier versions of this library may not have counted
        for path in (whole, own):
            if not _is_private(path):
                _warn(path, "others can write to it", f"chmod go-w {path!r}, or name another")
                return None
        os.utime(own)
    except OSError as error:  # a read-only file system
        if os.environ.get("ADJOINT_CACHE"):
            _warn(own, f"{error.strerror or error}", "name another")
        return None
    return own


def _warn(path: str, why: str, hint: str) -> None:
    """Say, once in a process, that nothing is kept on disk."""
    warnings.warn(
        f"adjoint keeps no generated code in {path!r}: {why}. {hint} folder in ADJOINT_CACHE, or"
        " set ADJOINT_CACHE=off",
        RuntimeWarning,
        stacklevel=2,
    )


def _is_private(path: str) -> bool:
    """Return whether only this user can have put files into a folder."""
    if not hasattr(os, "getuid"):
        return True
    state = os.lstat(path)
    return (
        stat.S_ISDIR(state.st_mode)
        and state.st_uid == os.getuid()
        and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


# ---- digests of files ----------------------------------------------------------------------------


@cache
def digest_of_file(filename: str) -> bytes | None:
    """Return the name and a digest of a source file; of one in a zipped package, a digest of the
    whole archive. ``None`` if there is no such file."""
    at = filename
    while True:
        try:
            with _open(at, "rb") as file:
                return filename.encode() + sha256(file.read()).digest()
        except OSError:
            above = os.path.dirname(at)
            if above == at or not above or os.path.isdir(above):
                return None
            at = above


def _version() -> str:
    """Return a hash of Python's version and of the size and time of this library's files."""
    digest = sha256(f"{sys.version} {sys.flags.optimize}".encode())
    if not os.path.isdir(LIBRARY):
        digest.update(digest_of_file(os.path.join(LIBRARY, "__init__.py")) or b"")
    else:
        digest.update("".join(sorted(_states(LIBRARY))).encode())
    return digest.hexdigest()[:16]


def _states(path: str) -> Iterator[str]:
    """Yield the name, size and time of each file of Python in a folder."""
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                state = entry.stat()
                yield f"{entry.path[len(LIBRARY) :]} {state.st_size} {state.st_mtime_ns};"
            elif not entry.name.startswith("__") and entry.is_dir():
                yield from _states(entry.path)


# ---- how large it may become ---------------------------------------------------------------------


def _remove_unused(whole: str) -> None:
    """Remove folders of other versions that were not used for `DAYS_UNUSED`."""
    limit = time.time() - DAYS_UNUSED * DAY
    for entry in _versions(whole):
        if entry.stat().st_mtime < limit:
            _remove(entry.path)


def _remove(path: str) -> None:
    import shutil  # rarely needed

    shutil.rmtree(path, ignore_errors=True)


def _versions(whole: str) -> Iterator[os.DirEntry[str]]:
    """Yield the folders of all versions."""
    with contextlib.suppress(OSError), os.scandir(whole) as entries:
        for entry in entries:
            if re.fullmatch("[0-9a-f]{16}", entry.name) and entry.is_dir(follow_symlinks=False):
                yield entry


def note_used(path: str) -> None:
    """Give a file the present time, unless it has that of the same day."""
    with contextlib.suppress(OSError):
        if os.stat(path).st_mtime < time.time() - DAY:
            os.utime(path)


def note_written(size: int) -> None:
    """Count a new file of `size` bytes; if all files may be too large together, measure them, and
    remove those that were not used for the longest time.

    The length of the file `_COUNT` is the number of blocks that were written since all files were
    measured, added to those that there were.
    """
    whole = root()
    if whole is None:
        return
    blocks = -(-size // _BLOCK)
    with contextlib.suppress(OSError):
        with _open(os.path.join(whole, _COUNT), "ab", opener=_private) as file:
            file.write(b"." * blocks)
            total = file.tell()
        if total == blocks or total * _BLOCK > MOST_BYTES:  # a new count, or a full folder
            make_room(whole)


_BLOCK, _COUNT = 4096, "blocks"


def make_room(whole: str) -> None:
    """Measure all files, remove the oldest if they are too large together, and count anew."""
    size = remove_oldest(whole, MOST_BYTES)
    path = os.path.join(whole, _COUNT)
    with contextlib.suppress(OSError), _open(path, "wb", opener=_private) as file:
        file.truncate(max(1, size // _BLOCK))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def remove_oldest(whole: str, most: int) -> int:
    """Remove files, those first that were not used for the longest time, until the others have at
    most three quarters of `most` bytes; if all have fewer than `most`, none. Return their size."""
    files = [*_files(whole)]
    total = sum(one.size for one in files)
    if total <= most:
        return total
    for one in sorted(files):
        with contextlib.suppress(OSError):  # another process may have removed it
            os.remove(one.path)
        total -= one.size
        if total <= most * 3 // 4:
            break
    return total


class _File(NamedTuple):
    used: float
    size: int
    path: str


def _files(whole: str) -> Iterator[_File]:
    """Yield all files with the memory that they take on the disk, in whole blocks."""
    for version in _versions(whole):
        with contextlib.suppress(OSError), os.scandir(version.path) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    with contextlib.suppress(OSError):  # another process may have removed it
                        state = entry.stat()
                        size = -(-state.st_size // _BLOCK) * _BLOCK
                        yield _File(state.st_mtime, size, entry.path)


class Usage(NamedTuple):
    """The size of the cache: files, bytes on the disk, and versions of Python and the library."""

    files: int
    size: int
    versions: int


def usage(whole: str) -> Usage:
    """Measure a cache."""
    sizes = [one.size for one in _files(whole)]
    return Usage(len(sizes), sum(sizes), sum(1 for _ in _versions(whole)))


def clear(whole: str) -> None:
    """Remove all that this library has written into a cache, and nothing else."""
    for version in [*_versions(whole)]:
        _remove(version.path)
    with contextlib.suppress(OSError):
        os.remove(os.path.join(whole, _COUNT))
