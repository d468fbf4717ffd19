// What it costs that a bundle takes a range of extents; `bench/ranges` runs it.

import {mkdirSync, rmSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {compiler, run} from './bundle.mjs';
import {getMachine, updateDocument} from './document.mjs';
import {formatTable} from './report.mjs';

const usage = `Usage: bench/ranges MODEL.onnx --range NAME,LOW..HIGH --values N,M,..

Compiles a model for a range of a symbolic dimension, and for each value by
itself, and runs the bundles in turns on the same inputs. Printed are median
times, and the median of the ratios within a round, of the process with the
middle ratio of three: weights lie elsewhere in memory in each. The exit code is 1
if a bit of an output differs, or if a ratio is above --most.

  --define NAME,N    the value of another symbol; as often as there are such
  --most R           the largest ratio (default 1.03)
  --seconds N        how long a process runs (default 5; at least 9 rounds)
  --cpu N            the processor to run on (default: the last one)
  --out DIR          where bundles go (default build/bench/ranges)
  --doc              also put the table in docs/performance.md`;

const bench = dirname(fileURLToPath(import.meta.url));

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}

function readOptions() {
  const text = (value) => ({type: 'string', default: value});
  const flag = {type: 'boolean', default: false};
  const {values, positionals} = parseArgs({allowPositionals: true, options: {
    range: {type: 'string'}, values: {type: 'string'},
    define: {type: 'string', multiple: true, default: []}, most: text('1.03'),
    seconds: text('5'), cpu: text(String(availableParallelism() - 1)),
    out: text('build/bench/ranges'), doc: flag, help: flag,
  }});
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  if (positionals.length !== 1 || !values.range || !values.values)
    fail('expected MODEL.onnx, --range and --values; see --help');
  return {...values, model: positionals[0], most: Number(values.most),
          folder: join(values.out, 'bundles'),
          symbol: values.range.slice(0, values.range.lastIndexOf(',')),
          values: values.values.split(',').map(Number)};
}

function compile(name, folder, symbol, {model, define}) {
  run(compiler(), [
    '-backend=CPU', `-model=${model}`, `-emit-bundle=${folder}`,
    `-network-name=${name}`, '-bundle-api=dynamic',
    ...[symbol, ...define].map((each) => `-define-symbol=${each}`),
  ]);
}

const numProcesses = 3;

// {fixed, ranged, ratio, rounds, equal} of one value.
function measure(value, options) {
  const {folder, symbol, seconds, cpu} = options;
  compile('fixed_model', folder, `${symbol},${value}`, options);
  const program = join(folder, 'range_pair');
  run('clang-19', [
    '-std=gnu99', '-O2', '-Wall', '-Wextra', '-Werror', `-I${folder}`,
    `-I${bench}`, join(bench, 'range_pair.c'), join(folder, 'fixed_model.o'),
    join(folder, 'ranged_model.o'), '-lm', '-o', program,
  ]);
  const results = Array.from({length: numProcesses}, () =>
      JSON.parse(run('taskset', [
        '-c', cpu, program, join(folder, 'fixed_model.weights.bin'),
        join(folder, 'ranged_model.weights.bin'), seconds, `${symbol}=${value}`,
      ])));
  results.sort((a, b) => a.ratio - b.ratio);
  return {...results[numProcesses >> 1],
          equal: results.every(({equal}) => equal)};
}

// The rows of the table, and whether all is well.
function measureAll(options) {
  const {folder, range, symbol, values, most} = options;
  const rows = [[symbol, 'fixed ms', `${range.slice(symbol.length + 1)} ms`,
                 'range / fixed', 'rounds', 'the same bits']];
  let isRight = true;
  mkdirSync(folder, {recursive: true});
  compile('ranged_model', folder, range, options);
  for (const value of values) {
    const {fixed, ranged, ratio, rounds, equal} = measure(value, options);
    rows.push([String(value), fixed.toFixed(2), ranged.toFixed(2),
               ratio.toFixed(3), String(rounds), equal ? 'yes' : 'no']);
    isRight &&= equal && ratio <= most;
  }
  return {rows, isRight};
}

const options = readOptions();
try {
  const {rows, isRight} = measureAll(options);
  const text = `${formatTable(rows)}\n\n${getMachine()}, one thread.`;
  console.log(text);
  if (options.doc)
    updateDocument('bench/ranges', text);
  process.exitCode = isRight ? 0 : 1;
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(options.folder, {recursive: true, force: true});
}
