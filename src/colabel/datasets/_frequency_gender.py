"""Frequency-Gender, the data of Liu et al. (2018) that can be had, made from voice recordings."""

from __future__ import annotations

import numpy as np

from colabel.dataset import Dataset

__all__ = ["frequency_gender"]

LOWEST, EDGES = 0.08, (0.12, 0.16, 0.20, 0.24)  # kHz
BINS = ("80-120 Hz", "120-160 Hz", "160-200 Hz", "200-240 Hz", "240-280 Hz")
GENDERS = ("female", "male")


def frequency_gender(voice: Dataset) -> Dataset:
    """Turn the data set ``voice`` into two facets: mean frequency and gender.

    Parameters
    ----------
    voice : Dataset
        With the feature ``meanfreq`` in kHz, and one label that is on for male voices.

    Returns
    -------
    Dataset
        Voices of a mean frequency of 80 Hz and more: that frequency in five bins, and the gender.
        ``meanfreq`` itself is left out; ``centroid`` is kept, though it is the same number.

    Notes
    -----
    Rebuilt from what the paper states (3157 samples, 19 features, 5 and 2 labels) and from its
    numbers; its authors have not confirmed the bins.
    """
    place = voice.feature_names.index("meanfreq")
    frequency = voice.X[:, place]
    kept = frequency >= LOWEST
    code = np.digitize(frequency[kept], EDGES)
    male = voice.Y[kept, 0].astype(np.int64)
    Y = np.hstack([np.eye(5, dtype=np.int8)[code], np.eye(2, dtype=np.int8)[male]])
    others = [name for name in voice.feature_names if name != "meanfreq"]
    return Dataset(
        np.delete(voice.X[kept], place, axis=1),
        Y,
        tuple(others),
        BINS + GENDERS,
        "frequency-gender",
        voice.split,
        voice.source,
        {"frequency": BINS, "gender": GENDERS},
    )
