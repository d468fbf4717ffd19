// Times and checks language models in glowish and ONNX Runtime; `bench/llm` runs
// it.

import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import ort from 'onnxruntime-node';
import {getMachine, updateDocument} from './document.mjs';
import {checkModels} from './llm_check.mjs';
import {forms, geometries} from './llm_forms.mjs';
import {writeModel} from './llm_model.mjs';
import {describeNeeds, measureNeeds} from './llm_needs.mjs';
import {makeReport} from './llm_report.mjs';
import {measureTimes} from './llm_times.mjs';
import {startHelpers} from './measure.mjs';
import {formatTable} from './report.mjs';

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

  --check            compare logits and tokens instead: of 256 tokens that are
                     generated with the cache, those of the model without a
                     cache and of ONNX Runtime; with other threads and splits of
                     the prompt. The exit code is 1 if something is wrong
  --needs            measure instead what compiling, starting and memory take
  --models A[:F],..  ${Object.keys(geometries).join(', ')};
                     with the form F alone, or with all of --forms
                     (default: qwen2.5-0.5b; --check: smollm2-135m)
  --forms A,B,..     ${Object.keys(forms).join(', ')}
                     (default: 4bit; --needs: 4bit-last,4bit; --check:
                     plain,attention,float,4bit; ONNX Runtime takes minutes for
                     8bit)
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
  const flag = {type: 'boolean', default: false};
  const {values} = parseArgs({options: {
    models: {type: 'string'}, forms: {type: 'string'}, threads: text('1,2'),
    prompts: text('64,256'), tokens: text('64'), rounds: text('3'),
    cpus: text(processors.join(',')), out: text('build/bench/llm'),
    doc: flag, check: flag, needs: flag, help: flag,
  }});
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  const numbers = (list) => list.split(',').map(Number);
  return {
    runs: listRuns(values), check: values.check, needs: values.needs,
    threads: numbers(values.threads), prompts: numbers(values.prompts),
    cpus: numbers(values.cpus), tokens: Number(values.tokens),
    rounds: Number(values.rounds), out: values.out, doc: values.doc, log,
    engines: ['glowish', 'ONNX Runtime'], quantized: false,
  };
}

// {name, form} of each model that --models and --forms ask for.
function listRuns({models, forms: list, check, needs}) {
  const all = (list ?? (check ? 'plain,attention,float,4bit'
      : needs ? '4bit-last,4bit' : '4bit')).split(',');
  const names = models ?? (check ? 'smollm2-135m' : 'qwen2.5-0.5b');
  return names.split(',').flatMap((entry) => {
    const [name, form] = entry.split(':');
    expectKnown('--models', name, geometries);
    return (form ? [form] : all).map((one) => {
      expectKnown('--forms', one, forms);
      return {name, form: one};
    });
  });
}

function expectKnown(option, name, known) {
  if (name in known)
    return;
  console.error(`error: ${option}: '${name}'; accepted: ${
      Object.keys(known).join(', ')}`);
  process.exit(1);
}

function log(text) {
  if (process.stderr.isTTY)
    process.stderr.write(`\r\x1b[K${text}`);
}

async function timeModels(options, facts) {
  const helpers = await startHelpers(options);
  const results = [];
  for (const run of options.runs) {
    const folder = join(options.out, `${run.name}-${run.form}`);
    log(`writing ${run.name} ${run.form}`);
    results.push(await measureTimes(run, folder, helpers, options));
    rmSync(folder, {recursive: true});
  }
  await Promise.all([helpers.peak.stop(), helpers.call.stop(),
                     helpers.rates.stop()]);
  writeFileSync(join(options.out, 'llm.json'),
                JSON.stringify({...facts, results}, null, 1) + '\n');
  return makeReport(results, facts);
}

async function getNeeds(options, {machine}) {
  const rows = [];
  for (const run of options.runs) {
    const folder = join(options.out, `${run.name}-${run.form}`);
    log(`${run.name} ${run.form}`);
    writeModel(run.name, run.form, folder, 1024);
    rows.push(...await measureNeeds(run, folder, options));
    rmSync(folder, {recursive: true});
  }
  return `${describeNeeds(rows, formatTable)}\n\n${machine}.`;
}

async function check(options, {machine, version}) {
  const {text, isRight} = await checkModels(options.runs, options);
  process.exitCode = isRight ? 0 : 1;
  return `${text}\n\n${machine}; ONNX Runtime ${version}.`;
}

const options = readOptions();
mkdirSync(options.out, {recursive: true});
const facts = {machine: getMachine(), version: ort.env.versions.node,
               rounds: options.rounds, tokens: options.tokens};
const [program, measure] = options.check ? ['bench/llm check', check]
    : options.needs ? ['bench/llm needs', getNeeds]
    : ['bench/llm', timeModels];
const text = await measure(options, facts);
log('');
console.log(text);
if (options.doc)
  updateDocument(program, text);
