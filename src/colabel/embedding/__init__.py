"""Output codes: labels are encoded, the code is regressed on the features, and decoded."""

from colabel.embedding._canonical import CCAOutputCode
from colabel.embedding._max_margin import MaxMarginOutputCode
from colabel.embedding._principal import CPLST, PLST

__all__ = ["CPLST", "PLST", "CCAOutputCode", "MaxMarginOutputCode"]
