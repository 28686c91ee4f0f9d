"""Multi-label data: registered sets, files in the usual formats, generators with known truth."""

from colabel.dataset import Dataset
from colabel.datasets._dependence import label_dependence
from colabel.datasets._download import fetch
from colabel.datasets._find import data_home, find
from colabel.datasets._load import load, load_labelled
from colabel.datasets._registry import DataFile, DatasetInfo, list_datasets
from colabel.datasets.formats import ReadOptions, format_of, read, write
from colabel.datasets.generators import (
    make_bernoulli_mixture,
    make_facets,
    make_pairwise,
)

__all__ = [
    "DataFile",
    "Dataset",
    "DatasetInfo",
    "ReadOptions",
    "data_home",
    "fetch",
    "find",
    "format_of",
    "label_dependence",
    "list_datasets",
    "load",
    "load_labelled",
    "make_bernoulli_mixture",
    "make_facets",
    "make_pairwise",
    "read",
    "write",
]
