"""Multi-label classification that treats the labels together."""

__version__ = "0.1.0"
