"""The labeling of greatest loss plus score, for losses that depend on counts: by sorting.

For given numbers of hits and false alarms the best labels are those of the highest scores. With
pairs of labels the same is done with the pairs linearised at a labeling that is already good, which
may or may not lead to a better one.

``losses = (tables, starts, steps)``: loss at ``[hits, false]`` for every number of true labels,
flat, one after the other from ``starts[n_true]``; and by how much one false alarm can raise it.
``work``: see ``colabel._kernels.plane_ascent``. The truth is in slot 0.
"""

from colabel._kernels import inner_kernel

__all__ = ["worst_labeling"]


@inner_kernel
def worst_labeling(at, slot, losses, free, pairs, work):
    """Write the labeling to ``slot``, with pairs linearised at the one of ``at``; return its loss.

    O(V log V + (true labels) V + pairs).
    """
    score, hit, false = work[8][0], work[8][1], work[8][2]
    _linearise(at, free, pairs, score, work)
    n_labels, n_true = work[0].size, work[5][0]
    true_order, false_order = work[9][0], work[9][1]
    for k in range(n_true):
        true_order[k] = work[4][0, k]
    # A false alarm is no use where its score takes more than its loss can give.
    n_false = 0
    for v in range(n_labels):
        alarm = not (work[6][0, v >> 3] >> (v & 7) & 1)
        if alarm and score[v] + losses[2][n_true] >= 0.0:
            false_order[n_false] = v
            n_false += 1
    _sort(score, true_order, n_true, hit)
    _sort(score, false_order, n_false, false)
    best, width, start = -1.0, n_labels - n_true + 1, losses[1][n_true]
    n_hits, n_alarms = 0, 0
    for h in range(n_true + 1):
        for f in range(n_false + 1):
            value = hit[h] + false[f] + losses[0][start + h * width + f]
            if value > best or (h == 0 and f == 0):
                best, n_hits, n_alarms = value, h, f
    _write_labels(slot, true_order, n_hits, false_order, n_alarms, work)
    return losses[0][start + n_hits * width + n_alarms]


@inner_kernel
def _linearise(at, free, pairs, score, work):
    """Add to each label's score what its pairs with the labels of slot ``at`` are worth."""
    for v in range(work[0].size):
        score[v] = work[0][v]
    if free.size == 0:
        return
    packed = work[6][at]
    for i in range(work[0].size):
        on = packed[i >> 3] >> (i & 7) & 1
        for e in range(pairs[0][i], pairs[0][i + 1]):
            j = pairs[1][e]
            if free[e] > 0.0:
                if on:
                    score[j] += pairs[2][e] * free[e]
                if packed[j >> 3] >> (j & 7) & 1:
                    score[i] += pairs[2][e] * free[e]


@inner_kernel
def _sort(score, order, size, sums):
    """Sort labels by falling score, equal ones as they come; sum up their scores.

    Gaps of Knuth: few labels come close to being on, so that there is little to sort.
    """
    step = 1
    while step < size // 3:
        step = 3 * step + 1
    while step > 0:
        for k in range(step, size):
            v, j = order[k], k
            while j >= step and (
                score[order[j - step]] < score[v]
                or (score[order[j - step]] == score[v] and order[j - step] > v)
            ):
                order[j] = order[j - step]
                j -= step
            order[j] = v
        step //= 3
    sums[0] = 0.0
    for k in range(size):
        sums[k + 1] = sums[k] + score[order[k]]


@inner_kernel
def _write_labels(slot, true_order, n_hits, false_order, n_alarms, work):
    """List labels in ``slot``, as bits and one by one."""
    on, packed, bits = work[4][slot], work[6][slot], work[7]
    for b in range(packed.size):
        packed[b] = 0
    for k in range(n_hits):
        packed[true_order[k] >> 3] |= 1 << (true_order[k] & 7)
    for k in range(n_alarms):
        packed[false_order[k] >> 3] |= 1 << (false_order[k] & 7)
    size = 0
    for b in range(packed.size):
        for k in range(bits[packed[b], 0]):
            on[size] = 8 * b + bits[packed[b], 1 + k]
            size += 1
    work[5][slot] = size
