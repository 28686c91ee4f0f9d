"""The laboratory: methods by name, compared on the same data, and the papers' tables.

``compare`` runs methods on data, ``read_plan`` reads a comparison from a file, ``tune`` searches
parameters, ``reproduce`` runs a paper's table. ``colabel.lab.statistics`` says which differences
are more than chance.
"""

from colabel.lab.cell import Variant
from colabel.lab.compare import compare, default_methods, variant_of
from colabel.lab.methods import METHODS, list_methods, make
from colabel.lab.paper_tables import Entry, PaperTable, find_tables, list_tables, register
from colabel.lab.plan_files import Comparison, read_plan
from colabel.lab.reproduce import reproduce
from colabel.lab.rows import Row, summarise
from colabel.lab.run_folder import read_results
from colabel.lab.search import Search, Trial
from colabel.lab.tune import Tuning, tune

__all__ = [
    "METHODS",
    "Comparison",
    "Entry",
    "PaperTable",
    "Row",
    "Search",
    "Trial",
    "Tuning",
    "Variant",
    "compare",
    "default_methods",
    "find_tables",
    "list_methods",
    "list_tables",
    "make",
    "read_plan",
    "read_results",
    "register",
    "reproduce",
    "summarise",
    "tune",
    "variant_of",
]
