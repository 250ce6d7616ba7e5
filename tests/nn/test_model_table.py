import numpy as np

from adjoint import nn


def test_every_array_once():
    w = np.zeros((3, 2), np.float32)
    model = {"encoder": w, "decoder": [w, nn.Dense(2, 1000)], "z": np.zeros((), complex), "n": 3}
    assert nn.summary(model).splitlines() == [
        "name         in     shape      dtype       numbers",
        "encoder      dict   (3, 2)     float32           6",
        "decoder.1.W  Dense  (2, 1000)  float64       2,000",
        "decoder.1.b  Dense  (1000,)    float64       1,000",
        "z            dict   ()         complex128        1",
        "dict: 3,007 numbers in 4 arrays, 24 kB",
    ]


def test_other_models():
    w = np.zeros(2)
    assert nn.summary(lambda x: w * x).splitlines()[1].split()[:2] == ["w", "function"]
    assert nn.summary(w).splitlines()[1].startswith("array")
    assert nn.summary([1, 2.0]).endswith("list: 0 numbers in 0 arrays, 0 bytes")
