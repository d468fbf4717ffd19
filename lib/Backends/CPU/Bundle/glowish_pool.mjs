
//===- Threads ---------------------------------------------------------------===//

/** Whether workers may get the memory: a page must be isolated from others. */
const mayShare = isNode || globalThis.crossOriginIsolated === true;

const isolation = 'threads take a page that is cross-origin isolated: its server ' +
    'sends "Cross-Origin-Opener-Policy: same-origin" and ' +
    '"Cross-Origin-Embedder-Policy: require-corp"';

async function countProcessors() {
  if (!isNode)
    return navigator.hardwareConcurrency ?? 1;
  const os = await import(/* webpackIgnore: true */ 'node:os');
  return os.availableParallelism?.() ?? os.cpus().length;
}

/** How many threads the network is to have. */
async function chooseThreads(wanted) {
  if (mayShare)
    return wanted ?? Math.min(description.threads, await countProcessors());
  if (wanted > 1)
    throw new Error(`${description.name}: ${isolation}`);
  return 1;
}

function createMemory() {
  const pages = description.memoryPages;
  try {
    return new WebAssembly.Memory({initial: pages, maximum: pages, shared: true});
  } catch (error) {
    throw mayShare ? error : new Error(
        `${description.name}: there is no shared memory (${error.message}); ` +
        isolation);
  }
}

/** Starts a worker, which is ready when the promise resolves. */
async function startWorker(message) {
  const worker = isNode
      // Options of this process may not be for workers.
      ? new (await import(/* webpackIgnore: true */ 'node:worker_threads')).Worker(
          new URL('./NETWORK.worker.mjs', import.meta.url), {execArgv: []})
      : new Worker(new URL('./NETWORK.worker.mjs', import.meta.url),
                   {type: 'module'});
  const fail = (reason) =>
      new Error(`${description.name}: a worker does not start: ${reason}`);
  await new Promise((resolve, reject) => {
    const answer = ({error}) =>
        error === undefined ? resolve() : reject(fail(error));
    if (isNode) {
      worker.once('message', answer);
      worker.once('error', (error) => reject(fail(error.message)));
      worker.once('exit', (code) => reject(fail(`it exits with ${code}`)));
    } else {
      worker.addEventListener('message', ({data}) => answer(data));
      worker.addEventListener('error', (event) => reject(
          fail(event.message ?? 'NETWORK.worker.mjs does not load')));
    }
    worker.postMessage(message);
  });
  // It does not keep Node.js from its end.
  if (isNode)
    worker.unref();
}

/** Whether this thread may sleep: the one of a page may not. */
function maySleep(words) {
  try {
    return Atomics.wait(words, Word.isClosed, -1) === 'not-equal';
  } catch {
    return false;
  }
}

/** The workers of a network, and its calls of glowish_parallel_for, whose tasks they
 * share. The thread that calls has the number 0. */
class Pool {
  #words;
  #table;
  #maySleep;
  /** Resolves when all workers are there. */
  ready;

  constructor(words, table, workers) {
    this.#words = words;
    this.#table = table;
    this.#maySleep = maySleep(words);
    words[Word.threads] = 1 + workers.length;
    this.ready = Promise.all(workers.map(startWorker));
  }

  run(task, address, count) {
    const words = this.#words, threads = words[Word.threads];
    if (threads === 1) {
      this.#table.get(task)(address, 0n, count);
      return;
    }
    this.#begin(task, address, Number(count));
    try {
      runCall(words, 0, this.#table);
    } finally {
      this.#end();
    }
    if (words[Word.hasFailed])
      throw new Error(`${description.name}: a worker failed: ${
          String.fromCharCode(...words.subarray(
              Word.error, Word.error + words[Word.errorLength]))}`);
  }

  #begin(task, address, count) {
    const words = this.#words, threads = words[Word.threads];
    words[Word.task] = task;
    words[Word.arguments] = address;
    words[Word.hasFailed] = 0;
    for (let thread = 0; thread < threads; ++thread) {
      const share = Word.shares + shareWords * thread;
      words[share] = Math.floor(count * thread / threads);
      words[share + 1] = Math.floor(count * (thread + 1) / threads);
    }
    // What is above is there for workers that see this.
    Atomics.store(words, Word.gate, isOpen);
    this.#announce(count - 1);
  }

  /** Lets workers look: at most `count` of those that sleep. */
  #announce(count) {
    const words = this.#words;
    Atomics.add(words, Word.call, 1);
    if (Atomics.load(words, Word.sleepers))
      Atomics.notify(words, Word.call, count);
  }

  /** No task is left: waits for the workers that are at one. Those that have not
   * come yet come too late. */
  #end() {
    const words = this.#words;
    Atomics.and(words, Word.gate, ~isOpen);
    for (let left; (left = Atomics.load(words, Word.gate)) !== 0;)
      if (watch(words, Word.gate, left) && this.#maySleep)
        Atomics.wait(words, Word.gate, left);
  }

  close() {
    this.#words[Word.threads] = 1;
    Atomics.store(this.#words, Word.isClosed, 1);
    this.#announce(Infinity);
  }

  get threads() {
    return this.#words[Word.threads];
  }
}

/** An instance of the module with its threads. Behind the heap's start lie the
 * words that they share, and the stacks of the workers. */
async function instantiate(module, wanted) {
  const threads = await chooseThreads(wanted);
  const memory = createMemory();
  let pool;
  const {exports} = await WebAssembly.instantiate(module, {env: {
    memory,
    glowish_parallel_for: (task, address, count) => pool.run(task, address, count),
  }});
  const wordsAddress = alignTo(exports.__heap_base.value >>> 0);
  const words = new Int32Array(memory.buffer, wordsAddress, countWords(threads));
  let heap = alignTo(wordsAddress + words.byteLength);
  const workers = [];
  for (let thread = 1; thread < threads; ++thread) {
    // A stack grows down.
    heap += description.stackBytes;
    workers.push({module, memory, wordsAddress, thread, stack: heap});
  }
  pool = new Pool(words, exports.__indirect_function_table, workers);
  return {exports, memory, pool, heap};
}
