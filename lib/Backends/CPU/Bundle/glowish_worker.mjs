
//===- A worker ------------------------------------------------------------===//

/** Waits for the call that follows `last`, or for an end; returns its number. */
function awaitCall(words, last) {
  if (watch(words, Word.call, last)) {
    Atomics.add(words, Word.sleepers, 1);
    Atomics.wait(words, Word.call, last);
    Atomics.sub(words, Word.sleepers, 1);
  }
  return Atomics.load(words, Word.call);
}

/** Joins the call; false if that has ended. Until the worker has left again, the
 * call does not return. */
function join(words) {
  let gate = Atomics.load(words, Word.gate);
  while (gate & isOpen) {
    const found = Atomics.compareExchange(words, Word.gate, gate, gate + 1);
    if (found === gate)
      return true;
    gate = found;
  }
  return false;
}

function leave(words) {
  if (Atomics.sub(words, Word.gate, 1) === 1)
    Atomics.notify(words, Word.gate);
}

/** The first error of a call is the one that it reports. */
function saveError(words, error) {
  if (Atomics.compareExchange(words, Word.hasFailed, 0, 1) !== 0)
    return;
  const text = String(error).slice(0, Word.shares - Word.error);
  for (let i = 0; i < text.length; ++i)
    words[Word.error + i] = text.charCodeAt(i);
  words[Word.errorLength] = text.length;
}

function serve(words, thread, {exports}, stack) {
  for (let call = 0;;) {
    call = awaitCall(words, call);
    if (Atomics.load(words, Word.isClosed))
      return;
    if (!join(words))
      continue;
    try {
      // A task that failed left it elsewhere.
      exports.__stack_pointer.value = stack;
      runCall(words, thread, exports.__indirect_function_table);
    } catch (error) {
      saveError(words, error);
    }
    leave(words);
  }
}

/** Does its part of each call of the network that sends the message, which
 * `reply` tells that it is ready or why it isn't. Returns when that closes. */
async function work({module, memory, wordsAddress, thread, stack}, reply) {
  try {
    const words = new Int32Array(memory.buffer, wordsAddress);
    const instance = await WebAssembly.instantiate(module, {env: {
      memory,
      glowish_parallel_for() { throw new Error('a task has tasks of its own'); },
    }});
    reply({});
    serve(words, thread, instance, stack);
  } catch (error) {
    reply({error: String(error)});
  }
}

/** Bundlers make a classic script of a worker, which has no await outside of
 * functions. */
async function main() {
  if (typeof process !== 'object' || !process.versions?.node) {
    addEventListener('message', async ({data}) => {
      await work(data, postMessage);
      close();
    }, {once: true});
    return;
  }
  const {parentPort} =
      await import(/* webpackIgnore: true */ 'node:worker_threads');
  parentPort.once('message', (message) => work(
      message, (answer) => parentPort.postMessage(answer)));
}

main();
