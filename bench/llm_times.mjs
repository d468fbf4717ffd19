// Times a language model in all programs and with all numbers of threads.

import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {startEngines} from './llm_engines.mjs';
import {forms} from './llm_forms.mjs';
import {writeModel} from './llm_model.mjs';
import {largestError} from './npy.mjs';
import {measureQuietly} from './quiet.mjs';

// How far each program's logits are from those of ONNX Runtime with float
// activations, as a share of the largest magnitude.
async function compareLogits(entries, folder, {prompts}) {
  const readLogits = async ({worker}) => {
    const file = join(folder, 'logits.bin');
    await worker.ask(`logits ${prompts[0]} ${file}`);
    return new Float32Array(new Uint8Array(readFileSync(file)).buffer);
  };
  const reference = entries.find(({engine, activations}) =>
      engine === 'ONNX Runtime' && activations === 'float');
  const expected = reference && await readLogits(reference);
  for (const entry of entries)
    if (expected)
      entry.error = largestError(await readLogits(entry), expected);
}

// The GB/s at which the cores read from memory.
async function measureRate({threads, rates}, helpers) {
  const [rate] =
      await helpers.rates.measure([{name: 'memory', bytes: 0}], threads, 100);
  rates.push(rate);
  return rate;
}

// The bytes that the cores can read in the time of a token. The rate changes
// where others use the memory, too: glowish's threads read after each token;
// ONNX Runtime's cannot, and what is read around its turn, GB/s, counts.
async function measureReadable({engine, worker}, prompt, milliseconds, rate,
                               {tokens}) {
  if (engine !== 'glowish')
    return rate * milliseconds * 1e6;
  const {result} = await measureQuietly(worker.process.pid, () =>
      worker.ask(`read ${prompt} ${tokens}`));
  return Number(result);
}

// One round: what the machine can do, and each program's times.
async function runRound(entries, run, helpers, options) {
  run.peaks.push(run.threads * await helpers.peak.run(50));
  let before = await measureRate(run, helpers);
  for (const prompt of options.prompts) {
    for (const entry of entries) {
      const {worker} = entry, times = entry.times[prompt];
      const {result, others} = await measureQuietly(worker.process.pid, () =>
          worker.ask(`run ${prompt} ${options.tokens}`));
      const after = await measureRate(run, helpers);
      const [prefill, decode] = result.split(' ').map(Number);
      run.others.push(others);
      times.prefill.push(prefill);
      times.decode.push(decode);
      times.readable.push(await measureReadable(
          entry, prompt, decode, (before + after) / 2, options));
      before = after;
    }
  }
}

// {threads, peaks, rates, others, engines: [{engine, activations, error, times:
// {PROMPT: {prefill, decode, readable}}}], failures}: GFLOP/s and GB/s of all
// threads, milliseconds, and the bytes that could be read in the time of a token,
// one a round; and the share of the processors that other programs had in each
// measurement.
async function measureRun(name, form, folder, threads, helpers, options) {
  const run = {threads, peaks: [], rates: [], others: [], engines: [],
               failures: []};
  const fail = (engine, activations, reason) => run.failures.push(
      `${name}, ${form}, ${engine}, ${activations} activations, ${
          threads} thread(s): ${reason}`);
  const entries =
      await startEngines(forms[form], folder, threads, options, fail);
  for (const entry of entries)
    entry.times = Object.fromEntries(options.prompts.map(
        (prompt) => [prompt, {prefill: [], decode: [], readable: []}]));
  await compareLogits(entries, folder, options);
  for (let round = 0; round < options.rounds; ++round) {
    options.log(`${name} ${form}, ${threads} thread(s), round ${round + 1}`);
    await runRound(entries, run, helpers, options);
  }
  await Promise.all(entries.map(({worker}) => worker.stop()));
  run.engines = entries.map(({engine, activations, error, times}) =>
      ({engine, activations, error, times}));
  return run;
}

// Writes the model to `folder`, which stays: {name, form, bytesPerToken,
// operations: {PROMPT: number}, runs}.
export async function measureTimes({name, form}, folder, helpers, options) {
  const most = Math.max(...options.prompts);
  const {bytesPerToken, countOperations} =
      writeModel(name, form, folder, 2 * (most + options.tokens));
  const runs = [];
  for (const threads of options.threads)
    runs.push(await measureRun(name, form, folder, threads, helpers, options));
  return {name, form, bytesPerToken, runs, operations: Object.fromEntries(
      options.prompts.map((prompt) => [prompt, countOperations(prompt)]))};
}
