// Quantizes networks with glowish; `bench/quantize` runs it.

import {execFileSync} from 'node:child_process';
import {
  copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync,
  statSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {largestError, readNpy, relativeError, writeNpy} from './npy.mjs';
import {load, readTensors} from './ort_network.mjs';

const usage = `Usage: bench/quantize [options] MODELS OUT [-- FLAGS]

Quantizes each network of MODELS, folders with model.onnx, input_K.npy and
output_K.npy, and writes the same to OUT/NAME, as \`bench/compare --quantized
OUT\` takes it: the model as ONNX with QuantizeLinear and DequantizeLinear, the
inputs and outputs as they are. Ranges are of the inputs in
MODELS/NAME/calibration (each a file, or a folder with input_K.npy); where there
is no such folder, of the network's input and of copies of it, shifted along the
last dimension. model-compiler gets the FLAGS (-quantization-calibration=KL).

Prints for each network how far the quantized model's outputs are from
output_K.npy in glowish and in ONNX Runtime: the root of the mean square of the
difference and the largest difference, as shares of those of the output. Exits 1
if a network can't be quantized or does not run in ONNX Runtime.

  --networks A,B,..  which (default: all that MODELS has)
  --copies N         how many shifted copies (default 7)

$GLOWISH_BIN: the programs (default build/release/bin).`;

function readOptions() {
  const {values, positionals} = parseArgs({allowPositionals: true, options: {
    networks: {type: 'string'},
    copies: {type: 'string', default: '7'},
    help: {type: 'boolean', default: false},
  }});
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  const [models, out, ...flags] = positionals;
  const copies = Number(values.copies);
  if (!out || flags.some((flag) => !flag.startsWith('-')) ||
      !Number.isInteger(copies) || copies < 0)
    throw new Error('accepted: MODELS OUT [-- FLAGS], and --copies=N with N ' +
                    'from 0 on; see --help');
  const isNetwork = (name) => existsSync(join(models, name, 'model.onnx'));
  const networks = values.networks?.split(',') ??
      readdirSync(models).filter(isNetwork).sort();
  const missing = networks.filter((name) => !isNetwork(name));
  if (missing.length || !networks.length)
    throw new Error(`${models} has no model.onnx in ${
        missing.join(', ') || 'any folder'}`);
  return {models, out, flags, copies, networks};
}

// The options; exits 1 with one line if they are wrong.
function getOptions() {
  try {
    return readOptions();
  } catch (error) {
    console.error(`bench/quantize: ${error.message.split('\n')[0]}`);
    process.exit(1);
  }
}

const programs = process.env.GLOWISH_BIN ??
    join(dirname(fileURLToPath(import.meta.url)), '../build/release/bin');

// Runs a program of glowish. An error has the line that it printed.
function run(program, args) {
  try {
    execFileSync(join(programs, program), args,
                 {stdio: ['ignore', 'ignore', 'pipe']});
  } catch (error) {
    const [line] = /error: .*/.exec(error.stderr ?? '') ?? [error.message];
    throw new Error(`${program}: ${line}`);
  }
}

// FOLDER/STEM_0.npy, FOLDER/STEM_1.npy, ... that are there.
function listNumbered(folder, stem) {
  const names = [];
  for (let i = 0; existsSync(join(folder, `${stem}_${i}.npy`)); ++i)
    names.push(`${stem}_${i}.npy`);
  return names;
}

// `array` with its last dimension rotated by `share` of the extent.
function shift({type, dims, data}, share) {
  const extent = dims.at(-1) ?? 1, by = Math.round(share * extent);
  return {type, dims, data: data.map((_, i) => {
    const column = i % extent;
    return data[i - column + (column + by) % extent];
  })};
}

// Writes a network's inputs and shifted copies of them to a folder of each in
// `target`.
function writeCopies(folder, target, copies) {
  for (let copy = 0; copy <= copies; ++copy) {
    mkdirSync(join(target, String(copy)), {recursive: true});
    for (const name of listNumbered(folder, 'input'))
      writeNpy(join(target, String(copy), name),
               shift(readNpy(join(folder, name)), copy / (copies + 1)));
  }
}

// The flags that state the types of the inputs, of which some extents may be
// open, and the inputs themselves.
function getInputFlags(folder, inputNames) {
  return inputNames.flatMap((name, i) => {
    const path = join(folder, `input_${i}.npy`), {type, dims} = readNpy(path);
    const kind = {float32: 'float', float64: 'double'}[type] ?? type;
    return [`-model-input=${name},${kind},[${dims}]`, `-input=${name}=${path}`];
  });
}

function quantize(source, target, inputNames, scratch, {copies, flags}) {
  const model = join(source, 'model.onnx'), profile = join(scratch, 'profile');
  let calibration = join(source, 'calibration');
  if (!existsSync(calibration)) {
    calibration = join(scratch, 'inputs');
    writeCopies(source, calibration, copies);
  }
  const types = getInputFlags(source, inputNames)
      .filter((flag) => flag.startsWith('-model-input'));
  run('model-runner', [`-model=${model}`, ...types,
                       `-input-dir=${calibration}`,
                       `-dump-profile=${profile}`]);
  run('model-compiler', [`-model=${model}`, ...types, ...flags,
                         `-load-profile=${profile}`,
                         `-emit-onnx=${join(target, 'model.onnx')}`]);
}

// How far `actual` is from `expected`, lists of elements for each output.
function getErrors(actual, expected) {
  const greatest = (getError) => Math.max(
      ...expected.map((data, i) => getError(actual[i], data)));
  return {relative: greatest(relativeError), largest: greatest(largestError)};
}

function runGlowish(folder, {inputNames, outputNames}, scratch) {
  const outputs = join(scratch, 'outputs');
  run('model-runner', [`-model=${join(folder, 'model.onnx')}`,
                       ...getInputFlags(folder, inputNames),
                       `-output-dir=${outputs}`]);
  const getFile = (name) => `${name.replace(/[^\w.-]/g, '_')}.npy`;
  return outputNames.map((name) => readNpy(join(outputs, getFile(name))).data);
}

// {size, glowish, ort}: of the written model and of its outputs.
async function quantizeNetwork(name, options) {
  const source = join(options.models, name), target = join(options.out, name);
  const scratch = mkdtempSync(join(tmpdir(), 'quantize-'));
  try {
    const tensors = readTensors(source);
    const ortOptions = {graphOptimizationLevel: 'all', intraOpNumThreads: 1};
    const original = await load(
        join(source, 'model.onnx'), tensors,
        {...ortOptions, graphOptimizationLevel: 'disabled'});
    mkdirSync(target, {recursive: true});
    quantize(source, target, original.session.inputNames, scratch, options);
    for (const stem of ['input', 'output'])
      for (const file of listNumbered(source, stem))
        copyFileSync(join(source, file), join(target, file));
    const model = join(target, 'model.onnx');
    const {session, feeds} = await load(model, tensors, ortOptions);
    const outputs = await session.run(feeds);
    return {
      size: statSync(model).size,
      ort: getErrors(session.outputNames.map((output) => outputs[output].data),
                     tensors.outputs),
      glowish: getErrors(runGlowish(target, original.session, scratch),
                         tensors.outputs),
    };
  } finally {
    rmSync(scratch, {recursive: true});
  }
}

const options = getOptions();
const percent = (share) => `${(100 * share).toFixed(2)} %`.padStart(10);
console.log(`${'network'.padEnd(20)} ${'MB'.padStart(7)}  ` +
            'glowish: RMS, largest   ONNX Runtime: RMS, largest');
for (const name of options.networks) {
  try {
    const {size, glowish, ort} = await quantizeNetwork(name, options);
    console.log(`${name.padEnd(20)} ${(size / 1e6).toFixed(1).padStart(7)} ${[
      glowish.relative, glowish.largest, ort.relative, ort.largest,
    ].map(percent).join(' ')}`);
  } catch (error) {
    process.exitCode = 1;
    console.error(`${name}: ${error.message.split('\n')[0]}`);
  }
}
