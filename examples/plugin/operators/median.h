/* The kernel of the operator Median, which networks call. */
#ifndef MEDIAN_H
#define MEDIAN_H

#include <glowish_call.h>

/* The most neighbours. */
#define MEDIAN_MOST 31

glowish_function example_median;

/* The index of the element that stands for \p index of a row of \p length. */
static inline int64_t median_clamp(int64_t index, int64_t length) {
  return index < 0 ? 0 : index >= length ? length - 1 : index;
}

#endif
