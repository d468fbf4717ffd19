// The programs that run a language model: bundles of glowish, and ONNX Runtime.

import {rmSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {compiler, run} from './bundle.mjs';
import {past, tokens} from './llm_model.mjs';
import {Worker} from './workers.mjs';

const bench = dirname(fileURLToPath(import.meta.url));

// What activations are multiplied as: glowish's option, and the
// accuracy_level of MatMulNBits that ONNX Runtime takes for the same.
export const kinds = [
  {activations: 'float', level: 0}, {activations: 'int8', level: 4},
];

// Compiles the bundle; its program with arguments. A call takes one token or a
// whole prompt: a program for each number, which share the weights.
function buildBundle(model, activations, threads, folder,
                     {prompts, tokens: count}) {
  const numbers = [1, ...prompts].sort((a, b) => a - b).join(',');
  const most = Math.max(...prompts) + count;
  run(compiler(), [
    '-backend=CPU', `-model=${model}`, `-emit-bundle=${folder}`,
    '-network-name=network', '-bundle-api=dynamic',
    `-onnx-define-symbol=${tokens},${numbers}`,
    `-onnx-define-symbol=${past},0..${most}`, '-state=past.*,present.*',
    `-activations=${activations}`,
    ...(threads > 1 ? [`-threads=${threads}`] : []),
  ]);
  const program = join(folder, 'llm_worker');
  run('clang-19', [
    '-std=gnu99', '-O2', '-Wall', '-Wextra', '-Werror', `-I${folder}`,
    `-I${bench}`, `-DPAST="${past}"`, join(bench, 'llm_worker.c'),
    join(folder, 'network.o'), '-o', program,
    ...(threads > 1 ? [`-DBUNDLE_THREADS=${threads}`, '-pthread',
                       join(folder, 'glowish_threads.c')] : []),
  ]);
  return [program, join(folder, 'network.weights.bin')];
}

// Starts the programs for a model in `folder` one after the other: {engine,
// activations, worker, folder} each. `fail` is told of those that don't start.
export async function startEngines(form, folder, threads, options, fail) {
  const started = [];
  for (const {activations, level} of kinds) {
    if (level > 0 && !form.isQuantized)
      continue;
    const bundle = join(folder, `bundle-${activations}-${threads}`);
    const commands = {
      'glowish': () => buildBundle(join(folder, 'level0.onnx'), activations,
                                   threads, bundle, options),
      'ONNX Runtime': () => [
        process.execPath, join(bench, 'llm_ort_worker.mjs'),
        join(folder, `level${level}.onnx`), String(threads)],
    };
    for (const [engine, makeCommand] of Object.entries(commands)) {
      try {
        const worker = new Worker(engine, makeCommand(),
                                  options.cpus.slice(0, threads));
        await worker.ready;
        started.push({engine, activations, worker});
      } catch (error) {
        fail(engine, activations, error.message);
      }
    }
    // The programs have read them.
    rmSync(bundle, {recursive: true, force: true});
  }
  return started;
}
