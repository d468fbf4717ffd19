// Compares WebAssembly bundles with ONNX Runtime Web; `bench/web` runs it.

import {mkdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {isAccurate, isAccurateQuantized} from './accuracy.mjs';
import {compiler, readCase, run} from './bundle.mjs';
import {getMachine, updateDocument} from './document.mjs';
import {allNetworks, findNetworks} from './networks.mjs';
import {formatTable, geometricMean, median, medianRatio} from './report.mjs';

const usage = `Usage: bench/web [options]

Times networks in Node.js: a WebAssembly bundle with simd128, and ONNX Runtime Web
(WebAssembly, all optimisations), both in one process, in turns, after 40 runs each.
Printed are medians over the rounds, the median of the ratios within a round, the
size of the module without weights, and how long V8 takes to compile it. With several
threads, a bundle for one thread has its turns as well. Writes web.json.

  --networks A,B,..  which (default: all of bench/compare)
  --quantized DIR    time the quantized forms of the networks, folders of DIR
                     (bench/quantize writes them)
  --rounds N         how often each has its turn (default 11)
  --milliseconds N   how long a turn is (default 100; at least one run)
  --threads N        on how many threads (default 1)
  --cpus A,B,..      the processors to run on (default: the last ones, one more than
                     threads if it is there: V8 compiles on threads of its own,
                     which would take time from what is measured)
  --attributes A     -mattr of the bundles (default +simd128)
  --out DIR          where the results go (default build/bench/web)
  --doc              also put the table in docs/performance.md

Networks are folders of $GLOWISH_MODELS (default build/models); missing ones
are written by $GLOWISH_EXPORTER (default ../shared/tools/export_models.py).`;

const bench = dirname(fileURLToPath(import.meta.url));

function readOptions() {
  const text = (value) => ({type: 'string', default: value});
  const flag = {type: 'boolean', default: false};
  const {values} = parseArgs({options: {
    networks: text(allNetworks.join(',')), quantized: {type: 'string'},
    rounds: text('11'), milliseconds: text('100'), attributes: text('+simd128'),
    threads: text('1'), cpus: {type: 'string'}, out: text('build/bench/web'),
    doc: flag, help: flag,
  }});
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  const threads = Number(values.threads), processors = availableParallelism();
  if (!(Number.isInteger(threads) && threads >= 1 && threads <= processors)) {
    console.error(`bench/web: --threads=${values.threads}; accepted: 1 ... ${
        processors}, the processors there are`);
    process.exit(1);
  }
  return {
    ...values, networks: values.networks.split(','), threads,
    cpus: values.cpus ??
        `${Math.max(0, processors - threads - 1)}-${processors - 1}`,
    models: values.quantized ?? process.env.GLOWISH_MODELS ?? 'build/models',
    exporter: process.env.GLOWISH_EXPORTER ??
        '../shared/tools/export_models.py',
  };
}

// Compiles a bundle for a number of threads: its folder.
function compile(name, threads, {attributes, ...options}) {
  const folder = join(options.out, name, `bundle-${threads}`);
  const shapes = readCase(name, options).filter(
      (arg) => arg.startsWith('-model'));
  run(compiler(), [
    ...shapes, `-emit-bundle=${folder}`, '-network-name=network',
    '-target=wasm32-unknown-unknown', `-mattr=${attributes}`,
    `-threads=${threads}`,
  ]);
  return folder;
}

// {size, compile} of a module: its bytes, and V8's milliseconds.
function measureModule(path, {cpus}) {
  const text = run('taskset', [
    '-c', cpus, process.execPath, '--no-wasm-lazy-compilation',
    join(bench, 'web_compile.mjs'), path,
  ]);
  return {size: statSync(path).size, compile: Number(text)};
}

// Throws an error if an output is too far from PyTorch's.
function checkErrors({errors}, {quantized}) {
  const other = errors['ONNX Runtime Web'];
  for (const [engine, error] of Object.entries(errors)) {
    const accurate = quantized
        ? isAccurateQuantized(error, engine === 'glowish' ? other : undefined)
        : isAccurate(error);
    if (!accurate)
      throw new Error(`${engine} differs from PyTorch by ${error} of the ` +
                      'largest magnitude');
  }
}

// {name, size, compile, errors, times}, or {name, reason} where it fails.
function measure(name, options) {
  try {
    const {threads} = options;
    const folder = compile(name, threads, options);
    const oneThread = threads > 1
        ? [join(compile(name, 1, options), 'network.mjs')] : [];
    const text = run('taskset', [
      '-c', options.cpus, process.execPath, join(bench, 'web_worker.mjs'),
      join(options.models, name), options.rounds, options.milliseconds, threads,
      join(folder, 'network.mjs'), ...oneThread,
    ]);
    const result = JSON.parse(text.trim().split('\n').at(-1));
    checkErrors(result, options);
    return {name, ...measureModule(join(folder, 'network.wasm'), options),
            ...result};
  } catch (error) {
    console.error(`\n${name}: ${error.message}`);
    return {name, reason: error.message};
  }
}

const getRatio = ({times}) =>
    medianRatio(times['ONNX Runtime Web'], times.glowish);

// How much faster several threads are than one.
const getSpeedup = ({times}) => medianRatio(times['one thread'], times.glowish);

const show = (time) => time.toFixed(time < 1 ? 3 : time < 10 ? 2 : 1);

function makeReport(results, {attributes, skipped, threads}) {
  const done = results.filter(({reason}) => !reason);
  const hasThreads = threads > 1;
  const rows = [['network', 'glowish ms',
                 ...(hasThreads ? ['one thread ms', 'one thread / glowish'] : []),
                 'ONNX Runtime Web ms', 'ONNX Runtime Web / glowish', 'module KB',
                 'compile ms']];
  for (const result of done)
    rows.push([
      result.name, show(median(result.times.glowish)),
      ...(hasThreads ? [show(median(result.times['one thread'])),
                        getSpeedup(result).toFixed(2)] : []),
      show(median(result.times['ONNX Runtime Web'])),
      getRatio(result).toFixed(2), (result.size / 1000).toFixed(0),
      result.compile.toFixed(0),
    ]);
  const {version} = JSON.parse(readFileSync(
      join(bench, 'node_modules/onnxruntime-web/package.json'), 'utf8'));
  const lines = [
    `${getMachine()}, Node.js ${process.version} (V8 ${process.versions.v8}), ` +
        `${hasThreads ? `${threads} threads` : 'one thread'}, ${
            attributes}, ONNX Runtime Web ${version}.`,
    '', formatTable(rows), '',
    `Geometric mean of the ratios: ${
        geometricMean(done.map(getRatio)).toFixed(2)}; the least is ${
        Math.min(...done.map(getRatio)).toFixed(2)}.`,
  ];
  for (const {name, reason} of results.filter((each) => each.reason))
    lines.push('', `${name} was not measured: ${reason}.`);
  if (skipped.length)
    lines.push('', `Not there: ${skipped.join(', ')}.`);
  return lines.join('\n');
}

// The mark of the table in docs/performance.md.
const getDocumentPart = ({quantized, threads}) => [
  quantized ? 'bench/web --quantized' : 'bench/web',
  ...(threads > 1 ? [`${threads} threads`] : []),
].join(', ');

const options = readOptions();
mkdirSync(options.out, {recursive: true});
const {found, missing: skipped} = findNetworks(options);
if (!found.length) {
  console.error('nothing to compare');
  process.exit(77);
}
const results = found.map((name) => {
  if (process.stderr.isTTY)
    process.stderr.write(`\r\x1b[K${name} ...`);
  return measure(name, options);
});
if (process.stderr.isTTY)
  process.stderr.write('\r\x1b[K');
const text = makeReport(results, {...options, skipped});
console.log(text);
writeFileSync(join(options.out, 'web.json'),
              JSON.stringify(results, null, 1) + '\n');
if (options.doc)
  updateDocument(getDocumentPart(options), text);
