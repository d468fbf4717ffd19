/* The default threads of bundles compiled with -threads: link this file with
 * the bundle, or supply a glowish_parallel_for of your own.
 *
 * The threads are started by the first call, wait between calls, first by
 * looking, then asleep, and end with the process. A call made while another
 * thread is in one does its work alone. Needs POSIX threads and the __atomic
 * functions of GCC and Clang. */
#define _POSIX_C_SOURCE 200112L
#include "glowish_threads.h"
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum {
  MAX_THREADS = 256,
  STACK_BYTES = 2 << 20,
  /* How often a waiting thread looks before it sleeps: some 50 microseconds. */
  MAX_LOOKS = 2000,
  /* A thread takes work in pieces, so that a slow one holds up the others by
   * no more than one of them. Few tasks are large ones, of which a thread does
   * neighbours faster. */
  PIECES_PER_THREAD = 4,
  FEW_TASKS_PER_THREAD = 16
};

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static int wantedThreads, numThreads; /* with the calling thread */
static unsigned numSleepers;

/* What is left of a thread's own range of tasks. */
typedef struct {
  int64_t next, end;
  char padding[64 - 2 * sizeof(int64_t)]; /* a cache line each */
} Share;

/* The call in progress. Its number changes last when it begins. */
static void (*currentTask)(void *arguments, int64_t begin, int64_t end);
static void *currentArguments;
static int64_t pieceSize;
static Share shares[MAX_THREADS];
static unsigned callNumber;
static int numWorking;

/* The wait between two looks; from the MAX_LOOKS'th on others may run. */
static void pauseBriefly(int looks) {
  if (looks >= MAX_LOOKS)
    sched_yield();
#if defined(__x86_64__) || defined(__i386__)
  else
    __builtin_ia32_pause();
#endif
}

/* A thread does its own share, which in the next call is the same part of the
 * whole, so that it finds what it wrote in its own cache; then it helps. */
static void takePieces(int thread) {
  int i;
  for (i = 0; i < numThreads; ++i) {
    Share *share = &shares[(thread + i) % numThreads];
    for (;;) {
      int64_t begin =
          __atomic_fetch_add(&share->next, pieceSize, __ATOMIC_RELAXED);
      int64_t end = begin + pieceSize;
      if (begin >= share->end)
        break;
      currentTask(currentArguments, begin, end < share->end ? end : share->end);
    }
  }
}

/* Returns the number of the call that follows `last`. */
static unsigned awaitCall(unsigned last) {
  unsigned number;
  int looks;
  for (looks = 0; looks < MAX_LOOKS; ++looks) {
    number = __atomic_load_n(&callNumber, __ATOMIC_ACQUIRE);
    if (number != last)
      return number;
    pauseBriefly(looks);
  }
  pthread_mutex_lock(&lock);
  __atomic_add_fetch(&numSleepers, 1, __ATOMIC_SEQ_CST);
  while ((number = __atomic_load_n(&callNumber, __ATOMIC_SEQ_CST)) == last)
    pthread_cond_wait(&wake, &lock);
  __atomic_sub_fetch(&numSleepers, 1, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&lock);
  return number;
}

static void *runWorker(void *thread) {
  unsigned number = 0;
  for (;;) {
    number = awaitCall(number);
    takePieces((int)(intptr_t)thread);
    __atomic_sub_fetch(&numWorking, 1, __ATOMIC_RELEASE);
  }
  return NULL;
}

static void startThreads(void) {
  int wanted = wantedThreads;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    wanted = 1;
  else
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
  if (wanted <= 0)
    wanted = (int)sysconf(_SC_NPROCESSORS_ONLN);
  if (wanted > MAX_THREADS)
    wanted = MAX_THREADS;
  for (numThreads = 1; numThreads < wanted; ++numThreads) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, runWorker,
                       (void *)(intptr_t)numThreads) != 0)
      break;
    pthread_detach(thread);
  }
}

void glowish_set_num_threads(int count) {
  pthread_mutex_lock(&busy);
  if (numThreads == 0)
    wantedThreads = count;
  pthread_mutex_unlock(&busy);
}

void glowish_parallel_for(void (*task)(void *arguments, int64_t begin,
                                       int64_t end),
                          void *arguments, int64_t count) {
  int looks, thread;
  if (pthread_mutex_trylock(&busy) != 0) {
    task(arguments, 0, count);
    return;
  }
  if (numThreads == 0)
    startThreads();
  currentTask = task;
  currentArguments = arguments;
  pieceSize = (count + numThreads - 1) / numThreads;
  for (thread = 0; thread < numThreads; ++thread) {
    shares[thread].next = count * thread / numThreads;
    shares[thread].end = count * (thread + 1) / numThreads;
  }
  if (count > (int64_t)numThreads * FEW_TASKS_PER_THREAD)
    pieceSize = (pieceSize + PIECES_PER_THREAD - 1) / PIECES_PER_THREAD;
  numWorking = numThreads - 1;
  __atomic_add_fetch(&callNumber, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&numSleepers, __ATOMIC_SEQ_CST) != 0) {
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&wake);
    pthread_mutex_unlock(&lock);
  }
  takePieces(0);
  for (looks = 0; __atomic_load_n(&numWorking, __ATOMIC_ACQUIRE) != 0;
       looks += looks < MAX_LOOKS)
    pauseBriefly(looks);
  pthread_mutex_unlock(&busy);
}
