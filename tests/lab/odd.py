"""Estimators that do odd things; worker processes import them from here."""

import os
import signal
import threading
import time
import warnings

import numpy as np
from sklearn.base import BaseEstimator


class Odd(BaseEstimator):
    """Does something while it is fitted."""

    def __init__(self, how="nothing"):
        self.how = how

    def fit(self, X, y):
        getattr(self, self.how)()
        self.n_labels_ = y.shape[1]
        return self

    def predict(self, X):
        return np.ones((len(X), self.n_labels_), int)

    def nothing(self):
        pass

    def sleep(self):
        time.sleep(600)

    def eat(self):
        self.held_ = np.ones(2**27)  # 1 GiB
        time.sleep(600)

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def leave(self):
        os._exit(3)

    def fail(self):
        raise RuntimeError("not today")

    def warn(self):
        warnings.warn("mind the step", UserWarning, stacklevel=2)

    def threads(self):
        raise RuntimeError(os.environ["OMP_NUM_THREADS"] + os.environ["NUMBA_NUM_THREADS"])


class Locked(Odd):
    """Cannot be sent anywhere."""

    def __init__(self, how="nothing"):
        super().__init__(how)
        self.lock = threading.Lock()
