/* How bundles compiled with -threads share their work. */
#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_GLOWISH_THREADS_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_GLOWISH_THREADS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls task(arguments, begin, end) for ranges that cover 0 ... count - 1, each
 * once, perhaps at the same time, and returns when all are done. A bundle calls
 * it from the thread that called its entry. The results don't depend on how
 * the ranges are cut. */
void glowish_parallel_for(void (*task)(void *arguments, int64_t begin,
                                       int64_t end),
                          void *arguments, int64_t count);

/* For the default threads only: how many glowish_parallel_for has, the calling
 * one included. 0, which is the default, means as many as there are processors.
 * Has no effect after the first call. */
void glowish_set_num_threads(int count);

/* The same as glowish_parallel_for with up to `threads` threads, of which more
 * are started if there are not as many: for programs that differ in it. */
void glowish_parallel_for_on(int threads,
                             void (*task)(void *arguments, int64_t begin,
                                          int64_t end),
                             void *arguments, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
