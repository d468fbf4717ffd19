/* How much memory a process takes from aligned_alloc and posix_memalign at
 * most: where ONNX Runtime without its arena has tensors from. Preloaded into
 * node by memory.py. SIGUSR2 begins to count; the peak since the last one is
 * printed at the exit. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The live allocations, in a hash table with open addressing. FREED marks a
 * slot that was in use; a search continues behind it. */
enum { SLOTS = 1 << 16 };
#define FREED ((void *)1)
static struct {
  void *pointer;
  size_t size;
} slots[SLOTS];
static size_t live, base, peak;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void begin(int number) {
  (void)number;
  base = peak = live;
}

static void report(void) { fprintf(stderr, "peak %zu\n", peak - base); }

__attribute__((constructor)) static void start(void) {
  struct sigaction action = {0};
  action.sa_handler = begin;
  sigaction(SIGUSR2, &action, NULL);
  atexit(report);
}

static void add(void *pointer, size_t size) {
  unsigned i, slot = (unsigned)((uintptr_t)pointer >> 5) % SLOTS;
  for (i = 0; i < SLOTS; ++i, slot = (slot + 1) % SLOTS)
    if (slots[slot].pointer == NULL || slots[slot].pointer == FREED)
      break;
  if (i == SLOTS)
    abort();
  slots[slot].pointer = pointer;
  slots[slot].size = size;
  live += size;
  if (live > peak)
    peak = live;
}

static void removeIfThere(void *pointer) {
  unsigned i, slot = (unsigned)((uintptr_t)pointer >> 5) % SLOTS;
  for (i = 0; i < SLOTS && slots[slot].pointer != NULL;
       ++i, slot = (slot + 1) % SLOTS)
    if (slots[slot].pointer == pointer) {
      live -= slots[slot].size;
      slots[slot].pointer = FREED;
      return;
    }
}

static void note(void *pointer, size_t size) {
  if (pointer == NULL)
    return;
  pthread_mutex_lock(&lock);
  add(pointer, size);
  pthread_mutex_unlock(&lock);
}

void *aligned_alloc(size_t alignment, size_t size) {
  static void *(*next)(size_t, size_t);
  void *pointer;
  if (!next)
    next = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
  pointer = next(alignment, size);
  note(pointer, size);
  return pointer;
}

int posix_memalign(void **pointer, size_t alignment, size_t size) {
  static int (*next)(void **, size_t, size_t);
  int code;
  if (!next)
    next = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
  code = next(pointer, alignment, size);
  if (code == 0)
    note(*pointer, size);
  return code;
}

void free(void *pointer) {
  static void (*next)(void *);
  if (!next)
    next = (void (*)(void *))dlsym(RTLD_NEXT, "free");
  if (pointer != NULL) {
    pthread_mutex_lock(&lock);
    removeIfThere(pointer);
    pthread_mutex_unlock(&lock);
  }
  next(pointer);
}
