"""The ``colabel`` command."""

from colabel.cli._app import app, main

__all__ = ["app", "main"]
