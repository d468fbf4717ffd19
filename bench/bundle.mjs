// Bundles of networks: their programs, and what they need.

import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const bench = dirname(fileURLToPath(import.meta.url));
export const compiler = () =>
    join(process.env.GLOWISH_BIN ?? 'build/release/bin', 'model-compiler');

// Whether bundles can have threads.
export function hasThreads() {
  return /^\s*--?threads\b/m.test(
      execFileSync(compiler(), ['--help'], {encoding: 'utf8'}));
}

// Runs a program; its output. An error has what it said of its own error.
export function run(program, args) {
  try {
    return execFileSync(program, args,
                        {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
  } catch (error) {
    const [message] = /error: [^]*/.exec(error.stderr ?? '') ??
        error.message.split('\n');
    throw new Error(message.trim().replace(/\s+/g, ' '));
  }
}

// The arguments that model-runner and a bundle's program take.
export function readCase(name, {models, out}) {
  run('python3', ['tests/e2e/cases.py', '--work', out, '--exported', models,
                  name]);
  return readFileSync(join(out, name, 'args'), 'utf8').trim().split('\n');
}

// Compiles the bundle for a number of threads. {command, folder, seconds}: its
// program with arguments, where it is, and how long model-compiler and the C
// compiler took.
export function buildBundle(name, threads, options) {
  const args = readCase(name, options);
  const folder = join(options.out, name, `bundle${threads}`);
  const model = args.filter((arg) => arg.startsWith('-model'));
  const start = performance.now();
  run('tests/e2e/make_bundle.sh',
      [folder, ...model, ...(threads > 1 ? [`-threads=${threads}`] : [])]);
  const seconds = (performance.now() - start) / 1000;
  return {
    command: [join(folder, 'run'), join(folder, 'network.weights.bin'),
              ...args, '-serve'],
    folder, seconds,
  };
}

// The bytes of code in an object, as `size -A` lists its sections.
function getCodeSize(object) {
  return run('llvm-size-19', ['-A', object]).split('\n')
      .filter((line) => line.startsWith('.text'))
      .reduce((sum, line) => sum + Number(line.split(/\s+/)[1]), 0);
}

// {code, weights, placeholders, arena, stack}: the bytes that a bundle without
// threads needs.
export function measureBundle(folder) {
  const program = join(folder, 'bundle_size');
  run('clang-19', ['-std=c99', '-O2', '-Wall', '-Wextra', '-Werror', '-pthread',
    `-I${folder}`, '-DBUNDLE_HEADER="network.h"', '-DBUNDLE_ENTRY=network',
    '-DBUNDLE_CONFIG=network_config', join(bench, 'bundle_size.c'),
    join(folder, 'network.o'), '-lm', '-o', program]);
  return {code: getCodeSize(join(folder, 'network.o')),
          ...JSON.parse(run(program, []))};
}
