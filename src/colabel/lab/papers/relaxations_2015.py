"""Tables of Lajugie, Bojanowski, Arlot and Bach (2015), Semidefinite and spectral relaxations."""

from typing import Any

from sklearn.model_selection import GridSearchCV

from colabel.lab.plans import Entry, Plan, register
from colabel.model_selection import IterativeStratifiedKFold
from colabel.reduction import BinaryRelevance

__all__ = ["TABLE_2"]

GRID = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def _search_each_label(estimator: BinaryRelevance) -> BinaryRelevance:
    """Let every label choose its own C; the inner relevance copes with folds of one class."""
    search: Any = GridSearchCV(
        BinaryRelevance(estimator.estimator),
        {"estimator__C": list(GRID)},
        scoring="accuracy",  # one label at a time: Hamming loss is one minus it
        cv=IterativeStratifiedKFold(5, random_state=0),
    )
    return BinaryRelevance(search)


TABLE_2 = register(
    Plan(
        name="relaxations-2015.table2",
        title="F1 loss of one-versus-rest linear SVMs by how the penalty is chosen",
        data=("yeast", "enron", "medical", "bibtex"),
        quick_data=("yeast",),
        measure="example_f1",
        as_loss=True,
        entries=(
            Entry(
                "single λ, F1",
                "ovr-svm",
                {"yeast": 0.39, "enron": 0.48, "medical": 0.29, "bibtex": 0.61},
                space={"estimator__C": GRID},
                tune_for="example_f1",
            ),
            Entry(
                "single λ, Hamming",
                "ovr-svm",
                {"yeast": 0.40, "enron": 0.49, "medical": 0.29, "bibtex": 0.66},
                space={"estimator__C": GRID},
                tune_for="hamming_loss",
            ),
            Entry(
                "multiple λ, Hamming",
                "ovr-svm",
                {"yeast": 0.54, "enron": 0.46, "medical": 0.28, "bibtex": 0.66},
                wrap=_search_each_label,
            ),
        ),
        note="The penalty is chosen by five folds of the training data, not by one held-out part.",
    )
)
