"""Shared arithmetic: matrix products, magnitudes, distinct rows, threads and seeds."""
