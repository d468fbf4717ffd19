// Times one network in all programs and with all numbers of threads.

import {execFileSync} from 'node:child_process';
import {
  existsSync, mkdirSync, readFileSync, statSync, writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {isAccurate, isAccurateQuantized} from './accuracy.mjs';
import {buildBundle, measureBundle} from './bundle.mjs';
import {python} from './networks.mjs';
import {median} from './report.mjs';
import {getRoofline, readWork, ReadRates} from './roofline.mjs';
import {Worker} from './workers.mjs';

const bench = dirname(fileURLToPath(import.meta.url));

// Programs that are measured next to every network: the peak of a core, what a
// call of ONNX Runtime takes, and of float networks the rates of caches and
// memory.
export async function startHelpers(options) {
  const {cpus, out, quantized} = options;
  const peak = quantized ? 'dot_peak' : 'fma_peak';
  const program = join(out, peak);
  execFileSync('clang-19', ['-std=gnu99', '-O2', '-march=native', '-w',
    '-mprefer-vector-width=512', join(bench, `${peak}.c`), '-o', program]);
  const helpers = {
    rates: quantized ? undefined : new ReadRates(options),
    peak: new Worker(peak, [program], cpus.slice(0, 1)),
    call: new Worker('ort_worker', [
      process.execPath, join(bench, 'ort_worker.mjs'), '--identity',
    ], cpus.slice(0, 1)),
  };
  await helpers.peak.ready;
  await helpers.call.ready;
  return helpers;
}

// OUT/NAME/FILE, which `make` makes from the model with a script of this folder,
// and which is kept until one of both is changed.
function keep(name, file, script, {models, out}, make) {
  const path = join(out, name, file);
  const sources = [join(models, name, 'model.onnx'), join(bench, script)];
  const getTime = (source) => statSync(source).mtimeMs;
  mkdirSync(dirname(path), {recursive: true});
  if (!existsSync(path) || getTime(path) < Math.max(...sources.map(getTime)))
    make(path, join(bench, script));
  return path;
}

function countFlops(name, options) {
  const path = keep(name, 'flops', 'flops.mjs', options, (file, script) =>
      writeFileSync(file, execFileSync(process.execPath, [
        script, join(options.models, name)])));
  return Number(readFileSync(path, 'utf8'));
}

function trace(name, options) {
  return keep(name, 'traced.pt', 'torch_trace.py', options, (file, script) =>
      execFileSync(python, [script, options.exporter, name, file],
                   {stdio: ['ignore', 'ignore', 'pipe']}));
}

// The program of an engine other than glowish.
function getCommand(engine, name, threads, options) {
  const folder = join(options.models, name);
  if (engine === 'ONNX Runtime')
    return [process.execPath, join(bench, 'ort_worker.mjs'), folder,
            String(threads)];
  return [python, join(bench, 'torch_worker.py'), trace(name, options), folder,
          String(threads)];
}

// The options for the float networks beside quantized ones.
function getFloatOptions(options) {
  return {...options, models: options.floatModels,
          out: join(options.out, 'float')};
}

// The measurement of one network while it goes on.
class Measurement {
  constructor(name, options) {
    this.options = options;
    this.workers = [];
    this.work = new Map(); // by the run that it is of
    this.result = {
      name, failures: [], sizes: {}, memory: {}, peaks: [], callTimes: [],
      runs: options.threads.map((threads) => ({
        threads, errors: {}, compileSeconds: NaN, rooflines: [], rates: [],
        times: Object.fromEntries(options.engines.map((e) => [e, []])),
      })),
    };
  }

  fail(engine, {threads, times}, error) {
    times[engine] = [];
    const failure = {engine, threads, reason: error.message};
    console.error(`\n${this.result.name}: ${engine}, ${threads} thread(s): ${
        failure.reason}`);
    this.result.failures.push(failure);
  }

  // The command of a worker; compiles the bundle if it is glowish's.
  prepare(engine, run) {
    const {result, options} = this, {name} = result;
    if (engine === 'glowish float')
      return buildBundle(name, run.threads, getFloatOptions(options)).command;
    if (engine !== 'glowish')
      return getCommand(engine, name, run.threads, options);
    const bundle = buildBundle(name, run.threads, options);
    run.compileSeconds = bundle.seconds;
    if (run.threads === 1)
      result.sizes = measureBundle(bundle.folder);
    if (!options.quantized) {
      this.work.set(run, readWork(name, run.threads, options));
      run.levels = this.work.get(run).levels;
    }
    return bundle.command;
  }

  // Starts all workers at once, when everything that they need is there.
  start() {
    this.result.flops = countFlops(this.result.name, this.options.quantized
        ? getFloatOptions(this.options) : this.options);
    const ready = [];
    for (const run of this.result.runs) {
      for (const engine of this.options.engines) {
        try {
          ready.push({engine, run, command: this.prepare(engine, run)});
        } catch (error) {
          this.fail(engine, run, error);
        }
      }
    }
    this.workers = ready.map(({engine, run, command}) => ({
      engine, run, worker: new Worker(
          engine, command, this.options.cpus.slice(0, run.threads)),
    }));
  }

  // Calls `body` for each worker; one that fails is reported and left out.
  async forEachWorker(body) {
    for (const entry of [...this.workers]) {
      try {
        await body(entry);
      } catch (error) {
        this.fail(entry.engine, entry.run, error);
        await entry.worker.stop();
        this.workers = this.workers.filter((other) => other !== entry);
      }
    }
  }

  async getReady() {
    await this.forEachWorker(async ({engine, run, worker}) => {
      const {error, memory} = await worker.ready;
      run.errors[engine] = error;
      if (run.threads === 1 && memory !== undefined)
        this.result.memory[engine] = memory;
    });
    await this.forEachWorker(({engine, run}) => {
      if (!this.isAccurate(engine, run))
        throw new Error(`differs from PyTorch by ${run.errors[engine]} of ` +
                        'the largest magnitude');
    });
  }

  isAccurate(engine, {errors}) {
    const {[engine]: error, 'ONNX Runtime': other} = errors;
    if (!this.options.quantized || engine === 'glowish float')
      return isAccurate(error);
    return isAccurateQuantized(error,
                               engine === 'glowish' ? other : undefined);
  }

  // The rooflines of a round, in which a core's peak is `peak` GFLOP/s.
  async addRooflines(helpers, peak) {
    for (const [run, work] of this.work) {
      const rates = await helpers.rates.measure(work.levels, run.threads, 20);
      run.rates.push(rates);
      run.rooflines.push(getRoofline(work, peak * run.threads, rates));
    }
  }

  async runRounds(helpers) {
    for (let round = 0; round < this.options.rounds; ++round) {
      this.result.peaks.push(await helpers.peak.run(20));
      await this.addRooflines(helpers, this.result.peaks.at(-1));
      this.result.callTimes.push(await helpers.call.run(20));
      await this.forEachWorker(async ({engine, run, worker}) => {
        run.times[engine].push(await worker.run(this.options.milliseconds));
      });
    }
    await Promise.all(this.workers.map(({worker}) => worker.stop()));
  }
}

// Below a millisecond the call through Node.js matters: what it takes for a
// network of one node is taken off.
function subtractCall({runs, callTimes}) {
  for (const {times} of runs)
    if (median(times['ONNX Runtime']) < 1)
      times['ONNX Runtime'] = times['ONNX Runtime'].map(
          (time, round) => Math.max(time - callTimes[round], 1e-6));
}

// {name, flops, sizes, memory, peaks, callTimes, failures, runs: [{threads,
// times, errors, compileSeconds, levels, rates, rooflines}]}: times and
// rooflines in milliseconds, one a round, as are the GB/s of the levels.
export async function measure(name, helpers, options) {
  const measurement = new Measurement(name, options);
  measurement.start();
  await measurement.getReady();
  await measurement.runRounds(helpers);
  subtractCall(measurement.result);
  return measurement.result;
}
