"""Boosted trees as plain arrays."""
