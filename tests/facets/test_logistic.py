"""The usual classifier: logistic regression on features of one scale."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from colabel.facets._classifiers import ScaledLogisticRegression


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_logistic_regression_after_a_scaler(n_classes, weighted):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(80, 4)) * [1.0, 1e3, 1e-3, 0.0] + [5.0, 1e5, 0.0, 3.0]
    y = rng.integers(0, n_classes, 80)
    weight = rng.integers(1, 4, 80).astype(float) if weighted else None
    for features, with_mean in ((X, True), (sparse.csr_array(X), False)):
        scaler = StandardScaler(with_mean=with_mean).fit(features, sample_weight=weight)
        plain = LogisticRegression(C=0.3, tol=1e-10, max_iter=10_000)
        plain.fit(scaler.transform(features), y, weight)
        ours = ScaledLogisticRegression(C=0.3, tol=1e-10, max_iter=10_000)
        ours.fit(features, y, weight)
        expected = plain.predict_proba(scaler.transform(features))
        np.testing.assert_allclose(ours.predict_proba(features), expected, rtol=1e-6)
        np.testing.assert_allclose(ours.predict_proba(X), expected, rtol=1e-6)
