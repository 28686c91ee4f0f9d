"""Convex functions of positive semidefinite matrices, minimised."""
