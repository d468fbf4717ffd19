// The programs that run a language model: bundles of glowish, and ONNX Runtime.

import {rmSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {compiler, run} from './bundle.mjs';
import {past, tokens} from './llm_forms.mjs';
import {Worker} from './workers.mjs';

const bench = dirname(fileURLToPath(import.meta.url));

// What activations are multiplied as: glowish's option, and the
// accuracy_level of MatMulNBits that ONNX Runtime takes for the same.
export const kinds = [
  {activations: 'float', level: 0}, {activations: 'int8', level: 4},
];

// The command that compiles a bundle into `folder`. `counts`: how many tokens a
// call takes: a range (1..64), with numbers before it (1,64,1..64) that have code
// of their own. `most`: the tokens of the cache before a call.
export function getCompileCommand(model, folder,
                                  {activations, threads, counts, most}) {
  return [
    compiler(), '-backend=CPU', `-model=${model}`, `-emit-bundle=${folder}`,
    '-network-name=network', '-bundle-api=dynamic',
    `-define-symbol=${tokens},${counts}`,
    `-define-symbol=${past},0..${most}`, '-state=past.*,present.*',
    `-activations=${activations}`,
    ...(threads > 1 ? [`-threads=${threads}`] : []),
  ];
}

// Links the bundle in `folder` with SOURCE.c of this folder; the program's path.
export function linkProgram(source, folder, {threads}) {
  const program = join(folder, source);
  run('clang-19', [
    '-std=gnu99', '-O2', '-march=native', '-mprefer-vector-width=512', '-Wall',
    '-Wextra', '-Werror', `-I${folder}`,
    `-I${bench}`, `-DTOKENS="${tokens}"`, `-DPAST="${past}"`,
    join(bench, `${source}.c`), join(folder, 'network.o'), '-o', program,
    ...(threads > 1 ? [`-DBUNDLE_THREADS=${threads}`, '-pthread',
                       join(folder, 'glowish_threads.c')] : []),
  ]);
  return program;
}

export const getWeights = (folder) => join(folder, 'network.weights.bin');

// Starts a program with a bundle; the worker has read the bundle, which is gone.
export async function startBundle(model, config, cpus) {
  const folder = join(dirname(model),
                      `bundle-${config.activations}-${config.threads}`);
  try {
    const [program, ...args] = getCompileCommand(model, folder, config);
    run(program, args);
    const command =
        [linkProgram('llm_worker', folder, config), getWeights(folder)];
    return await startWorker('glowish', command, cpus);
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}

export const startRuntime = (model, threads, cpus) =>
    startWorker('ONNX Runtime', [
      process.execPath, join(bench, 'llm_ort_worker.mjs'), model,
      String(threads)], cpus);

async function startWorker(name, command, cpus) {
  const worker = new Worker(name, command, cpus);
  await worker.ready;
  return worker;
}

// A token and all of a prompt have code of their own.
const getCounts = (prompts) => {
  const sorted = [...new Set([1, ...prompts])].sort((a, b) => a - b);
  return [...sorted, `1..${sorted.at(-1)}`].join(',');
};

// Starts the programs for a model in `folder` one after the other: {engine,
// activations, worker} each. `fail` is told of those that don't start.
export async function startEngines(form, folder, threads, options, fail) {
  const started = [];
  const cpus = options.cpus.slice(0, threads);
  const config = {
    threads, most: Math.max(...options.prompts) + options.tokens,
    counts: getCounts(options.prompts),
  };
  for (const {activations, level} of kinds) {
    if (level > 0 && form.bits === 32)
      continue;
    const starters = {
      'glowish': () => startBundle(join(folder, 'level0.onnx'),
                                   {...config, activations}, cpus),
      'ONNX Runtime': () => startRuntime(join(folder, `level${level}.onnx`),
                                         threads, cpus),
    };
    for (const [engine, start] of Object.entries(starters)) {
      try {
        started.push({engine, activations, worker: await start()});
      } catch (error) {
        fail(engine, activations, error.message);
      }
    }
  }
  return started;
}
