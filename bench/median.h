/* The median, for programs of the benchmarks. */
#include <stdlib.h>

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts `values`; `count` is above 0. */
static double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, compare_doubles);
  return values[count / 2];
}
