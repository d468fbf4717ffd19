/* Measures how many floating-point operations one core can do: independent
 * chains of fused multiply-adds on registers, for each vector width that the
 * machine has, in GFLOP/s.
 *
 * Built with -march=native -mprefer-vector-width=512. */
#include "peak_worker.h"

/* GFLOP/s of `width` floats a vector. The empty asm keeps the chains in
 * registers and in the loop. */
#define DEFINE_RATE(width)                                                     \
  typedef float Vector##width __attribute__((vector_size(4 * width)));         \
  static volatile float sink##width;                                           \
  static double measure##width(void) {                                         \
    Vector##width sums[CHAINS], factor, term;                                  \
    double start;                                                              \
    int i, k;                                                                  \
    for (i = 0; i < width; ++i) {                                              \
      factor[i] = 0.999f;                                                      \
      term[i] = 0.001f;                                                        \
    }                                                                          \
    for (i = 0; i < CHAINS; ++i)                                               \
      sums[i] = term;                                                          \
    __asm__ volatile("" : "+v"(factor), "+v"(term));                           \
    start = now();                                                             \
    for (k = 0; k < STEPS; ++k) {                                              \
      _Pragma("unroll") for (i = 0; i < CHAINS; ++i) sums[i] =                 \
          __builtin_elementwise_fma(sums[i], factor, term);                    \
      __asm__ volatile("" : "+v"(sums[0]));                                    \
    }                                                                          \
    start = now() - start;                                                     \
    for (i = 1; i < CHAINS; ++i)                                               \
      sums[0] += sums[i];                                                      \
    sink##width = sums[0][0];                                                  \
    return 2e-9 * width * CHAINS * STEPS / start;                              \
  }

#if defined(__AVX512F__)
DEFINE_RATE(16)
#endif
#if defined(__FMA__)
DEFINE_RATE(8)
#endif
DEFINE_RATE(4)

static double measure(void) {
  double rates[3] = {0, 0, 0}, best = 0;
  int i;
#if defined(__AVX512F__)
  rates[0] = measure16();
#endif
#if defined(__FMA__)
  rates[1] = measure8();
#endif
  rates[2] = measure4();
  for (i = 0; i < 3; ++i)
    best = rates[i] > best ? rates[i] : best;
  return best;
}
