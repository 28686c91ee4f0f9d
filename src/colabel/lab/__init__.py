"""The laboratory: methods by name, compared on the same data, and the papers' tables."""

from colabel.lab.compare import compare, default_methods, summarise
from colabel.lab.methods import METHODS, list_methods, make
from colabel.lab.plans import Entry, Plan, find_plans, list_plans, register
from colabel.lab.tables import reproduce
from colabel.lab.tune import Trial, Tuning, tune

__all__ = [
    "METHODS",
    "Entry",
    "Plan",
    "Trial",
    "Tuning",
    "compare",
    "default_methods",
    "find_plans",
    "list_methods",
    "list_plans",
    "make",
    "register",
    "reproduce",
    "summarise",
    "tune",
]
