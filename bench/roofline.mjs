// The roofline of a network (docs/performance.md): of each instruction of the
// program that glowish compiles the operations and the bytes by where they are,
// which model-runner states, and the rates at which this machine computes and
// reads, which are measured next to the networks.

import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {readCase, run} from './bundle.mjs';
import {Worker} from './workers.mjs';

const bench = dirname(fileURLToPath(import.meta.url));
const memoryBytes = {least: 64 << 20, most: 512 << 20};

// The work of a network with a number of threads: {levels: [{name, bytes}],
// instructions: [{operations, bytesByLevel}]}. The bytes of a level are those
// of all caches in use, and 0 of memory.
export function readWork(name, threads, options) {
  const file = join(options.out, name, `profile${threads}.json`);
  const runner =
      join(process.env.GLOWISH_BIN ?? 'build/release/bin', 'model-runner');
  // Whether the outputs are right is checked where the time is taken.
  const args =
      readCase(name, options).filter((arg) => !arg.startsWith('-expect'));
  run(runner, [
    ...args, `-profile-trace=${file}`, '-iterations=1',
    ...(threads > 1 ? [`-threads=${threads}`] : []),
  ]);
  const {otherData, traceEvents} = JSON.parse(readFileSync(file, 'utf8'));
  return {
    levels: otherData.levels.map(({name, bytes}) => ({name, bytes})),
    instructions: traceEvents.map(
        ({args: {operations, bytesByLevel}}) => ({operations, bytesByLevel})),
  };
}

// Measures how fast cores read from caches and memory, all at the same time.
export class ReadRates {
  constructor({cpus, out}) {
    this.cpus = cpus;
    this.program = join(out, 'read_peak');
    this.workers = new Map(); // by threads and bytes of each
    execFileSync('clang-19', [
      '-std=gnu99', '-O2', '-march=native', '-w', '-mprefer-vector-width=512',
      join(bench, 'read_peak.c'), '-o', this.program]);
  }

  // Half of a cache, so that all of that stays there; of memory more than any
  // cache holds.
  static #getBytes(levels, level, threads) {
    if (levels[level].bytes)
      return Math.floor(levels[level].bytes / 2 / threads);
    const {least, most} = memoryBytes;
    const largest = levels[level - 1]?.bytes ?? most;
    return Math.floor(Math.min(Math.max(8 * largest, least), most) / threads);
  }

  #getWorkers(threads, bytes) {
    const key = `${threads} ${bytes}`;
    if (!this.workers.has(key))
      this.workers.set(key, this.cpus.slice(0, threads).map(
          (cpu) => new Worker('read_peak', [this.program, String(bytes)],
                              [cpu])));
    return this.workers.get(key);
  }

  // The GB/s of each level, measured for `milliseconds` each.
  async measure(levels, threads, milliseconds) {
    const rates = [];
    for (let level = 0; level < levels.length; ++level) {
      const bytes = ReadRates.#getBytes(levels, level, threads);
      const workers = this.#getWorkers(threads, bytes);
      await Promise.all(workers.map(({ready}) => ready));
      const each =
          await Promise.all(workers.map((worker) => worker.run(milliseconds)));
      rates.push(each.reduce((sum, rate) => sum + rate, 0));
    }
    return rates;
  }

  async stop() {
    for (const workers of this.workers.values())
      await Promise.all(workers.map((worker) => worker.stop()));
  }
}

// The least milliseconds of an instruction, and the index of its bound: -1 for
// arithmetic at `peak` GFLOP/s, else the level. What lies far away comes
// through all levels that are nearer.
function getBound({operations, bytesByLevel}, peak, rates) {
  const bound = {milliseconds: operations / peak / 1e6, level: -1};
  let bytes = 0;
  for (let level = rates.length - 1; level >= 0; --level) {
    bytes += bytesByLevel[level];
    const milliseconds = bytes / rates[level] / 1e6;
    if (milliseconds > bound.milliseconds)
      Object.assign(bound, {milliseconds, level});
  }
  return bound;
}

// The roofline of a network in milliseconds, and the parts of it that are bound
// by arithmetic (FMA) and by each level: {total, bounds: {name: milliseconds}}.
export function getRoofline({levels, instructions}, peak, rates) {
  const bounds = {FMA: 0};
  for (const {name} of levels)
    bounds[name] = 0;
  let total = 0;
  for (const instruction of instructions) {
    const {milliseconds, level} = getBound(instruction, peak, rates);
    bounds[level < 0 ? 'FMA' : levels[level].name] += milliseconds;
    total += milliseconds;
  }
  return {total, bounds};
}
