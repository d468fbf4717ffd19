/* Measures how many operations on 8-bit integers with sums of 32 bits one core
 * can do by vector instructions, in GOP/s: VNNI where the machine has it, else
 * pairs of 16-bit integers. Matrix units are not used.
 *
 * Built with -march=native -mprefer-vector-width=512. */
#include "peak_worker.h"
#include <immintrin.h>

#if defined(__AVX512VNNI__)
typedef __m512i Vector;
enum { PAIRS = 64 };
static Vector fill(void) { return _mm512_set1_epi8(1); }
static Vector step(Vector sums, Vector x, Vector y) {
  return _mm512_dpbusd_epi32(sums, x, y);
}
#elif defined(__AVXVNNI__)
typedef __m256i Vector;
enum { PAIRS = 32 };
static Vector fill(void) { return _mm256_set1_epi8(1); }
static Vector step(Vector sums, Vector x, Vector y) {
  return _mm256_dpbusd_avx_epi32(sums, x, y);
}
#elif defined(__AVX2__)
typedef __m256i Vector;
enum { PAIRS = 16 };
static Vector fill(void) { return _mm256_set1_epi16(1); }
static Vector step(Vector sums, Vector x, Vector y) {
  return _mm256_add_epi32(sums, _mm256_madd_epi16(x, y));
}
#else
typedef __m128i Vector;
enum { PAIRS = 8 };
static Vector fill(void) { return _mm_set1_epi16(1); }
static Vector step(Vector sums, Vector x, Vector y) {
  return _mm_add_epi32(sums, _mm_madd_epi16(x, y));
}
#endif

static volatile char sink;

/* The empty asm keeps the chains in registers and in the loop. */
static double measure(void) {
  Vector sums[CHAINS], x = fill(), y = fill();
  double start;
  int i, k;
  for (i = 0; i < CHAINS; ++i)
    sums[i] = fill();
  __asm__ volatile("" : "+v"(x), "+v"(y));
  start = now();
  for (k = 0; k < STEPS; ++k) {
    _Pragma("unroll") for (i = 0; i < CHAINS; ++i) {
      sums[i] = step(sums[i], x, y);
      __asm__ volatile("" : "+v"(sums[i]));
    }
  }
  start = now() - start;
  for (i = 0; i < CHAINS; ++i)
    sink = *(const char *)&sums[i];
  return 2e-9 * PAIRS * CHAINS * STEPS / start;
}
