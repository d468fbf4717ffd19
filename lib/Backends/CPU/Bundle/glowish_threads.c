/* The default threads of bundles compiled with -threads: link this file with
 * the bundle, or supply a glowish_parallel_for of your own.
 *
 * The threads are started by the first call that wants them, wait between
 * calls, first by looking, then asleep, and end with the process. A call made
 * while another thread is in one does its work alone. Needs Windows 7 or POSIX
 * threads, and the __atomic functions of GCC and Clang. */
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
static int wantedThreads, numThreads = 1; /* with the calling thread */
static int hasBegun;
static unsigned numSleepers;

/* What is left of a thread's own range of tasks. */
typedef struct {
  int64_t next, end;
  char padding[64 - 2 * sizeof(int64_t)]; /* a cache line each */
} Share;

/* The call in progress. Its number, times CALL, and how many threads it has are
 * one word, which changes last when it begins: a thread that has no part in a
 * call looks at nothing else of it, as the next one may begin at any time. */
enum { CALL = 2 * MAX_THREADS };
static void (*currentTask)(void *arguments, int64_t begin, int64_t end);
static void *currentArguments;
static Share shares[MAX_THREADS];
static uint64_t currentCall;
static int numWorking;
/* The call in front of the first one that a thread may have a part in. */
static uint64_t lastCalls[MAX_THREADS];

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
static void takePieces(int thread, int count) {
  int i;
  for (i = 0; i < count; ++i) {
    Share *share = &shares[(thread + i) % count];
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

/* Returns the call that follows `last`. */
static uint64_t awaitCall(uint64_t last) {
  uint64_t call;
  int looks;
  for (looks = 0; looks < MAX_LOOKS; ++looks) {
    call = __atomic_load_n(&currentCall, __ATOMIC_ACQUIRE);
    if (call != last)
      return call;
    pauseBriefly(looks);
  }
  acquire(&lock);
  __atomic_add_fetch(&numSleepers, 1, __ATOMIC_SEQ_CST);
  while ((call = __atomic_load_n(&currentCall, __ATOMIC_SEQ_CST)) == last)
    await(&wake, &lock);
  __atomic_sub_fetch(&numSleepers, 1, __ATOMIC_SEQ_CST);
  release(&lock);
  return call;
}

static void runWorker(int thread) {
  uint64_t call = lastCalls[thread];
  for (;;) {
    call = awaitCall(call);
    if (thread >= (int)(call % CALL))
      continue;
    takePieces(thread, (int)(call % CALL));
    __atomic_sub_fetch(&numWorking, 1, __ATOMIC_RELEASE);
  }
}

/* Starts what there is less than `wanted`. */
static void startThreads(int wanted) {
  if (wanted > MAX_THREADS)
    wanted = MAX_THREADS;
  for (; numThreads < wanted; ++numThreads) {
    lastCalls[numThreads] = currentCall;
    if (!startThread(numThreads))
      return;
  }
}

/* Does the tasks with up to `threads` threads, or without a number with as many
 * as the default is. */
static void shareTasks(int threads,
                       void (*task)(void *arguments, int64_t begin,
                                    int64_t end),
                       void *arguments, int64_t count) {
  int looks, thread;
  if (!tryLock(&busy)) {
    task(arguments, 0, count);
    return;
  }
  hasBegun = 1;
  if (threads <= 0)
    threads = wantedThreads > 0 ? wantedThreads : countProcessors();
  startThreads(threads);
  if (threads > numThreads)
    threads = numThreads;
  if (threads == 1) {
    task(arguments, 0, count);
    release(&busy);
    return;
  }
  currentTask = task;
  currentArguments = arguments;
  for (thread = 0; thread < threads; ++thread) {
    shares[thread].next = count * thread / threads;
    shares[thread].end = count * (thread + 1) / threads;
  }
  numWorking = threads - 1;
  __atomic_store_n(&currentCall,
                   (currentCall / CALL + 1) * CALL + (uint64_t)threads,
                   __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&numSleepers, __ATOMIC_SEQ_CST) != 0) {
    acquire(&lock);
    wakeAll(&wake);
    release(&lock);
  }
  takePieces(0, threads);
  for (looks = 0; __atomic_load_n(&numWorking, __ATOMIC_ACQUIRE) != 0;
       looks += looks < MAX_LOOKS)
    pauseBriefly(looks);
  release(&busy);
}

void glowish_set_num_threads(int count) {
  acquire(&busy);
  if (!hasBegun)
    wantedThreads = count;
  release(&busy);
}

void glowish_parallel_for(void (*task)(void *arguments, int64_t begin,
                                       int64_t end),
                          void *arguments, int64_t count) {
  shareTasks(0, task, arguments, count);
}

void glowish_parallel_for_on(int threads,
                             void (*task)(void *arguments, int64_t begin,
                                          int64_t end),
                             void *arguments, int64_t count) {
  shareTasks(threads < 1 ? 1 : threads, task, arguments, count);
}
