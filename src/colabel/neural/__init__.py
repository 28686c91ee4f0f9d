"""Networks with one hidden layer: radial basis functions, and back-propagation for label pairs."""

from colabel.neural._bp_mll import BPMLL
from colabel.neural._ml_rbf import MLRBF
from colabel.neural._rbf_network import RBFNetwork

__all__ = ["BPMLL", "MLRBF", "RBFNetwork"]
