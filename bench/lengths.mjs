// What sequences of different lengths in a batch take; `bench/lengths` runs it.

import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {parseArgs} from 'node:util';
import ort from 'onnxruntime-node';
import {compiler, run} from './bundle.mjs';
import {getMachine, updateDocument} from './document.mjs';
import {writeNpy} from './npy.mjs';
import {modelFile, nodeProto, tensorProto, valueInfo} from './onnx_wire.mjs';
import {formatTable, median} from './report.mjs';

const usage = `Usage: bench/lengths [options]

Times LSTM and GRU operators with sequence_lens, compiled and in ONNX Runtime, on
one thread: with all sequences as long as can be, a quarter as long, and of
lengths from nothing to the half, which is a quarter on average. The two run in
turns; printed are medians. The exit code is 1 if a quarter takes more than 0.4
of the whole, or longer than in ONNX Runtime.

  --rounds N         turns of each (default 5)
  --out DIR          where models go (default build/bench/lengths)
  --doc              also put the table in docs/performance.md`;

// Time steps, sequences, inputs and hidden size.
const cases = [
  {type: 'LSTM', steps: 64, batch: 8, inputs: 256, hidden: 256},
  {type: 'LSTM', steps: 64, batch: 1, inputs: 256, hidden: 256},
  {type: 'LSTM', steps: 100, batch: 4, inputs: 512, hidden: 512},
  {type: 'GRU', steps: 64, batch: 8, inputs: 256, hidden: 256},
  {type: 'GRU', steps: 64, batch: 32, inputs: 64, hidden: 64},
];
const gates = {LSTM: 4, GRU: 3};

const {values: options} = parseArgs({options: {
  rounds: {type: 'string', default: '5'},
  out: {type: 'string', default: 'build/bench/lengths'},
  doc: {type: 'boolean', default: false},
  help: {type: 'boolean', default: false},
}});

// Numbers like those of a normal distribution, the same in each run.
function makeFloats(count, scale) {
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return Float32Array.from({length: count}, () =>
      scale * (next() + next() + next() - 1.5) * 2);
}

function makeModel({type, steps, batch, inputs, hidden}) {
  const rows = gates[type] * hidden;
  const weights = (name, dims, scale) => tensorProto(
      name, 'float32', dims, makeFloats(dims.reduce((a, b) => a * b), scale));
  return modelFile({
    nodes: [nodeProto(type, ['x', 'w', 'r', 'b', 'lengths'], ['y'],
                      {hidden_size: hidden})],
    constants: [weights('w', [1, rows, inputs], inputs ** -0.5),
                weights('r', [1, rows, hidden], hidden ** -0.5),
                weights('b', [1, 2 * rows], 0.1)],
    inputs: [valueInfo('x', 'float32', [steps, batch, inputs]),
             valueInfo('lengths', 'int32', [batch])],
    outputs: [valueInfo('y', 'float32', [steps, 1, batch, hidden])],
  }, {'': 14}, 8);
}

function makeLengths({steps, batch}) {
  const each = (length) => Int32Array.from({length: batch}, length);
  const mixed = (_, i) => batch === 1 ? steps >> 2
                                      : Math.round(steps / 2 * i / (batch - 1));
  return {full: each(() => steps), quarter: each(() => steps >> 2),
          mixed: each(mixed)};
}

function timeGlowish(folder) {
  const output = run(join(dirname(compiler()), 'model-runner'), [
    `-model=${folder}/model.onnx`, `-input=x=${folder}/x.npy`,
    `-input=lengths=${folder}/lengths.npy`, '-iterations=50',
  ]);
  return Number(/median ([0-9.]+) ms/.exec(output)[1]);
}

async function timeOnnxRuntime(session, feeds) {
  const times = [];
  for (let i = 0; i < 50; ++i) {
    const start = performance.now();
    await session.run(feeds);
    times.push(performance.now() - start);
  }
  return median(times);
}

// Median times of both by the kind of lengths.
async function measure(each) {
  const folder = join(options.out, 'case');
  mkdirSync(folder, {recursive: true});
  writeFileSync(join(folder, 'model.onnx'), makeModel(each));
  const {steps, batch, inputs} = each;
  const x = {type: 'float32', dims: [steps, batch, inputs],
             data: makeFloats(steps * batch * inputs, 1)};
  writeNpy(join(folder, 'x.npy'), x);
  const session = await ort.InferenceSession.create(
      join(folder, 'model.onnx'),
      {intraOpNumThreads: 1, interOpNumThreads: 1});
  const times = {};
  for (const [kind, data] of Object.entries(makeLengths(each))) {
    writeNpy(join(folder, 'lengths.npy'), {type: 'int32', dims: [batch], data});
    const feeds = {x: new ort.Tensor(x.type, x.data, x.dims),
                   lengths: new ort.Tensor('int32', data, [batch])};
    const own = [], others = [];
    for (let round = 0; round < Number(options.rounds); ++round) {
      own.push(timeGlowish(folder));
      others.push(await timeOnnxRuntime(session, feeds));
    }
    times[kind] = {own: median(own), other: median(others)};
  }
  return times;
}

async function measureAll() {
  const rows = [['operator', 'steps', 'batch', 'hidden', 'full ms',
                 'quarter / full', 'mixed / full', 'ONNX Runtime / glowish full',
                 'quarter', 'mixed']];
  let isRight = true;
  for (const each of cases) {
    const {full, quarter, mixed} = await measure(each);
    const ratio = (a, b) => (a / b).toFixed(2);
    rows.push([each.type, String(each.steps), String(each.batch),
               String(each.hidden), full.own.toFixed(3),
               ratio(quarter.own, full.own), ratio(mixed.own, full.own),
               ratio(full.other, full.own), ratio(quarter.other, quarter.own),
               ratio(mixed.other, mixed.own)]);
    isRight &&= quarter.own <= 0.4 * full.own && mixed.own <= 0.4 * full.own &&
        quarter.own <= quarter.other && mixed.own <= mixed.other;
  }
  return {rows, isRight};
}

if (options.help) {
  console.log(usage);
  process.exit(0);
}
try {
  const {rows, isRight} = await measureAll();
  const text = `${formatTable(rows)}\n\n${getMachine()}, one thread.`;
  console.log(text);
  if (options.doc)
    updateDocument('bench/lengths', text);
  process.exitCode = isRight ? 0 : 1;
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(join(options.out, 'case'), {recursive: true, force: true});
}
