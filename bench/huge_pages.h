/* Memory in large pages where the system has them, so that what reads megabytes
 * does not wait for page tables. Included with _DEFAULT_SOURCE defined. */
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

/* Zeros; ends the program if there is no such memory. */
static char *allocate(size_t size) {
  const size_t page_bytes = (size_t)2 << 20;
  char *bytes;
  size = (size + page_bytes - 1) / page_bytes * page_bytes;
  if (posix_memalign((void **)&bytes, page_bytes, size) != 0)
    exit(1);
#ifdef __linux__
  madvise(bytes, size, MADV_HUGEPAGE);
#endif
  memset(bytes, 0, size);
  return bytes;
}
