/* The seconds that programs of the benchmarks count. Included with
 * _POSIX_C_SOURCE or _DEFAULT_SOURCE defined. */
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
