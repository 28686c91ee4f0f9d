"""Decision trees side by side, each walked by every row."""

from colabel._kernels import plain_kernel

__all__ = ["add_trees"]

# Rows walked together through all trees: they stay in a core's own cache, up to a few hundred
# features.
BLOCK = 64


@plain_kernel
def add_trees(X, feature, threshold, left, right, value, owner, out):
    """Add what each tree says about each row to the tree's line of ``out``.

    Parameters
    ----------
    X : float64 array of shape (n, D)
        Not NaN.
    feature : int array of shape (T, S)
        Feature that a split looks at; splits of a tree are numbered from its root, 0.
    threshold : float64 array of shape (T, S)
        Rows go left where ``X[i, feature] <= threshold``.
    left, right : int arrays of shape (T, S)
        The next split, or leaf ``l`` as ``-1 - l``. Later than the split itself, so that every
        walk ends.
    value : float64 array of shape (T, S + 1)
        Of each leaf.
    owner : int64 array of shape (T,)
        Line of ``out`` that a tree belongs to.
    out : float64 array of shape (C, n)

    Notes
    -----
    O(n T depth). Each line of ``out`` gets its trees in their order, so that results depend
    neither on the rows nor on the other lines.
    """
    n = X.shape[0]
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        for t in range(feature.shape[0]):
            line = out[owner[t]]
            for i in range(start, stop):
                node = 0
                while node >= 0:
                    if X[i, feature[t, node]] <= threshold[t, node]:
                        node = left[t, node]
                    else:
                        node = right[t, node]
                line[i] += value[t, -1 - node]
