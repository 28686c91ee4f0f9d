"""Score tables: what a model says about every labeling of every sample.

Models, losses, decoders and learners meet only here. A table is frozen and batched: its leading
axis is samples. Arrays are float64 and C-contiguous (edges int64, labelings int8), fixed when the
table is built, so that a kernel sees one signature. An array that is so already is not copied: do
not write to it afterwards. Scores are maximised.

================  ================================================  ===================
table             score of a labeling ``y``                         distribution
================  ================================================  ===================
``Modular``       ``sum_l u_l y_l``                                 if ``log_odds``
``Pairwise``      ``sum_l u_l y_l + sum_{lm} c_lm y_l y_m``         no
``Mixture``       ``log sum_k pi_k prod_l Bernoulli(y_l; p_kl)``    yes
``Support``       a number for each of finitely many labelings      if ``distribution``
================  ================================================  ===================

A table that is a distribution answers ``marginals``, ``log_prob``, ``sample`` and
``correlations``, each given the sample's features.
"""

from colabel.scores.base import RandomState, ScoreTable
from colabel.scores.mixture import Mixture
from colabel.scores.modular import Modular
from colabel.scores.pairwise import Pairwise
from colabel.scores.support import Support

__all__ = ["Mixture", "Modular", "Pairwise", "RandomState", "ScoreTable", "Support"]
