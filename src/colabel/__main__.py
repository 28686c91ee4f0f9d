"""``python -m colabel``: the command line."""

from colabel.cli import main

main()
