//===- Allocations.cpp - Intercepts memory allocations --------------------===//

#include "Allocations.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GLOWISH_HAS_ASAN 1
#endif
#endif

#ifdef GLOWISH_HAS_ASAN
#include <sanitizer/allocator_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

static size_t allocationLimit = SIZE_MAX;
static std::optional<int> limitExitCode;

static void checkAllocation(size_t size) {
  if (size <= allocationLimit)
    return;
  char text[100];
  int length = std::snprintf(text, sizeof(text),
                             "an allocation of %zu bytes; accepted: %zu\n",
                             size, allocationLimit);
  allocationLimit = SIZE_MAX;
  (void)!write(STDERR_FILENO, text, size_t(length));
#ifdef GLOWISH_HAS_ASAN
  __sanitizer_print_stack_trace();
#endif
  if (!limitExitCode)
    std::abort();
  _exit(*limitExitCode);
}

#ifdef GLOWISH_HAS_ASAN
static void onMalloc(const volatile void *, size_t size) {
  checkAllocation(size);
}
static void onFree(const volatile void *) {}
#else
// glibc's own, under the names that it keeps for this purpose. free is not
// touched.
extern "C" {
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
  checkAllocation(size);
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  checkAllocation(size && count > SIZE_MAX / size ? SIZE_MAX - 1
                                                  : count * size);
  return __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
  checkAllocation(size);
  return __libc_realloc(memory, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  checkAllocation(size);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) {
  checkAllocation(size);
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : 12; // ENOMEM
}
}
#endif

void glowish::robustness::limitAllocations(size_t limit,
                                           std::optional<int> exitCode) {
  allocationLimit = limit;
  limitExitCode = exitCode;
#ifdef GLOWISH_HAS_ASAN
  static bool installed =
      __sanitizer_install_malloc_and_free_hooks(onMalloc, onFree);
  if (!installed)
    _exit(1);
#endif
}
