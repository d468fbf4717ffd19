
//===- Sharing tasks --------------------------------------------------------===//
//
// A call of glowish_parallel_for has tasks 0 ... count - 1. Each thread begins with
// a share of them, which in the next call is the same part of the whole, so that it
// finds what it wrote in its own cache; then it helps others.

/** The words (int32) of the network's memory by which its threads share work.
 * What threads wait for and what they change together are in cache lines (16 words)
 * of their own. */
const Word = {
  /** The number of the latest call: workers wait for it to change. */
  call: 0,
  /** How many workers sleep. */
  sleepers: 1,
  /** Whether workers are to end. */
  isClosed: 2,
  threads: 3,
  /** `isOpen` while there is a call that workers may join, plus the number of
   * workers that have joined. */
  gate: 16,
  /** The call's task, an index of the table, and its arguments, an address. */
  task: 32,
  arguments: 33,
  /** Whether a worker has failed in this call, and the error: the number of its
   * characters, and these. */
  hasFailed: 34,
  errorLength: 35,
  error: 36,
  /** For each thread the first task that is left, and the end of its share. */
  shares: 128,
};
const isOpen = 1 << 16;
const shareWords = 16;

const countWords = (threads) => Word.shares + shareWords * threads;

/** Looks whether a word is still `value`, for some 50 microseconds: calls follow
 * each other faster than threads fall asleep and wake up. Returns whether it is. */
function watch(words, index, value) {
  const end = performance.now() + 0.05;
  do {
    for (let looks = 0; looks < 64; ++looks)
      if (Atomics.load(words, index) !== value)
        return false;
  } while (performance.now() < end);
  return true;
}

/** Takes tasks until none is left, half of what is left of a share at a time:
 * neighbours are done faster together, and at the end a slow thread holds up the
 * others by one task. */
function takeTasks(words, thread, runTasks) {
  const threads = words[Word.threads];
  for (let i = 0; i < threads; ++i) {
    const next = Word.shares + shareWords * ((thread + i) % threads);
    const end = words[next + 1];
    let begin = Atomics.load(words, next);
    while (begin < end) {
      const middle = begin + ((end - begin + 1) >> 1);
      const found = Atomics.compareExchange(words, next, begin, middle);
      if (found !== begin) {
        // Another thread was faster.
        begin = found;
        continue;
      }
      runTasks(begin, middle);
      begin = Atomics.load(words, next);
    }
  }
}

/** Does tasks of the call in progress until none is left. */
function runCall(words, thread, table) {
  const run = table.get(words[Word.task]), address = words[Word.arguments];
  takeTasks(words, thread, (begin, end) => run(address, BigInt(begin), BigInt(end)));
}
