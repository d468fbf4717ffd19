/* Memory between inaccessible pages, for programs that call bundles: an access
 * outside of a region is a fault, which ends the program with a line that names
 * the region and the distance. What is left of a region's pages has a pattern,
 * so that writes there are found.
 *
 * Included once, after _GNU_SOURCE is defined. Where there is no Linux,
 * GUARDS_MEMORY is 0. */
#ifndef GUARDED_MEMORY_H
#define GUARDED_MEMORY_H
#include <stdint.h>

#if defined __linux__
#define GUARDS_MEMORY 1
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* Where a region is in its pages: accesses in front of it fault, or those
 * behind it. */
typedef enum { AT_FIRST_PAGE, AT_LAST_PAGE } GuardedPlace;

typedef struct GuardedRegion {
  const char *name;
  uint8_t *begin;
  uint64_t size;
  /* Its pages, and those with the inaccessible ones around them. */
  uint8_t *pages, *mapping;
  uint64_t pages_size, mapping_size;
} GuardedRegion;

enum {
  MAX_GUARDED = 8,
  GUARD_BYTES = 1 << 20,
  GUARD_PATTERN = 0xA5,
  GUARD_EXIT = 3,
  /* What the system and the C library need in front of the bundle's frames. */
  STACK_OF_CALLER = 24 << 10
};

static GuardedRegion guarded[MAX_GUARDED];
static int num_guarded;

static void guard_fail(const char *what, const char *name) {
  fprintf(stderr, "error: %s: %s\n", name, what);
  exit(GUARD_EXIT);
}

/* Memory of `size` bytes as the first or last of its pages. The name is kept.
 */
static GuardedRegion *guard_region(const char *name, uint64_t size,
                                   uint64_t alignment, GuardedPlace place) {
  GuardedRegion *region = &guarded[num_guarded];
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t rounded = (size + alignment - 1) / alignment * alignment;
  if (num_guarded++ == MAX_GUARDED)
    guard_fail("too many guarded regions", name);
  region->name = name;
  region->size = size;
  region->pages_size = (size + page - 1) / page * page;
  region->mapping_size = region->pages_size + 2 * GUARD_BYTES;
  region->mapping = mmap(NULL, region->mapping_size, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region->mapping == MAP_FAILED)
    guard_fail("out of memory", name);
  region->pages = region->mapping + GUARD_BYTES;
  if (size &&
      mprotect(region->pages, region->pages_size, PROT_READ | PROT_WRITE))
    guard_fail("out of memory", name);
  region->begin = region->pages;
  if (place == AT_LAST_PAGE)
    region->begin += region->pages_size - rounded;
  memset(region->pages, GUARD_PATTERN, region->pages_size);
  return region;
}

/* No byte of the region may be written any more. */
static void guard_from_writes(const GuardedRegion *region) {
  if (region->size && mprotect(region->pages, region->pages_size, PROT_READ))
    guard_fail("cannot be protected", region->name);
}

/* Ends the program if something was written to the region's pages outside of
 * it. */
static void check_guarded(const GuardedRegion *region) {
  uint64_t i, first = (uint64_t)(region->begin - region->pages);
  for (i = 0; i < region->pages_size; ++i)
    if ((i < first || i >= first + region->size) &&
        region->pages[i] != GUARD_PATTERN) {
      if (i < first)
        fprintf(stderr, "error: a write %llu bytes before the start of %s\n",
                (unsigned long long)(first - i), region->name);
      else
        fprintf(stderr, "error: a write %llu bytes beyond the end of %s\n",
                (unsigned long long)(i - first - region->size), region->name);
      exit(GUARD_EXIT);
    }
}

static void release_guarded(void) {
  while (num_guarded > 0) {
    --num_guarded;
    munmap(guarded[num_guarded].mapping, guarded[num_guarded].mapping_size);
  }
}

/*===- Faults ------------------------------------------------------------===*/

/* "reads" or "writes", where the processor tells. */
static const char *describe_access(const void *context) {
#if defined __x86_64__ && defined REG_ERR
  const ucontext_t *state = context;
  return state->uc_mcontext.gregs[REG_ERR] & 2 ? "a write" : "a read";
#else
  (void)context;
  return "an access";
#endif
}

/* The distances are those of the first byte that is inaccessible: 0 is the one
 * behind the last of the region. */
static void report_fault(int number, siginfo_t *info, void *context) {
  const uint8_t *address = info->si_addr;
  const char *access = describe_access(context);
  char line[200];
  int i, length = snprintf(line, sizeof line,
                           "error: signal %d at %p, in no region\n", number,
                           info->si_addr);
  for (i = 0; i < num_guarded; ++i) {
    const GuardedRegion *region = &guarded[i];
    if (address < region->mapping ||
        address >= region->mapping + region->mapping_size)
      continue;
    if (address < region->begin)
      length = snprintf(line, sizeof line,
                        "error: %s %lld bytes before the start of %s\n", access,
                        (long long)(region->begin - address), region->name);
    else if (address < region->begin + region->size)
      length =
          snprintf(line, sizeof line, "error: %s at offset %lld of %s\n",
                   access, (long long)(address - region->begin), region->name);
    else
      length = snprintf(line, sizeof line,
                        "error: %s %lld bytes beyond the end of %s\n", access,
                        (long long)(address - region->begin) -
                            (long long)region->size,
                        region->name);
  }
  if (write(STDERR_FILENO, line, (size_t)length) < 0)
    _exit(GUARD_EXIT + 1);
  _exit(GUARD_EXIT);
}

/*===- Calls on a guarded stack ------------------------------------------===*/

typedef struct GuardedCall {
  void (*function)(void *argument);
  void *argument;
} GuardedCall;

static void *call_guarded(void *argument) {
  static uint8_t signal_stack[64 << 10];
  GuardedCall *call = argument;
  stack_t stack;
  memset(&stack, 0, sizeof stack);
  stack.ss_sp = signal_stack;
  stack.ss_size = sizeof signal_stack;
  if (sigaltstack(&stack, NULL))
    guard_fail("no stack for signals", "stack");
  call->function(call->argument);
  return NULL;
}

/* Calls the function with a stack of that many bytes, and reports the faults
 * from then on. */
static void call_with_guards(void (*function)(void *argument), void *argument,
                             uint64_t stack_bytes) {
  GuardedRegion *stack = guard_region(
      "the stack", stack_bytes + STACK_OF_CALLER, 4096, AT_FIRST_PAGE);
  GuardedCall call;
  struct sigaction action;
  pthread_attr_t attributes;
  pthread_t thread;
  call.function = function;
  call.argument = argument;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = report_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  if (pthread_attr_init(&attributes) ||
      pthread_attr_setstack(&attributes, stack->begin, stack->pages_size) ||
      pthread_create(&thread, &attributes, call_guarded, &call) ||
      pthread_join(thread, NULL))
    guard_fail("no thread", "stack");
  pthread_attr_destroy(&attributes);
}
#else
#define GUARDS_MEMORY 0
#endif
#endif
