"""Networks with one hidden layer: radial basis functions, and back-propagation for label pairs."""

from colabel.neural._rbf_network import RBFNetwork

__all__ = ["RBFNetwork"]
