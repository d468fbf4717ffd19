// Times language models in glowish and ONNX Runtime; `bench/llm` runs it.

import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import ort from 'onnxruntime-node';
import {getMachine, updateDocument} from './document.mjs';
import {startEngines} from './llm_engines.mjs';
import {forms, geometries, writeModel} from './llm_model.mjs';
import {makeReport} from './llm_report.mjs';
import {startHelpers} from './measure.mjs';
import {largestError} from './npy.mjs';
import {measureQuietly} from './quiet.mjs';

const usage = `Usage: bench/llm [options]

Times language models of the geometry of known ones, with random weights, in
glowish (a linked bundle, the cache a state of it) and ONNX Runtime (all
optimisations): a prompt in one call, then tokens one at a time. The programs
take turns, round after round; a program with N threads has N cores for itself.
Printed are medians over the rounds, and medians of the ratios within a round.
The shares are those of what is measured in the same rounds: the FMA peak, and
the rate at which the cores read memory. It waits for up to 20 seconds while
other programs use the processors, and what is measured while these take more
than a twentieth is measured again, up to three times. Writes llm.json.

  --models A,B,..    ${Object.keys(geometries).join(', ')}
                     (default: qwen2.5-0.5b)
  --forms A,B,..     ${Object.keys(forms).join(', ')}
                     (default: 4bit)
  --threads N,..     numbers of threads (default 1,2)
  --prompts N,..     tokens of the prompts (default 64,256)
  --tokens N         tokens after each (default 64)
  --rounds N         how often each has its turn (default 3)
  --cpus N,M,..      the processors to run on: N threads run on the first N
                     (default: all, the last one first)
  --out DIR          where models and results go (default build/bench/llm)
  --doc              also put the table in docs/performance.md

A model is written, compiled and removed again; TinyLlama with 32-bit weights
needs 20 GB of memory.`;

function readOptions() {
  const processors = [...Array(availableParallelism()).keys()].reverse();
  const text = (value) => ({type: 'string', default: value});
  const {values} = parseArgs({options: {
    models: text('qwen2.5-0.5b'), forms: text('4bit'), threads: text('1,2'),
    prompts: text('64,256'), tokens: text('64'), rounds: text('3'),
    cpus: text(processors.join(',')), out: text('build/bench/llm'),
    doc: {type: 'boolean', default: false},
    help: {type: 'boolean', default: false},
  }});
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  const numbers = (list) => list.split(',').map(Number);
  return {
    models: check('--models', values.models.split(','), geometries),
    forms: check('--forms', values.forms.split(','), forms),
    threads: numbers(values.threads), prompts: numbers(values.prompts),
    cpus: numbers(values.cpus), tokens: Number(values.tokens),
    rounds: Number(values.rounds), out: values.out, doc: values.doc,
    engines: ['glowish', 'ONNX Runtime'], quantized: false,
  };
}

function check(option, names, known) {
  for (const name of names) {
    if (!(name in known)) {
      console.error(`error: ${option}: '${name}'; accepted: ${
          Object.keys(known).join(', ')}`);
      process.exit(1);
    }
  }
  return names;
}

function log(text) {
  if (process.stderr.isTTY)
    process.stderr.write(`\r\x1b[K${text}`);
}

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

// One round: what the machine can do, and each program's times.
async function runRound(entries, run, helpers, options) {
  const {threads} = run;
  run.peaks.push(threads * await helpers.peak.run(50));
  const [rate] =
      await helpers.rates.measure([{name: 'memory', bytes: 0}], threads, 200);
  run.rates.push(rate);
  for (const prompt of options.prompts) {
    for (const {times, worker} of entries) {
      const {result, others} = await measureQuietly(worker.process.pid, () =>
          worker.ask(`run ${prompt} ${options.tokens}`));
      const [prefill, decode] = result.split(' ').map(Number);
      run.others.push(others);
      times[prompt].prefill.push(prefill);
      times[prompt].decode.push(decode);
    }
  }
}

// {threads, peaks, rates, others, engines: [{engine, activations, error, times:
// {PROMPT: {prefill, decode}}}], failures}: GFLOP/s and GB/s of all threads, and
// milliseconds, one a round; and the share of the processors that other programs
// had in each measurement.
async function measureRun(name, form, folder, threads, helpers, options) {
  const run = {threads, peaks: [], rates: [], others: [], engines: [],
               failures: []};
  const fail = (engine, activations, reason) => run.failures.push(
      `${name}, ${form}, ${engine}, ${activations} activations, ${
          threads} thread(s): ${reason}`);
  const isQuantized = forms[form].bits < 32;
  const entries =
      await startEngines({isQuantized}, folder, threads, options, fail);
  for (const entry of entries)
    entry.times = Object.fromEntries(options.prompts.map(
        (prompt) => [prompt, {prefill: [], decode: []}]));
  await compareLogits(entries, folder, options);
  for (let round = 0; round < options.rounds; ++round) {
    log(`${name} ${form}, ${threads} thread(s), round ${round + 1}`);
    await runRound(entries, run, helpers, options);
  }
  await Promise.all(entries.map(({worker}) => worker.stop()));
  run.engines = entries.map(({engine, activations, error, times}) =>
      ({engine, activations, error, times}));
  return run;
}

// {name, form, bytesPerToken, operations: {PROMPT: number}, runs}.
async function measureModel(name, form, helpers, options) {
  const folder = join(options.out, `${name}-${form}`);
  log(`writing ${name} ${form}`);
  const most = Math.max(...options.prompts);
  const {bytesPerToken, countOperations} =
      writeModel(name, form, folder, 2 * (most + options.tokens));
  const runs = [];
  for (const threads of options.threads)
    runs.push(await measureRun(name, form, folder, threads, helpers, options));
  rmSync(folder, {recursive: true});
  return {name, form, bytesPerToken, runs, operations: Object.fromEntries(
      options.prompts.map((prompt) => [prompt, countOperations(prompt)]))};
}

const options = readOptions();
mkdirSync(options.out, {recursive: true});
const helpers = await startHelpers(options);
const results = [];
for (const name of options.models)
  for (const form of options.forms)
    results.push(await measureModel(name, form, helpers, options));
log('');
await Promise.all([helpers.peak.stop(), helpers.call.stop(),
                   helpers.rates.stop()]);
const facts = {machine: getMachine(), version: ort.env.versions.node,
               rounds: options.rounds, tokens: options.tokens};
const text = makeReport(results, facts);
console.log(text);
writeFileSync(join(options.out, 'llm.json'),
              JSON.stringify({...facts, results}, null, 1) + '\n');
if (options.doc)
  updateDocument('bench/llm', text);
