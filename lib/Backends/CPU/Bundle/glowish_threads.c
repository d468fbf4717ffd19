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
  MAX_LOOKS = 2000
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
 * whole, so that it finds what it wrote in its own cache; then it helps. It
 * takes half of what is left of a share at a time: neighbours are done faster
 * together, and at the end a slow thread holds up the others by one task. */
static void takePieces(int thread) {
  int i;
  for (i = 0; i < numThreads; ++i) {
    Share *share = &shares[(thread + i) % numThreads];
    int64_t begin = __atomic_load_n(&share->next, __ATOMIC_RELAXED);
    while (begin < share->end) {
      int64_t end = begin + (share->end - begin + 1) / 2;
      /* Where another thread was faster, this reads what it left. */
      if (!__atomic_compare_exchange_n(&share->next, &begin, end, 0,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
      currentTask(currentArguments, begin, end);
      begin = __atomic_load_n(&share->next, __ATOMIC_RELAXED);
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
  for (thread = 0; thread < numThreads; ++thread) {
    shares[thread].next = count * thread / numThreads;
    shares[thread].end = count * (thread + 1) / numThreads;
  }
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
