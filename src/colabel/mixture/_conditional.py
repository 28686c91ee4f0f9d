"""Conditional Bernoulli mixtures: a gate, and experts that are independent given a component."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from colabel._sklearn import check_weight
from colabel.base import MultiLabelClassifier
from colabel.decoders import BaseDecoder
from colabel.learners.logistic import fit_logistic
from colabel.mixture._bernoulli import BernoulliMixture
from colabel.mixture._em import GatedMixture, runner
from colabel.mixture._experts import LogisticExperts
from colabel.mixture._features import Features
from colabel.mixture._gate import SoftmaxGate
from colabel.scores import Mixture, RandomState

__all__ = ["ConditionalBernoulliMixture"]

Floats = NDArray[np.float64]


class ConditionalBernoulliMixture(MultiLabelClassifier):
    """Conditional Bernoulli mixture (Li et al. 2016).

    ``p(y | x) = sum_k pi_k(x) prod_l b(y_l | x, beta_l^k)``: labels are independent within a
    component, and the gate ``pi`` says which components answer for ``x``, so that in the mixture
    they depend on one another. One component is binary relevance; one component a label set, with
    constant experts, is label powerset. Trained by EM from a ``BernoulliMixture`` of the labels.

    Parameters
    ----------
    n_components : int, default=30
        ``K``; flat beyond 20 to 50 on most data. Components that die out cost nothing.
    """

    _table: ClassVar[type[Mixture]] = Mixture
    _decoder: ClassVar[str] = "mixture_mode"

    def __init__(
        self,
        n_components: int = 30,
        *,
        expert_variance: float = 10.0,
        gate_variance: float = 10.0,
        expert_prior: str = "zero",
        n_steps: int = 10,
        m_steps: int = 10,
        n_init: int = 10,
        n_models: int = 1,
        scale: bool = True,
        decoder: str | BaseDecoder | None = None,
        empty: str = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.expert_variance = expert_variance
        self.gate_variance = gate_variance
        self.expert_prior = expert_prior
        self.n_steps = n_steps
        self.m_steps = m_steps
        self.n_init = n_init
        self.n_models = n_models
        self.scale = scale
        self.decoder = decoder
        self.empty = empty
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        if sample_weight is not None:
            sample_weight = check_weight(sample_weight, X)
        return super().fit(X, y, sample_weight=sample_weight)

    def _fit(self, X: Any, Y: NDArray[np.int8], **given: Any) -> None:
        weight = given["sample_weight"]
        weight = np.ones(len(Y)) if weight is None else weight.astype(np.float64)
        self._nonempty = self.empty == "forbid" or (
            self.empty == "auto" and bool(Y[weight > 0].any(axis=1).all())
        )
        rng = check_random_state(self.random_state)
        seeds = rng.randint(2**31 - 1, size=self.n_models)
        with threadpool_limits(1, user_api="blas"):
            features = Features(self.scale).fit(X, weight)
            center = None
            if self.expert_prior == "shared":
                center = fit_logistic(
                    features.products(X), Y, penalty=1.0 / self.expert_variance, weight=weight
                )
            self.models_ = []
            self.history_ = []
            for seed in seeds:
                gate = SoftmaxGate(features, 1.0 / self.gate_variance, self.m_steps)
                experts = LogisticExperts(
                    features, 1.0 / self.expert_variance, self.m_steps, center
                )
                self._run(GatedMixture(gate, experts), X, Y, weight, int(seed))
                experts.finish()

    def _run(self, model: Any, X: Any, Y: Any, weight: Floats, seed: int) -> None:
        labels = BernoulliMixture(self.n_components, n_init=self.n_init, random_state=seed)
        labels.fit(Y, sample_weight=weight)
        gamma = np.ascontiguousarray(labels.responsibilities(Y).T)
        columns = np.ascontiguousarray(Y.T, dtype=np.float32)
        views = model.views(X)
        run = runner(effective_n_jobs(self.n_jobs))
        history = []
        self.steps_ = getattr(self, "hook", None)
        for _ in range(self.n_steps):
            model.maximise(views, columns, gamma, weight, run)
            gamma, log_likelihood = model.expect(views, columns)
            history.append(model.objective(log_likelihood, weight))
            if self.steps_:
                self.steps_(model)
        self.models_.append(model)
        self.history_.append(np.array(history))

    def _scores(self, X: Any) -> Mixture:
        with threadpool_limits(1, user_api="blas"):
            parts = [model.table(X) for model in self.models_]
        return Mixture(
            np.concatenate([weights for weights, _ in parts], axis=1),
            np.concatenate([logits for _, logits in parts], axis=1),
        )

    def _check_parameters(self) -> None:
        pass
