// Compares glowish with ONNX Runtime and PyTorch; `bench/compare` runs it.

import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import ort from 'onnxruntime-node';
import {drawChart} from './chart.mjs';
import {geometricMean, makeTable, median, medianRatio} from './report.mjs';
import {Worker} from './workers.mjs';

const usage = `Usage: bench/compare [options]

Times networks on one thread of one processor: glowish (a linked bundle), ONNX
Runtime (all optimisations) and PyTorch (traced and optimised for inference,
where it is installed). The programs run in turn, a fraction of a second each,
round after round; printed are medians over the rounds, and the median of the
ratios within a round. Writes compare.json and compare.svg.

  --networks A,B,..  which (default: the image networks of torchvision)
  --rounds N         how often each has its turn (default 7)
  --milliseconds N   how long a turn is (default 400)
  --cpu N            the processor to run on (default: the last)
  --no-torch         leave PyTorch out
  --out DIR          where the results go (default build/bench)
  --doc              also put table and picture in docs/performance.md

Networks are folders of $GLOWISH_MODELS (default build/models); missing ones
are written by $GLOWISH_EXPORTER (default ../shared/tools/export_models.py).`;

const engines = ['glowish', 'ONNX Runtime', 'PyTorch'];
const defaultNetworks = [
  'lenet', 'resnet18', 'resnet50', 'mobilenet_v2', 'mobilenet_v3_large',
  'squeezenet1_1', 'vgg16', 'densenet121', 'inception_v3', 'efficientnet_b0',
];
const bench = dirname(fileURLToPath(import.meta.url));
const python = '/usr/bin/python3';

function readOptions() {
  const {values} = parseArgs({options: {
    networks: {type: 'string', default: defaultNetworks.join(',')},
    rounds: {type: 'string', default: '7'},
    milliseconds: {type: 'string', default: '400'},
    cpu: {type: 'string', default: String(availableParallelism() - 1)},
    'no-torch': {type: 'boolean', default: false},
    out: {type: 'string', default: 'build/bench'},
    doc: {type: 'boolean', default: false},
    help: {type: 'boolean', default: false},
  }});
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  return {
    networks: values.networks.split(','), rounds: Number(values.rounds),
    milliseconds: Number(values.milliseconds), cpu: Number(values.cpu),
    out: values.out, doc: values.doc,
    torch: !values['no-torch'] && hasTorch(),
    models: process.env.GLOWISH_MODELS ?? 'build/models',
    exporter: process.env.GLOWISH_EXPORTER ??
        '../shared/tools/export_models.py',
  };
}

function hasTorch() {
  return spawnSync(python, ['-c', 'import torchvision']).status === 0;
}

// Exports what is missing; the networks that are there then.
function findNetworks({networks, models, exporter}) {
  const isThere = (name) => existsSync(join(models, name, 'output_0.npy'));
  const missing = networks.filter((name) => !isThere(name));
  if (missing.length && existsSync(exporter) && hasTorch()) {
    console.error(`exporting ${missing.join(' ')}`);
    spawnSync(python, [exporter, '--out', models, ...missing],
              {stdio: ['ignore', 2, 2]});
  }
  const skipped = networks.filter((name) => !isThere(name));
  if (skipped.length)
    console.error(`skipped, as ${models} has no such folder: ` +
                  skipped.join(' '));
  return networks.filter(isThere);
}

function buildPeak(out) {
  const program = join(out, 'fma_peak');
  execFileSync('clang-19', ['-std=gnu99', '-O2', '-march=native', '-w',
    '-mprefer-vector-width=512', join(bench, 'fma_peak.c'), '-o', program]);
  return program;
}

// Compiles the bundle: its program with arguments, and the seconds it took.
function buildBundle(name, {models, out}) {
  execFileSync('python3', ['tests/e2e/cases.py', '--work', out, '--exported',
                           models, name]);
  const args = readFileSync(join(out, name, 'args'), 'utf8').trim().split('\n');
  const folder = join(out, name, 'bundle');
  const start = performance.now();
  execFileSync('tests/e2e/make_bundle.sh', [
    folder, ...args.filter((arg) => arg.startsWith('-model')),
  ], {stdio: ['ignore', 2, 2]});
  return {
    command: [join(folder, 'run'), join(folder, 'network.weights.bin'),
              ...args, '-serve'],
    seconds: (performance.now() - start) / 1000,
  };
}

function startWorkers(name, bundle, options) {
  const commands = {
    ...(bundle && {glowish: bundle.command}),
    'ONNX Runtime': [process.execPath, join(bench, 'ort_worker.mjs'),
                     join(options.models, name)],
  };
  if (options.torch)
    commands.PyTorch = [python, join(bench, 'torch_worker.py'),
                        options.exporter, name];
  return Object.entries(commands).map(
      ([engine, command]) => new Worker(engine, command, options));
}

