"""The most probable labeling of a mixture by one ranked list per component (Li et al. 2016).

Algorithm 2 of the paper with line 10 corrected: ``q`` is the probability of the labeling just
dequeued under the component, not of the all-on labeling. The search of ``mixture_mode`` finds the
same labeling in far fewer steps; this one is kept for reproduction and comparison.

Labelings wait as bits in 64-bit words, in one pool for all components: a pairing heap of each
component orders its own, and a hash table holds the pairs (component, labeling) seen.
"""

from typing import NamedTuple

import numpy as np

from colabel._kernels import bare_kernel, inner_kernel, kernel
from colabel._kernels.mixture_parts import charge, keep_components, peak_and_shares

__all__ = ["ranked_lists"]

# Labelings that may have been enqueued: the memory bound of one sample, besides max_pops.
POOL = 1 << 21
# Columns of ``proof``.
VALUE, BOUND = range(2)
# Columns of ``links``: component, first child, next sibling.
OWNER, CHILD, SIBLING = range(3)


class Pool(NamedTuple):
    """Labelings as words, their keys, the links of the heaps, and the hash table."""

    words: np.ndarray
    keys: np.ndarray
    links: np.ndarray
    table: np.ndarray


@kernel
def ranked_lists(log_weights, logits, nonempty, max_pops, labels, proof):
    """Find the most probable labeling of each sample.

    Parameters
    ----------
    log_weights : float64 array of shape (n, K)
    logits : float64 array of shape (n, K, L)
    nonempty : bool
        Leave the empty labeling out.
    max_pops : int
        Labelings to dequeue per sample.
    labels : int8 array of shape (n, L)
        Filled in place.
    proof : float64 array of shape (n, 2)
        Log-probability of the labeling and a bound on the best; filled in place.

    Notes
    -----
    O(K L) per labeling dequeued, exact unless ``max_pops`` were, or two million enqueued.
    Both tests of line 13 are used. A sample cut short is bounded by what no list has shown yet:
    ``sum_k pi_k q_k`` at the places reached.
    """
    n_samples, n_components, n_labels = logits.shape
    kept, head = np.empty(n_components, np.int64), np.empty(n_components)
    factors, some = np.empty((n_components, 2 * n_labels)), np.empty(n_labels)
    for i in range(n_samples):
        n = keep_components(log_weights[i], logits[i], n_labels, kept, head, factors, some)
        found = _one_sample(logits[i], kept[:n], head[:n], nonempty, max_pops, labels[i])
        proof[i, VALUE], proof[i, BOUND] = found


@inner_kernel
def _one_sample(logits, kept, head, nonempty, max_pops, labeling):
    """Run Algorithm 2; return the best log-probability found and a bound."""
    n_kept, n_labels = kept.size, labeling.size
    signs, joint, shares = np.empty(n_labels), np.empty(n_kept), np.empty(n_kept)
    place, tops = np.empty(n_kept), np.empty(n_kept, np.int64)
    pool, words = _new_pool(4096, n_labels), np.empty(_n_words(n_labels), np.uint64)
    size = np.int64(0)
    for k in range(n_kept):
        place[k], tops[k] = head[k], -1
        _prefer(logits[kept[k]], words)
        tops[k] = _enqueue(pool, size, k, head[k], words, tops)
        size += 1
    best, pops, n_open = -np.inf, 0, n_kept
    while n_open > 0:
        n_open = 0
        for k in range(n_kept):
            if tops[k] < 0:
                continue
            if pops >= max_pops or size + n_labels > POOL:
                return best, max(best, _log_sum(place, shares))
            pops += 1
            if size + n_labels > pool.keys.size:
                pool = _grown(pool, size)
            size = _find_next_highest(pool, size, k, tops, place, logits[kept[k]], signs, words)
            charge(logits, kept, head, signs, joint)
            p = _log_sum(joint, shares)
            if p > best and not (nonempty and _empty(signs)):
                best = p
                for v in range(n_labels):
                    labeling[v] = signs[v] > 0.0
            if _pruned(place[k], k, head, best):
                tops[k] = -1
            n_open += tops[k] >= 0
    return best, best


@bare_kernel
def _log_sum(joint, shares):
    """Return ``log(sum(exp(joint)))``, with the terms left in ``shares``."""
    peak, total = peak_and_shares(joint, shares)
    return peak + np.log(total)


@bare_kernel
def _pruned(place, k, head, best):
    """Lines 13-14: nothing further down the list of ``k`` can beat ``best``."""
    if place <= best - np.log(head.size):
        return True
    rest = np.exp(min(place - best, 1.0))
    for r in range(head.size):
        if r != k:
            rest += np.exp(min(head[r] - best, 1.0))
    return rest <= 1.0


