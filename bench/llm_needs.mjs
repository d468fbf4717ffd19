// What it takes to compile a language model and to begin to use it: time and
// memory.

import {rmSync, statSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {run} from './bundle.mjs';
import {getCompileCommand, getWeights, linkProgram} from './llm_engines.mjs';
import {forms} from './llm_forms.mjs';
import {waitForQuiet} from './quiet.mjs';
import {median} from './report.mjs';

const bench = dirname(fileURLToPath(import.meta.url));

// What is expected, in the units of the rows.
const bounds = {
  objectBytes: 300e3, compileSeconds: 60, compilePeakShare: 2.5,
  startMilliseconds: 100, extraBytes: 20e6,
};
// The application's prompt, and how many of its tokens a call takes.
const prompt = 256, chunk = 64, tokens = 64;
const times = 3;

// The row of a bundle of the model in `folder`, with the names of `bounds` and
// what llm_memory.c prints.
async function measureBundle(folder, config, cpus) {
  const bundle = join(folder, 'needs');
  const model = join(folder, 'level0.onnx');
  await waitForQuiet();
  const compilation = JSON.parse(run('python3', [
    join(bench, 'resources.py'), ...getCompileCommand(model, bundle, config)]));
  const program = linkProgram('llm_memory', bundle, config);
  const command = ['-c', cpus.join(','), program, getWeights(bundle),
                   ...[prompt, chunk, tokens].map(String)];
  const runs = [];
  for (let i = 0; i <= times; ++i) {
    await waitForQuiet();
    runs.push(JSON.parse(run('taskset', command)));
  }
  // The first reads the files into memory.
  runs.shift();
  const medianOf = (name) => median(runs.map((one) => one[name]));
  const row = Object.fromEntries(
      Object.keys(runs[0]).map((name) => [name, medianOf(name)]));
  const modelBytes = statSync(model).size +
      statSync(join(folder, 'weights.bin')).size;
  Object.assign(row, {
    modelBytes, objectBytes: statSync(join(bundle, 'network.o')).size,
    compileSeconds: compilation.seconds,
    compilePeakShare: compilation.peak / modelBytes,
    startMilliseconds: median(runs.map(
        ({first, prefill}) => first - prefill)),
    extraBytes: row.anonymous - row.cache,
  });
  rmSync(bundle, {recursive: true});
  return row;
}

// Rows for the model in `folder`: of code for a range of tokens, and of code of
// its own for the numbers that calls take besides.
export async function measureNeeds({name, form}, folder, {threads, cpus}) {
  const most = prompt + tokens, count = Math.max(...threads);
  const activations = forms[form].bits < 32 ? 'int8' : 'float';
  const rows = [];
  for (const counts of [`1..${chunk}`, `1,${chunk},1..${chunk}`]) {
    const config = {activations, threads: count, counts, most};
    const row = await measureBundle(folder, config, cpus.slice(0, count));
    rows.push({name, form, ...config, ...row});
  }
  return rows;
}

const mega = (bytes) => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);

const columns = [
  ['model', ({name}) => name],
  ['form', ({form}) => form],
  ['tokens of a call', ({counts}) => counts.replaceAll(',', ', ')],
  ['model MB', ({modelBytes}) => mega(modelBytes)],
  ['compiled in s', ({compileSeconds}) => compileSeconds.toFixed(1)],
  ['compiler peak / model',
   ({compilePeakShare}) => compilePeakShare.toFixed(2)],
  ['object KB', ({objectBytes}) => (objectBytes / 1e3).toFixed(0)],
  ['weights MB', (row) => mega(row.weights)],
  ['cache MB', (row) => mega(row.cache)],
  ['peak MB', (row) => mega(row.peak)],
  ['of files MB', (row) => mega(row.file)],
  ['anonymous MB', (row) => mega(row.anonymous)],
  ['anonymous - cache MB', ({extraBytes}) => mega(extraBytes)],
  ['prompt ms', ({prefill}) => prefill.toFixed(0)],
  ['start to first token - prompt ms',
   ({startMilliseconds}) => startMilliseconds.toFixed(0)],
];

// One line a bound that a row does not keep.
function listExceeded(rows) {
  return rows.flatMap((row) => Object.entries(bounds)
      .filter(([name, bound]) => !(row[name] <= bound))
      .map(([name, bound]) => `- above the bound: ${row.name}, ${row.form}, ${
          row.counts}: ${name} ${row[name].toPrecision(3)}, expected at most ${
          bound}`));
}

// The text about rows of measureNeeds(); `formatTable` makes a table.
export function describeNeeds(rows, formatTable) {
  const table = formatTable([
    columns.map(([title]) => title),
    ...rows.map((row) => columns.map(([, show]) => show(row)))]);
  return [table, '', `A prompt of ${prompt} tokens, ${chunk} in a call, and ${
    tokens} tokens after it; ${rows[0].threads} thread(s). Medians of ${
    times} processes. Weights are mapped from their file, which the page cache ` +
    'has.', '', ...listExceeded(rows)].join('\n').trimEnd();
}
