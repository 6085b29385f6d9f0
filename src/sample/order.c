/* order.c - quicksort and quickselect with a heap as the way out of bad pivots. Owns nothing. */
#include "sample/order.h"

enum { SMALL = 24 }; /* insertion sort below: usual in quicksorts, not measured here */

static void swap(lode_cand *a, lode_cand *b) {
    const lode_cand t = *a;
    *a = *b;
    *b = t;
}

/* Worst at the root. */
void lode_order_sift(lode_cand *a, int n, int i) {
    const lode_cand x = a[i];
    for (int child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && lode_cand_before(&a[child], &a[child + 1])) child++;
        if (!lode_cand_before(&x, &a[child])) break;
        a[i] = a[child];
    }
    a[i] = x;
}

void lode_order_heapify(lode_cand *a, int n) {
    for (int i = n / 2 - 1; i >= 0; i--) lode_order_sift(a, n, i);
}

static void heap_sort(lode_cand *a, int n) {
    lode_order_heapify(a, n);
    for (int end = n - 1; end > 0; end--) {
        swap(&a[0], &a[end]);
        lode_order_sift(a, end, 0);
    }
}

static void insertion_sort(lode_cand *a, int n) {
    for (int i = 1; i < n; i++) {
        const lode_cand x = a[i];
        int j = i;
        for (; j > 0 && lode_cand_before(&x, &a[j - 1]); j--) a[j] = a[j - 1];
        a[j] = x;
    }
}

/* Median of three as the pivot; returns its final place. Needs n >= 3. */
static int partition(lode_cand *a, int n) {
    lode_cand *mid = &a[n / 2], *last = &a[n - 1];
    if (lode_cand_before(mid, a)) swap(mid, a);
    if (lode_cand_before(last, a)) swap(last, a);
    if (lode_cand_before(mid, last)) swap(mid, last);
    int at = 0;
    for (int i = 0; i < n - 1; i++)
        if (lode_cand_before(&a[i], last)) swap(&a[i], &a[at++]);
    swap(&a[at], last);
    return at;
}

static int depth_limit(int n) {
    int d = 4;
    for (; n > 0; n >>= 1) d += 2;
    return d;
}

/* Recursion only on the smaller side: at most 31 deep. */
static void quick_sort(lode_cand *a, int n, int depth) {
    while (n > SMALL) {
        if (depth-- == 0) {
            heap_sort(a, n);
            return;
        }
        const int at = partition(a, n);
        const int right = n - at - 1;
        if (at < right) {
            quick_sort(a, at, depth);
            a += at + 1;
            n = right;
        } else {
            quick_sort(a + at + 1, right, depth);
            n = at;
        }
    }
    insertion_sort(a, n);
}

void lode_order_sort(lode_cand *a, int n) { quick_sort(a, n, depth_limit(n)); }

void lode_order_select(lode_cand *a, int n, int k) {
    int depth = depth_limit(n);
    while (n > SMALL && k > 0 && k < n) {
        if (depth-- == 0) break;
        const int at = partition(a, n);
        if (k <= at) {
            n = at;
            continue;
        }
        a += at + 1;
        n -= at + 1;
        k -= at + 1;
    }
    if (k > 0 && k < n) {
        if (n > SMALL)
            heap_sort(a, n);
        else
            insertion_sort(a, n);
    }
}