// Runs the rounds of one network. A worker that fails is reported and left
// out.
async function measure(name, helpers, options) {
  let bundle;
  try {
    bundle = buildBundle(name, options);
  } catch {
    console.error(`${name}: no bundle could be made`);
  }
  const flops = Number(execFileSync(process.execPath, [
    join(bench, 'flops.mjs'), join(options.models, name)]));
  const result = {name, flops, compileSeconds: bundle?.seconds, errors: {},
                  times: Object.fromEntries(engines.map((e) => [e, []])),
                  peaks: [], callTimes: []};
  let workers = startWorkers(name, bundle, options);
  const leaveOut = (worker, error) => {
    console.error(`\n${name}: ${error.message}`);
    workers = workers.filter((other) => other !== worker);
  };
  for (const worker of [...workers]) {
    try {
      result.errors[worker.name] = (await worker.ready).error;
    } catch (error) {
      leaveOut(worker, error);
    }
  }
  for (let round = 0; round < options.rounds; ++round) {
    result.peaks.push(await helpers.peak.run(30));
    result.callTimes.push(await helpers.call.run(30));
    for (const worker of [...workers]) {
      try {
        result.times[worker.name].push(await worker.run(options.milliseconds));
      } catch (error) {
        leaveOut(worker, error);
      }
    }
  }
  await Promise.all(workers.map((worker) => worker.stop()));
  subtractCall(result);
  return result;
}

// Below a millisecond the call through Node.js matters: what it takes for a
// network of one node is taken off.
function subtractCall({times, callTimes}) {
  if (median(times['ONNX Runtime']) < 1)
    times['ONNX Runtime'] = times['ONNX Runtime'].map(
        (time, round) => Math.max(time - callTimes[round], 1e-6));
}

function getMachine() {
  const info = readFileSync('/proc/cpuinfo', 'utf8');
  return /model name\s*: (.*)/.exec(info)?.[1] ?? process.arch;
}

function getTorchVersion() {
  return spawnSync(python, ['-c', 'import torch; print(torch.__version__)'],
                   {encoding: 'utf8'}).stdout.trim();
}

function report(results, options) {
  const peak = median(results.flatMap(({peaks}) => peaks));
  const call = median(results.flatMap(({callTimes}) => callTimes));
  const versions = {'ONNX Runtime': ort.env.versions.node};
  if (options.torch)
    versions.PyTorch = getTorchVersion();
  const ratio = (engine) => geometricMean(results.map(
      ({times}) => medianRatio(times[engine], times.glowish)));
  const machine = getMachine();
  const lines = [
    makeTable(results, peak), '',
    `${machine}, one core; FMA peak ${peak.toFixed(1)} GFLOP/s; ` +
        Object.entries(versions).map((pair) => pair.join(' ')).join(', ') +
        `; batch 1, medians of ${options.rounds} rounds.`,
    `A call of ONNX Runtime through Node.js takes ${
        (1000 * call).toFixed(1)} us, which is taken off its times below 1 ms.`,
    ...Object.keys(versions).map((engine) => `Geometric mean of ${
        engine} / glowish: ${ratio(engine).toFixed(2)}.`),
  ];
  console.log(lines.join('\n'));
  const chart = drawChart(
      results.map(({name, flops, times}) => ({
        name, rates: Object.fromEntries(engines.map(
            (engine) => [engine, flops / median(times[engine]) / 1e6])),
      })),
      engines.filter((engine) => engine === 'glowish' || versions[engine]),
      peak);
  writeFileSync(join(options.out, 'compare.svg'), chart);
  writeFileSync(join(options.out, 'compare.json'), JSON.stringify(
      {machine, peak, call, versions, rounds: options.rounds, results},
      null, 1) + '\n');
  if (options.doc)
    updateDocument(lines.join('\n'), chart);
}

// Replaces what stands between the markers of docs/performance.md.
function updateDocument(text, chart) {
  const path = 'docs/performance.md';
  const [begin, end] = ['<!-- bench/compare: begin -->\n',
                        '<!-- bench/compare: end -->'];
  const document = readFileSync(path, 'utf8');
  const [before, rest] = document.split(begin);
  writeFileSync(path, before + begin + '\n' + text + '\n\n' +
                          rest.slice(rest.indexOf(end)));
  writeFileSync('docs/images/compare.svg', chart);
}

const options = readOptions();
mkdirSync(options.out, {recursive: true});
const networks = findNetworks(options);
if (!networks.length) {
  console.error('nothing to compare');
  process.exit(77);
}
const helpers = {
  peak: new Worker('fma_peak', [buildPeak(options.out)], options),
  call: new Worker('ort_worker', [
    process.execPath, join(bench, 'ort_worker.mjs'), '--identity'], options),
};
await helpers.peak.ready;
await helpers.call.ready;
const results = [];
for (const name of networks) {
  if (process.stderr.isTTY)
    process.stderr.write(`\r\x1b[K${name} ...`);
  results.push(await measure(name, helpers, options));
}
if (process.stderr.isTTY)
  process.stderr.write('\r\x1b[K');
await helpers.peak.stop();
await helpers.call.stop();
report(results, options);
