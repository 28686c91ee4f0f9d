"""The laboratory: methods by name, compared on the same data, and the papers' tables.

``compare`` runs methods on data, ``read_plan`` reads a comparison from a file, ``tune`` searches
parameters, ``reproduce`` runs a paper's table. ``colabel.lab.statistics`` says which differences
are more than chance.
"""

from colabel.lab.compare import compare, default_methods, summarise, variant_of
from colabel.lab.methods import METHODS, list_methods, make
from colabel.lab.plan_files import Comparison, read_plan
from colabel.lab.plans import Entry, Plan, find_plans, list_plans, register
from colabel.lab.results_file import read_results
from colabel.lab.rows import Row, Variant
from colabel.lab.searched import Search
from colabel.lab.tables import reproduce
from colabel.lab.tune import Trial, Tuning, tune

__all__ = [
    "METHODS",
    "Comparison",
    "Entry",
    "Plan",
    "Row",
    "Search",
    "Trial",
    "Tuning",
    "Variant",
    "compare",
    "default_methods",
    "find_plans",
    "list_methods",
    "list_plans",
    "make",
    "read_plan",
    "read_results",
    "register",
    "reproduce",
    "summarise",
    "tune",
    "variant_of",
]
