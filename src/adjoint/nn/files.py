"""Models to files and back: arrays by name, without pickle."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from adjoint.errors import ArgumentError
from adjoint.nn import safetensors
from adjoint.nn.parameters import named_parameters

Model = TypeVar("Model")


def save(path: str | os.PathLike[str], model: Any) -> None:
    """Write the arrays of floats of a model to a file.

    Parameters
    ----------
    path : str or path
        Its ending is the format: ``.npz``, which `numpy.load` reads, or ``.safetensors``. An
        existing file is overwritten.
    model
        Any object, as for `parameters`. Its other parts (numbers, text, functions, the classes) are
        not written.

    Raises
    ------
    ArgumentError
        The ending is another, the model has no arrays of floats, or two have the same name; or an
        array has a dtype that the format lacks.

    See Also
    --------
    adjoint.nn.summary : shows the names, such as ``layers.0.W``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/line.npz", {"w": np.array([2.0, 3.0]), "name": "line"})
    ...     print(*np.load(f"{folder}/line.npz").items())
    ('w', array([2., 3.]))
    """
    target = _checked(path)
    arrays = _named(model)
    if target.suffix == ".safetensors":
        safetensors.write(target, arrays)
        return
    from adjoint.nn import npz  # on first use, with all kinds of compression

    npz.write(target, arrays)


def load(path: str | os.PathLike[str], model: Model) -> Model:
    """Fill the arrays of floats of a model, in place, with those of a file.

    Parameters
    ----------
    path : str or path
        A file as `save` writes it, or any ``.npz`` or ``.safetensors`` with these names.
    model
        Any object of the structure of the one that was saved.

    Returns
    -------
    model
        The same object. Its arrays keep their dtypes.

    Raises
    ------
    ArgumentError
        The file does not fit the model: the message lists the names that the file lacks, those that
        the model lacks, and those with another shape or kind. Then nothing has been changed.

    Examples
    --------
    >>> import tempfile, adjoint as ad
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ad.nn.save(f"{folder}/line.npz", {"w": np.ones(2), "name": "line"})
    ...     ad.nn.load(f"{folder}/line.npz", {"w": np.zeros(2), "name": "line"})
    {'w': array([1., 1.]), 'name': 'line'}
    """
    source = _checked(path)
    arrays = _named(model)
    if source.suffix == ".safetensors":
        found = safetensors.read(source)
    else:
        from adjoint.nn import npz  # on first use, with all kinds of compression

        found = npz.read(source)
    problems = [
        *_list("it lacks", [name for name in arrays if name not in found]),
        *_list("the model lacks", [name for name in found if name not in arrays]),
        *_list("they differ in", [*_differences(arrays, found)]),
    ]
    if problems:
        raise ArgumentError(
            f"{source} does not fit this {type(model).__name__}: {'; '.join(problems)}",
            hint="build the model as it was when it was saved; nothing of it has been changed",
        )
    for name, array in arrays.items():
        array[...] = found[name]
    return model


def _checked(path: str | os.PathLike[str]) -> Path:
    checked = Path(path)
    if checked.suffix not in (".npz", ".safetensors"):
        raise ArgumentError(
            f"{checked.name!r} does not say in which format",
            hint="give a name that ends in .npz or .safetensors",
        )
    return checked


def _named(model: Any) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for name, _, array in named_parameters(model):
        if name in arrays:
            raise ArgumentError(
                f"two arrays of the model have the name {name!r}",
                hint="use keys without dots, of which no two read alike (1 and '1')",
            )
        arrays[name] = array
    if not arrays:
        raise ArgumentError(
            f"{type(model).__name__} holds no arrays of floats",
            hint="keep parameters in np.array(..., dtype=float)",
        )
    return arrays


def _differences(arrays: dict[str, NDArray[Any]], found: dict[str, NDArray[Any]]) -> list[str]:
    different = []
    for name, array in arrays.items():
        new = found.get(name)
        if new is None:
            continue
        if new.shape != array.shape:
            different.append(f"{name!r} (shape {new.shape} for {array.shape})")
        elif not np.can_cast(new.dtype, array.dtype, "same_kind"):
            different.append(f"{name!r} ({new.dtype} for {array.dtype})")
        elif not array.flags.writeable:
            different.append(f"{name!r} (the model's is read-only)")
    return different


def _list(problem: str, names: list[str]) -> list[str]:
    quoted = [name if name.startswith("'") else repr(name) for name in names]
    return [f"{problem} {', '.join(quoted)}"] if names else []
