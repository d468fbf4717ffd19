/* Reading memory as fast as a core can. Included after clock.h, in programs
 * built with -march=native -mprefer-vector-width=512. */
#include <stddef.h>
#include <string.h>

#if defined(__AVX512F__)
enum { WIDTH = 16 };
#elif defined(__AVX__)
enum { WIDTH = 8 };
#else
enum { WIDTH = 4 };
#endif
typedef int Vector __attribute__((vector_size(4 * WIDTH)));

/* Of each step of the loop. */
enum { LOADS = 16, SUMS = 8, STEP_BYTES = LOADS * sizeof(Vector) };
static volatile int sink;

/* `steps` steps through bytes[0 ... size), from the begin again at the end: one
 * loop, as the end of a short one would be mispredicted. The empty asm keeps
 * the loads in the loop. */
static double read_all(const char *bytes, size_t size, size_t steps) {
  Vector sums[SUMS];
  size_t offset = 0, step;
  int i;
  double start;
  memset(sums, 0, sizeof sums);
  start = now();
  for (step = 0; step < steps; ++step) {
    const Vector *vectors = (const Vector *)(bytes + offset);
    _Pragma("unroll") for (i = 0; i < LOADS; ++i) sums[i % SUMS] += vectors[i];
    offset += STEP_BYTES;
    offset = offset < size ? offset : 0;
    __asm__ volatile("" ::: "memory");
  }
  start = now() - start;
  for (i = 1; i < SUMS; ++i)
    sums[0] += sums[i];
  sink = sums[0][0];
  return 1e-9 * (double)(steps * STEP_BYTES) / start;
}
