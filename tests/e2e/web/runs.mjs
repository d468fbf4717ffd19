// Runs of a network whose bits can be compared: what run_threads.mjs and the page
// of web_threads.py have in common.

/** The states are zeros before the first of them. */
export function runOften(network, count) {
  const hashes = [];
  for (const state of Object.values(network.states))
    state.fill(0);
  for (let run = 0; run < count; ++run)
    hashes.push(runOnce(network, run));
  return hashes;
}

/** The checksum of outputs and states behind the run of a number, which decides
 * about the inputs. */
export function runOnce(network, number) {
  let seed = number + 1;
  for (const data of Object.values(network.inputs))
    for (let i = 0; i < data.length; ++i) {
      seed = Math.imul(seed, 1664525) + 1013904223 | 0;
      data[i] = seed / 2 ** 31;
    }
  network.run();
  let hash = 0;
  for (const data of [...Object.values(network.outputs),
                      ...Object.values(network.states)])
    for (const word of new Int32Array(data.slice().buffer))
      hash = Math.imul(hash ^ word, 0x01000193);
  return hash;
}
