"""Order statistics in kernels."""

from rhmm._jit import kernel, lean_kernel


@kernel
def nth_smallest(values, n):
    """The entry at index n of the sorted `values`, which are put in another order.

    Each round parts what is left at a pivot and keeps the side that has the number (Hoare's
    quickselect).
    """
    first, last = 0, len(values) - 1
    while first < last:
        pivot, left, right = values[(first + last) // 2], first, last
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left, right = left + 1, right - 1
        if n <= right:
            last = right
        elif n >= left:
            first = left
        else:
            break
    return values[n]


@lean_kernel
def median(values):
    """Of numbers in one dimension, which are put in another order."""
    size = len(values)
    return 0.5 * (nth_smallest(values, (size - 1) // 2) + nth_smallest(values, size // 2))
