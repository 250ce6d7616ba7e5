"""The cache on disk, from the command line."""

from __future__ import annotations

import os
import warnings

from adjoint.runtime.cache.folder import MOST_BYTES, clear, folder, root, usage


def report(*, clearing: bool) -> str:
    """Return where the cache is and how large it is; remove it first if asked to."""
    whole = root()
    if whole is None:
        return "there is no cache: ADJOINT_CACHE is off"
    lines = [f"folder: {whole}"]
    if clearing:
        before = usage(whole)
        clear(whole)
        lines.append(f"removed: {_size(before.size)} in {before.files} files")
        return "\n".join(lines)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        own = folder()
    now = usage(whole)
    versions = "version" if now.versions == 1 else "versions"
    lines.append(
        f"size: {_size(now.size)} of at most {_size(MOST_BYTES)}, in {now.files} files of"
        f" {now.versions} {versions} of Python and Adjoint"
    )
    if own is None:
        lines += [f"not used: {one.message}" for one in caught] or ["not used"]
    elif os.environ.get("ADJOINT_CACHE"):
        lines.append("named by ADJOINT_CACHE")
    return "\n".join(lines)


def _size(count: int) -> str:
    return f"{count / (1 << 20):.1f} MB"
