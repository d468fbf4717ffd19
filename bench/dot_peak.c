/* Measures how many operations on 8-bit integers with sums of 32 bits one core
 * can do, in GOP/s: by matrix units (AMX) where the machine has them, else by
 * vectors, with VNNI or by pairs of 16-bit integers.
 *
 * Built with -march=native -mprefer-vector-width=512. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
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
static double measureVectors(void) {
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

#if defined(__AMX_INT8__)
#include <sys/syscall.h>
#include <unistd.h>

/* Registers of sums, 16 by 16, and rows of 64 bytes. */
enum { SUMS = 4, MULTIPLY_ADDS = 16 * 16 * 64 };

static double measure(void) {
  /* Linux gives a process the registers when it asks for them. */
  enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
  /* The palette, from 16 on the bytes of a row of each register, from 48 on its
   * rows. */
  unsigned char configuration[64] = {1};
  double start;
  int i, k;
  if (syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) != 0)
    return measureVectors();
  for (i = 0; i < 8; ++i) {
    configuration[16 + 2 * i] = 64;
    configuration[48 + i] = 16;
  }
  _tile_loadconfig(configuration);
  start = now();
  for (k = 0; k < STEPS; ++k) {
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 4, 7);
    _tile_dpbusd(2, 5, 6);
    _tile_dpbusd(3, 5, 7);
  }
  start = now() - start;
  _tile_release();
  return 2e-9 * MULTIPLY_ADDS * SUMS * STEPS / start;
}
#else
static double measure(void) { return measureVectors(); }
#endif

#ifdef PEAK_FUNCTION
/* That of vectors alone. */
double measureVectorDotPeak(void) { return measureVectors(); }
#endif
