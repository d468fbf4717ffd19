/* Measures how fast one core reads BYTES bytes of memory, its argument, again
 * and again and in order, in GB/s: the rate of the cache that holds them, or of
 * memory. Large pages where the system has them, so that page tables do not
 * count.
 *
 * Built with -march=native -mprefer-vector-width=512. */
#define _DEFAULT_SOURCE
#include "peak_worker.h"

#include "huge_pages.h"

#include "read_memory.h"

static const size_t bytes_per_run = (size_t)32 << 20;

static double measure(void) {
  static char *bytes;
  static size_t size;
  if (!bytes) {
    size = worker_argument ? strtoul(worker_argument, NULL, 10) : 0;
    size = size < STEP_BYTES ? STEP_BYTES : size / STEP_BYTES * STEP_BYTES;
    bytes = allocate(size);
  }
  return read_all(bytes, size,
                  (size > bytes_per_run ? size : bytes_per_run) / STEP_BYTES);
}
