/* What the programs that measure a peak have in common: a clock, and the
 * protocol of workers.mjs. Every "run" answers with the highest rate that
 * measure(), which the program defines, has found. Included once, first. */
#define _POSIX_C_SOURCE 200112L
#include "clock.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Independent chains hide the latency of an instruction on every machine whose
 * latency times throughput is at most that. */
enum { CHAINS = 12, STEPS = 100000 };

static double measure(void);

/* The program's argument; null without one. */
static const char *worker_argument;

#ifdef PEAK_FUNCTION
/* For a program that measures in its own process. */
double PEAK_FUNCTION(void) { return measure(); }
#else
int main(int argc, char **argv) {
  char line[64];
  worker_argument = argc > 1 ? argv[1] : NULL;
  puts("ready {}");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) && strncmp(line, "run", 3) == 0) {
    double end = now() + 1e-3 * atof(line + 3), best = 0;
    do {
      double rate = measure();
      best = rate > best ? rate : best;
    } while (now() < end);
    printf("%.6f\n", best);
    fflush(stdout);
  }
  return 0;
}
#endif
