"""Linear models in batches: logistic, multinomial, log-linear and ridge regressions."""