@bare_kernel
def _empty(signs):
    """Tell whether no label is on."""
    highest = -1.0
    for v in range(signs.size):
        highest = max(highest, signs[v])
    return highest < 0.0


@bare_kernel
def _n_words(n_labels):
    """Return the words of 64 bits that a labeling takes."""
    return (n_labels + 63) // 64


@bare_kernel
def _prefer(logits, words):
    """Write a component's best labeling as words of 64 bits."""
    for w in range(words.size):
        words[w] = 0
    for v in range(logits.size):
        if logits[v] > 0.0:
            words[v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@inner_kernel
def _new_pool(capacity, n_labels):
    """Allocate a pool for so many labelings."""
    table = np.empty(4 * capacity, np.int64)
    for slot in range(table.size):
        table[slot] = -1
    words = np.empty((capacity, _n_words(n_labels)), np.uint64)
    return Pool(words, np.empty(capacity), np.empty((capacity, 3), np.int64), table)


@inner_kernel
def _grown(pool, size):
    """Return the pool with room for as many again."""
    words, links = pool.words, pool.links
    new = _new_pool(2 * pool.keys.size, 64 * words.shape[1])
    for i in range(size):
        new.table[_find(new, links[i, OWNER], words[i])] = i
        new.keys[i] = pool.keys[i]
        for w in range(words.shape[1]):
            new.words[i, w] = words[i, w]
        for j in range(links.shape[1]):
            new.links[i, j] = links[i, j]
    return new


@bare_kernel
def _find(pool, owner, words):
    """Return the hash table's slot of a labeling of a component, or the free one for it."""
    known, links, table = pool.words, pool.links, pool.table
    mask = np.uint64(table.size - 1)
    code = np.uint64(owner) * np.uint64(0x9E3779B97F4A7C15)
    for w in range(words.size):
        code = (code ^ words[w]) * np.uint64(0xBF58476D1CE4E5B9)
        code ^= code >> np.uint64(29)
    slot = np.int64(code & mask)
    while table[slot] >= 0:
        i = table[slot]
        same = links[i, OWNER] == owner
        for w in range(words.size):
            same = same and known[i, w] == words[w]
        if same:
            break
        slot = np.int64(np.uint64(slot + 1) & mask)
    return slot


@bare_kernel
def _enqueue(pool, size, owner, key, words, tops):
    """Add a labeling to a component's heap; return the heap's new top, -1 if it was seen before."""
    links, table = pool.links, pool.table
    slot = _find(pool, owner, words)
    if table[slot] >= 0:
        return -1
    table[slot] = size
    for w in range(words.size):
        pool.words[size, w] = words[w]
    pool.keys[size] = key
    links[size, OWNER], links[size, CHILD], links[size, SIBLING] = owner, -1, -1
    return _meld(pool.keys, links, tops[owner], size)


@bare_kernel
def _meld(keys, links, a, b):
    """Join two pairing heaps (-1: none); return the top."""
    if a < 0 or b < 0:
        return max(a, b)
    if keys[b] > keys[a]:
        a, b = b, a
    links[b, SIBLING], links[a, CHILD] = links[a, CHILD], b
    return a


@bare_kernel
def _dequeue(pool, top):
    """Take the top off a heap; return the top of what is left (-1: nothing)."""
    keys, links = pool.keys, pool.links
    pairs, node = np.int64(-1), links[top, CHILD]
    while node >= 0:
        other = links[node, SIBLING]
        following = links[other, SIBLING] if other >= 0 else -1
        pair = _meld(keys, links, node, other)
        links[pair, SIBLING] = pairs
        pairs, node = pair, following
    whole = np.int64(-1)
    while pairs >= 0:
        following = links[pairs, SIBLING]
        whole = _meld(keys, links, whole, pairs)
        pairs = following
    return whole


@bare_kernel
def _find_next_highest(pool, size, k, tops, place, logits, signs, words):
    """Dequeue a component's next labeling into ``signs``, enqueue its neighbours (lines 16-22).

    Return the new size of the pool; ``tops[k]`` is -1 when the list has come to its end.
    """
    top = tops[k]
    place[k] = pool.keys[top]
    for w in range(words.size):
        words[w] = pool.words[top, w]
    tops[k] = _dequeue(pool, top)
    for v in range(logits.size):
        bit = np.uint64(1) << np.uint64(v & 63)
        on = words[v >> 6] & bit != np.uint64(0)
        signs[v] = 1.0 if on else -1.0
        words[v >> 6] ^= bit
        key = place[k] - logits[v] if on else place[k] + logits[v]
        new_top = _enqueue(pool, size, k, key, words, tops)
        words[v >> 6] ^= bit
        if new_top >= 0:
            tops[k] = new_top
            size += 1
    return size
