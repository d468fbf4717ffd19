// Compares glowish with ONNX Runtime and PyTorch; `bench/compare` runs it.

import {spawnSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import ort from 'onnxruntime-node';
import {hasThreads} from './bundle.mjs';
import {drawChart} from './chart.mjs';
import {getMachine, updateDocument} from './document.mjs';
import {measure, startHelpers} from './measure.mjs';
import {allNetworks, findNetworks, hasTorch, python} from './networks.mjs';
import {getShares, makeReport, median} from './report.mjs';

const usage = `Usage: bench/compare [options]

Times networks: glowish (a linked bundle), ONNX Runtime (all optimisations) and
PyTorch (traced and optimised for inference, where it is installed). A program
with N threads has N cores for itself. The programs run in turn, a fraction of a
second each, round after round; printed are medians over the rounds, and the
median of the ratios within a round. Of float networks the share of the roofline
is printed, too: model-runner -profile -profile-order=roofline names the layers
that are far from theirs. Writes compare.json and compare.svg.

  --networks A,B,..  which (default: all)
  --threads N,..     numbers of threads (default 1,2)
  --rounds N         how often each has its turn (default 7)
  --milliseconds N   how long a turn is (default 150; at least three runs)
  --cpus N,M,..      the processors to run on: N threads run on the first N
                     (default: all, the last one first)
  --no-torch         leave PyTorch out
  --quantized DIR    compare the quantized forms of the networks, folders of DIR,
                     in ONNX Runtime, and the float networks in glowish; shares
                     are those of the peak of 8-bit integers
  --out DIR          where the results go (default build/bench)
  --doc              also put tables and image in docs/performance.md

Networks are folders of $GLOWISH_MODELS (default build/models); missing ones
are written by $GLOWISH_EXPORTER (default ../shared/tools/export_models.py).`;

function readOptions() {
  const processors = [...Array(availableParallelism()).keys()].reverse();
  const {values} = parseArgs({options: {
    networks: {type: 'string', default: allNetworks.join(',')},
    threads: {type: 'string', default: '1,2'},
    rounds: {type: 'string', default: '7'},
    milliseconds: {type: 'string', default: '150'},
    cpus: {type: 'string', default: processors.join(',')},
    'no-torch': {type: 'boolean', default: false},
    quantized: {type: 'string'},
    out: {type: 'string', default: 'build/bench'},
    doc: {type: 'boolean', default: false},
    help: {type: 'boolean', default: false},
  }});
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  const torch = !values['no-torch'] && !values.quantized && hasTorch();
  const models = process.env.GLOWISH_MODELS ?? 'build/models';
  return {
    networks: values.networks.split(','),
    threads: values.threads.split(',').map(Number),
    rounds: Number(values.rounds), milliseconds: Number(values.milliseconds),
    cpus: values.cpus.split(',').map(Number),
    engines: ['glowish', 'ONNX Runtime', ...(torch ? ['PyTorch'] : []),
              ...(values.quantized ? ['glowish float'] : [])],
    out: values.out, doc: values.doc,
    models: values.quantized ?? models, floatModels: models,
    quantized: values.quantized !== undefined,
    exporter: process.env.GLOWISH_EXPORTER ??
        '../shared/tools/export_models.py',
  };
}

// Takes out of `options` what cannot be measured here; lines that say so.
function findSkipped(options) {
  const skipped = [];
  const {found, missing} = findNetworks(options);
  if (missing.length)
    skipped.push(`${options.models} has no folder: ${missing.join(', ')}`);
  const isPossible = (threads) => {
    if (threads > options.cpus.length)
      skipped.push(`${threads} threads: only ${options.cpus.length} processor` +
                   '(s) to run on');
    else if (threads > 1 && !hasThreads())
      skipped.push(`${threads} threads: model-compiler has no -threads`);
    else
      return true;
    return false;
  };
  options.networks = found;
  options.threads = options.threads.filter(isPossible);
  for (const line of skipped)
    console.error(`skipped: ${line}`);
  return skipped;
}

function getVersions({engines}) {
  const versions = {'ONNX Runtime': ort.env.versions.node};
  if (engines.includes('PyTorch'))
    versions.PyTorch = spawnSync(
        python, ['-c', 'import torch; print(torch.__version__)'],
        {encoding: 'utf8'}).stdout.trim();
  return versions;
}

function report(results, skipped, options) {
  const {threads, engines, rounds} = options;
  const facts = {
    machine: getMachine(), versions: getVersions(options),
    peak: median(results.flatMap(({peaks}) => peaks)),
    call: median(results.flatMap(({callTimes}) => callTimes)),
    threads, engines, rounds, skipped, quantized: options.quantized,
    peakName: options.quantized ? 'peak of 8-bit integers' : 'FMA peak',
  };
  const text = makeReport(results, facts);
  console.log(text);
  const chart = drawChart(results.map((result) => getShares(result, facts)),
                          engines, threads);
  writeFileSync(join(options.out, 'compare.svg'), chart);
  writeFileSync(join(options.out, 'compare.json'),
                JSON.stringify({...facts, results}, null, 1) + '\n');
  if (options.doc) {
    updateDocument('bench/compare', text);
    writeFileSync('docs/images/compare.svg', chart);
  }
}

const options = readOptions();
mkdirSync(options.out, {recursive: true});
const skipped = findSkipped(options);
if (!options.networks.length || !options.threads.length) {
  console.error('nothing to compare');
  process.exit(77);
}
const helpers = await startHelpers(options);
const results = [];
for (const name of options.networks) {
  if (process.stderr.isTTY)
    process.stderr.write(`\r\x1b[K${name} ...`);
  results.push(await measure(name, helpers, options));
}
if (process.stderr.isTTY)
  process.stderr.write('\r\x1b[K');
await helpers.peak.stop();
await helpers.call.stop();
await helpers.rates?.stop();
report(results, skipped, options);
