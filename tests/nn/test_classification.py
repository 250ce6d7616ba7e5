import numpy as np
import pytest

import adjoint as ad
from adjoint import nn

SCORES = np.array([[0.1, 0.9, 0.0], [0.8, 0.1, 0.1], [0.2, 0.2, 0.1], [0.0, 0.0, 1.0]])
LABELS = np.array([1, 1, 0, 2])


def test_scores_labels_and_rows():
    assert nn.accuracy(SCORES, LABELS) == 0.75
    assert nn.accuracy(SCORES, nn.onehot(LABELS, 3)) == 0.75
    assert nn.accuracy(SCORES, nn.onehot(LABELS, 3, dtype=int)) == 0.75
    assert nn.accuracy(nn.onecold(SCORES), LABELS) == 0.75
    assert nn.accuracy(SCORES[0], 1) == 1.0
    assert nn.accuracy(SCORES.reshape(2, 2, 3), LABELS.reshape(2, 2)) == 0.75
    assert nn.accuracy(np.array([-1.0, 2.0, 3.0]) > 0, [0, 0, 1]) == pytest.approx(2 / 3)
    assert type(nn.accuracy(SCORES, LABELS)) is float


@pytest.mark.parametrize(
    "yhat, y",
    [
        (np.ones(4), LABELS),  # of which threshold?
        (np.ones((4, 3)), np.ones((4, 2))),
        (SCORES, LABELS[:3]),
        (SCORES, LABELS[:, None]),
        (LABELS, nn.onehot(LABELS, 3)),
        (1.0, 1),
    ],
)
def test_shapes_that_do_not_fit(yhat, y):
    with pytest.raises(ValueError, match="do not fit labels of shape .* such as scores > 0"):
        nn.accuracy(yhat, y)


def test_one_column_of_scores():
    """The largest of one score is always the first: all samples would be of class 0."""
    with pytest.raises(ValueError, match="such as scores > 0"):
        nn.accuracy(np.ones((4, 1)), LABELS)


def test_no_samples():
    with pytest.raises(ValueError, match="no samples"):
        nn.accuracy(np.ones((0, 2)), np.ones(0, int))


def test_it_is_constant_in_derivatives():
    found = ad.gradient(lambda s: np.sum(s) * nn.accuracy(s, LABELS), SCORES)[0]
    np.testing.assert_array_equal(found, np.full((4, 3), 0.75))
