/* Prints what a bundle of the dynamic API needs in bytes, as JSON: its regions,
 * and how much of the stack its entry uses. Compiled for one bundle without
 * threads with -DBUNDLE_HEADER="NAME.h", -DBUNDLE_ENTRY=NAME and
 * -DBUNDLE_CONFIG=NAME_config.
 *
 * The stack is that of a thread, filled with a pattern before; what an empty
 * thread leaves of it is taken off. The numbers in the regions are zeros: the
 * code has the same path for all. */
#define _DEFAULT_SOURCE
#include BUNDLE_HEADER
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_SIZE = 1 << 25, PATTERN = 0xA5 };

static uint8_t *regions[3];

static uint8_t *allocate(uint64_t size) {
  void *bytes = NULL;
  if (posix_memalign(&bytes, BUNDLE_CONFIG.alignment, size + 1))
    abort();
  memset(bytes, 0, size + 1);
  return bytes;
}

static void *doNothing(void *argument) { return argument; }

static void *runEntry(void *argument) {
  (void)argument;
  return BUNDLE_ENTRY(regions[0], regions[1], regions[2]) ? regions : NULL;
}

/* The bytes of a thread's stack that `body` has written to. */
static long measureStack(void *(*body)(void *)) {
  uint8_t *stack = allocate(STACK_SIZE);
  pthread_attr_t attributes;
  pthread_t thread;
  void *failure = NULL;
  long unused = 0;
  memset(stack, PATTERN, STACK_SIZE);
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack, STACK_SIZE) ||
      pthread_create(&thread, &attributes, body, NULL) ||
      pthread_join(thread, &failure) || failure) {
    fputs("error: the entry did not run\n", stderr);
    exit(1);
  }
  while (unused < STACK_SIZE && stack[unused] == PATTERN)
    ++unused;
  free(stack);
  return STACK_SIZE - unused;
}

int main(void) {
  long stack;
  regions[0] = allocate(BUNDLE_CONFIG.constantWeightVarsMemSize);
  regions[1] = allocate(BUNDLE_CONFIG.mutableWeightVarsMemSize);
  regions[2] = allocate(BUNDLE_CONFIG.activationsMemSize);
  stack = measureStack(runEntry) - measureStack(doNothing);
  printf("{\"weights\": %llu, \"placeholders\": %llu, \"arena\": %llu, "
         "\"stack\": %ld}\n",
         (unsigned long long)BUNDLE_CONFIG.constantWeightVarsMemSize,
         (unsigned long long)BUNDLE_CONFIG.mutableWeightVarsMemSize,
         (unsigned long long)BUNDLE_CONFIG.activationsMemSize, stack);
  return 0;
}
