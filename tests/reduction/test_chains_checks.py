"""Chains and dependency networks are scikit-learn citizens, with no expected failures."""

from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel.reduction._chain import ClassifierChain
from colabel.reduction._chain_ensemble import ChainEnsemble
from colabel.reduction._dependency_network import ConditionalDependencyNetwork
from colabel.reduction._probabilistic_chain import ProbabilisticClassifierChain

LINEAR = LogisticRegression(solver="liblinear", tol=1e-12, max_iter=10_000)
QUICK = {"n_chains": 3, "n_burn": 10, "n_draws": 20, "random_state": 0}
ESTIMATORS = [
    ClassifierChain(),
    ProbabilisticClassifierChain(),
    ProbabilisticClassifierChain(search="beam", width=3),
    ChainEnsemble(n_chains=3, random_state=0),
    ChainEnsemble(n_chains=3, vote="subset", random_state=0),
    ConditionalDependencyNetwork(**QUICK),
    # Any other classifier takes another path through the code.
    ProbabilisticClassifierChain(LINEAR),
    ConditionalDependencyNetwork(LINEAR, **QUICK),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
