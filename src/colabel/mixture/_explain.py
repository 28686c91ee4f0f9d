"""x."""

Explanation = explain = None
