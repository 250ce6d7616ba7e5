"""`nn.save` and `nn.load`."""

import json

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn

ENDINGS = ["npz", "safetensors"]


class Holder:
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.file = rng.normal(size=3)  # a name that `np.savez` takes for its own
        self.net = nn.Chain(
            nn.Dense(2, 3, nn.relu, rng=rng, dtype=np.float32), nn.Dense(3, 1, rng=rng)
        )
        self.tied = self.net[0].W
        self.parts = {
            "a b/c": [rng.normal(size=(2, 0, 1)), np.array(rng.normal())],
            7: self.file[::2],
        }
        self.name, self.n = f"model {seed}", seed


@pytest.mark.parametrize("ending", ENDINGS)
def test_there_and_back(tmp_path, ending):
    path, one, other = tmp_path / f"model.{ending}", Holder(0), Holder(1)
    arrays = nn.parameters(other)
    nn.save(path, one)
    assert nn.load(str(path), other) is other
    assert [id(a) for a in nn.parameters(other)] == [id(a) for a in arrays]
    for a, b in zip(nn.parameters(one), arrays, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
    assert other.tied is other.net[0].W and other.name == "model 1" and other.n == 1
    x = np.ones((4, 2))
    np.testing.assert_array_equal(one.net(x), other.net(x))


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_kind_of_model(tmp_path, ending):
    def closure(x):
        return w * x

    w = np.arange(3.0)
    for model in (w, closure, [w], nn.Dense(2, 2), nn.Dense(2, 2).__call__):
        path = tmp_path / f"model.{ending}"
        before = [p.copy() for p in nn.parameters(model)]
        nn.save(path, model)
        for p in nn.parameters(model):
            p[...] = -1.0
        nn.load(path, model)
        np.testing.assert_equal(nn.parameters(model), before)


def test_npz_is_what_numpy_reads(tmp_path):
    model = {"w": np.array([1 + 2j]), "layers": [nn.Dense(2, 1)]}
    nn.save(tmp_path / "model.npz", model)
    with np.load(tmp_path / "model.npz", allow_pickle=False) as file:
        assert file.files == ["w", "layers.0.W", "layers.0.b"]
        np.testing.assert_array_equal(file["w"], model["w"])
    np.savez(
        tmp_path / "theirs.npz",
        w=np.array([3.0]),
        **{"layers.0.W": np.ones((2, 1)), "layers.0.b": np.ones(1)},
    )
    assert nn.load(tmp_path / "theirs.npz", model)["w"][0] == 3.0


def test_the_bytes_of_safetensors(tmp_path):
    """By the definition of the format: https://github.com/huggingface/safetensors#format."""
    path = tmp_path / "model.safetensors"
    nn.save(path, {"b": np.array([1.0, -2.0], np.float32), "a": np.array(0.5)})
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    assert size % 8 == 0
    assert json.loads(content[8 : 8 + size]) == {
        "b": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "a": {"dtype": "F64", "shape": [], "data_offsets": [8, 16]},
    }
    assert content[8 + size :] == bytes.fromhex("0000803f000000c0000000000000e03f")


def test_the_package_safetensors_agrees(tmp_path):
    theirs = pytest.importorskip("safetensors.numpy")
    path, arrays = (
        tmp_path / "m.safetensors",
        {"w": np.random.default_rng(0).normal(size=(3, 2)), "h": np.ones(2, np.float16)},
    )
    nn.save(path, arrays)
    np.testing.assert_equal(theirs.load_file(path), arrays)
    theirs.save_file({"w": 2 * arrays["w"], "h": arrays["h"]}, path, metadata={"by": "them"})
    loaded = nn.load(path, {"w": np.zeros((3, 2)), "h": np.zeros(2, np.float16)})
    np.testing.assert_array_equal(loaded["w"], 2 * arrays["w"])


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_that_does_not_fit_changes_nothing(tmp_path, ending):
    path = tmp_path / f"model.{ending}"
    nn.save(
        path,
        {
            "a": np.ones(2),
            "b": np.ones((2, 3)),
            "z": np.ones(1, np.complex64),
            "frozen": np.ones(1),
            "old": np.ones(1),
        },
    )
    frozen = np.zeros(1)
    frozen.flags.writeable = False
    model = {
        "a": np.zeros(2),
        "b": np.zeros((3, 2)),
        "z": np.zeros(1),
        "frozen": frozen,
        "new": np.zeros(1),
    }
    with pytest.raises(ad.ArgumentError) as caught:
        nn.load(path, model)
    for part in (
        "does not fit this dict",
        "it lacks 'new'",
        "the model lacks 'old'",
        "'b' (shape (2, 3) for (3, 2))",
        "'z' (complex64 for float64)",
        "'frozen' (the model's is read-only)",
        "nothing of it has been changed",
    ):
        assert part in str(caught.value)
    assert all(not np.any(array) for array in model.values())


def test_arrays_that_could_run_code_are_refused(tmp_path):
    path = tmp_path / "bad.npz"
    np.savez(path, w=np.array([print, None], object))
    with pytest.raises(ad.ArgumentError, match="no .npz file of plain arrays"):
        nn.load(path, {"w": np.zeros(2)})


HEADER = {"w": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "BF16"},
        {"shape": [2]},
        {"shape": [-1]},
        {"shape": ["x"]},
        {"data_offsets": [-8, 0]},
        {"data_offsets": [8, 16]},
        {"data_offsets": [0]},
        {"dtype": ["F64"]},
    ],
)
def test_broken_safetensors(tmp_path, change):
    path = tmp_path / "bad.safetensors"
    text = json.dumps({"w": HEADER["w"] | change}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(8))
    with pytest.raises(ad.ArgumentError, match="no file of safetensors"):
        nn.load(path, {"w": np.zeros(1)})


@pytest.mark.parametrize(
    "content", [b"", b"abc", b"\xff" * 20, (2).to_bytes(8, "little") + b"[]", b"PK\x03\x04" * 9]
)
def test_other_files(tmp_path, content):
    for ending in ENDINGS:
        path = tmp_path / f"bad.{ending}"
        path.write_bytes(content)
        with pytest.raises(ad.ArgumentError, match="no (file of safetensors|.npz file)"):
            nn.load(path, {"w": np.zeros(1)})


def test_bad_input(tmp_path):
    with pytest.raises(ad.ArgumentError, match=r"does not say in which format\nhint: give a name"):
        nn.save(tmp_path / "model.pkl", np.ones(2))
    with pytest.raises(ad.ArgumentError, match="dict holds no arrays of floats"):
        nn.save(tmp_path / "model.npz", {"n": 1})
    with pytest.raises(ad.ArgumentError, match="two arrays of the model have the name 'a.b'"):
        nn.save(tmp_path / "model.npz", {"a.b": np.ones(1), "a": {"b": np.zeros(1)}})
    with pytest.raises(ad.ArgumentError, match="cannot hold 'z', an array of complex128"):
        nn.save(tmp_path / "model.safetensors", {"z": np.ones(1, complex)})
    with pytest.raises(FileNotFoundError):
        nn.load(tmp_path / "none.npz", {"w": np.ones(1)})
