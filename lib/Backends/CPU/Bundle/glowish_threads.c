/* The default threads of bundles compiled with -threads: link this file with
 * the bundle, or supply a glowish_parallel_for of your own.
 *
 * The threads are started by the first call, wait between calls, first by
 * looking, then asleep, and end with the process. A call made while another
 * thread is in one does its work alone. Needs Windows 7 or POSIX threads, and
 * the __atomic functions of GCC and Clang. */
#ifdef _WIN32
#define _WIN32_WINNT 0x0601
#include <windows.h>
#else
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#endif
#include "glowish_threads.h"

enum {
  MAX_THREADS = 256,
  STACK_BYTES = 2 << 20,
  /* How often a waiting thread looks before it sleeps: some 50 microseconds. */
  MAX_LOOKS = 2000
};

/* Locks, conditions and threads of either system under the same names. */
static void runWorker(int thread);

#ifdef _WIN32
typedef SRWLOCK Lock;
typedef CONDITION_VARIABLE Condition;
#define LOCK_INITIALIZER SRWLOCK_INIT
#define CONDITION_INITIALIZER CONDITION_VARIABLE_INIT

static int tryLock(Lock *lock) { return TryAcquireSRWLockExclusive(lock) != 0; }
static void acquire(Lock *lock) { AcquireSRWLockExclusive(lock); }
static void release(Lock *lock) { ReleaseSRWLockExclusive(lock); }
static void await(Condition *condition, Lock *lock) {
  SleepConditionVariableSRW(condition, lock, INFINITE, 0);
}
static void wakeAll(Condition *condition) {
  WakeAllConditionVariable(condition);
}
static void yieldProcessor(void) { SwitchToThread(); }
static int countProcessors(void) {
  return (int)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}
static DWORD WINAPI runThread(void *thread) {
  runWorker((int)(intptr_t)thread);
  return 0;
}
/* Whether the thread runs. */
static int startThread(int thread) {
  HANDLE handle =
      CreateThread(NULL, STACK_BYTES, runThread, (void *)(intptr_t)thread,
                   STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
  if (!handle)
    return 0;
  CloseHandle(handle);
  return 1;
}
#else
typedef pthread_mutex_t Lock;
typedef pthread_cond_t Condition;
#define LOCK_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define CONDITION_INITIALIZER PTHREAD_COND_INITIALIZER

static int tryLock(Lock *lock) { return pthread_mutex_trylock(lock) == 0; }
static void acquire(Lock *lock) { pthread_mutex_lock(lock); }
static void release(Lock *lock) { pthread_mutex_unlock(lock); }
static void await(Condition *condition, Lock *lock) {
  pthread_cond_wait(condition, lock);
}
static void wakeAll(Condition *condition) { pthread_cond_broadcast(condition); }
static void yieldProcessor(void) { sched_yield(); }
static int countProcessors(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }
static void *runThread(void *thread) {
  runWorker((int)(intptr_t)thread);
  return NULL;
}
/* Whether the thread runs. */
static int startThread(int thread) {
  pthread_attr_t attributes;
  pthread_t handle;
  int error;
  if (pthread_attr_init(&attributes) != 0)
    return 0;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  error =
      pthread_create(&handle, &attributes, runThread, (void *)(intptr_t)thread);
  pthread_attr_destroy(&attributes);
  if (error != 0)
    return 0;
  pthread_detach(handle);
  return 1;
}
#endif

static Lock busy = LOCK_INITIALIZER, lock = LOCK_INITIALIZER;
static Condition wake = CONDITION_INITIALIZER;
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
    yieldProcessor();
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
  acquire(&lock);
  __atomic_add_fetch(&numSleepers, 1, __ATOMIC_SEQ_CST);
  while ((number = __atomic_load_n(&callNumber, __ATOMIC_SEQ_CST)) == last)
    await(&wake, &lock);
  __atomic_sub_fetch(&numSleepers, 1, __ATOMIC_SEQ_CST);
  release(&lock);
  return number;
}

static void runWorker(int thread) {
  unsigned number = 0;
  for (;;) {
    number = awaitCall(number);
    takePieces(thread);
    __atomic_sub_fetch(&numWorking, 1, __ATOMIC_RELEASE);
  }
}

static void startThreads(void) {
  int wanted = wantedThreads > 0 ? wantedThreads : countProcessors();
  if (wanted > MAX_THREADS)
    wanted = MAX_THREADS;
  numThreads = 1;
  while (numThreads < wanted && startThread(numThreads))
    ++numThreads;
}

void glowish_set_num_threads(int count) {
  acquire(&busy);
  if (numThreads == 0)
    wantedThreads = count;
  release(&busy);
}

void glowish_parallel_for(void (*task)(void *arguments, int64_t begin,
                                       int64_t end),
                          void *arguments, int64_t count) {
  int looks, thread;
  if (!tryLock(&busy)) {
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
    acquire(&lock);
    wakeAll(&wake);
    release(&lock);
  }
  takePieces(0);
  for (looks = 0; __atomic_load_n(&numWorking, __ATOMIC_ACQUIRE) != 0;
       looks += looks < MAX_LOOKS)
    pauseBriefly(looks);
  release(&busy);
}
