"""Output codes: labels are encoded, the code is regressed on the features, and decoded."""

from colabel.embedding._principal import CPLST, PLST

__all__ = ["CPLST", "PLST"]
