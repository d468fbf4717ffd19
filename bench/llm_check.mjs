// Compares the logits and tokens of language models: with a cache, token by
// token, and without one; glowish and ONNX Runtime; threads; splits of the
// prompt.

import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {startBundle, startRuntime} from './llm_engines.mjs';
import {geometries} from './llm_forms.mjs';
import {writeModel} from './llm_model.mjs';
import {formatTable} from './report.mjs';

// Of the largest magnitude of a row.
const tolerance = 1e-4;
const prompt = 100, numTokens = 256, length = prompt + numTokens;
// How many tokens of the prompt a call takes. All tokens are generated behind
// the first of these, some behind the others.
const chunks = [prompt, 64, 13, 1], numSome = 32;
// A text tells little that repeats itself, or that does not depend on what is
// in the cache: the least number of different tokens, and by how much the last
// logits must change when the cache is empty.
const leastDistinct = numTokens / 4, leastInfluence = 0.1;

// Rows of logits, one for each token of a text.
class Logits {
  constructor(values, words) {
    Object.assign(this, {values, words});
    this.rows = Array.from(
        {length: values.length / words},
        (_, i) => values.subarray(i * words, (i + 1) * words));
  }

  // Those of the first tokens, as many as `other` has.
  getPart(other) {
    return new Logits(this.values.subarray(0, other.values.length), this.words);
  }

  // The likeliest token behind each one from the prompt's last on.
  getTokens() {
    return this.rows.slice(prompt - 1).map((row) => {
      let best = 0;
      for (let i = 1; i < row.length; ++i)
        if (row[i] > row[best])
          best = i;
      return best;
    });
  }

  // By how much the likeliest token is above the next one where that is least,
  // as a share of the largest magnitude.
  getLeastGap() {
    return Math.min(...this.rows.slice(prompt - 1).map((row) => {
      let first = -Infinity, second = -Infinity;
      for (const value of row) {
        if (value > first)
          [first, second] = [value, first];
        else if (value > second)
          second = value;
      }
      return (first - second) / getMagnitude(row);
    }));
  }

  hasSameBits(other) {
    const [own, others] = [this, other].map(({values}) => Buffer.from(
        values.buffer, values.byteOffset, values.byteLength));
    return own.equals(others);
  }
}

function getMagnitude(row) {
  let most = 0;
  for (const value of row)
    most = Math.max(most, Math.abs(value));
  return most;
}

// The largest difference of a row as a share of its largest magnitude.
function compareRow(actual, expected) {
  let error = 0;
  for (let i = 0; i < expected.length; ++i) {
    const difference = Math.abs(actual[i] - expected[i]);
    if (!(difference <= error))
      error = Number.isNaN(difference) ? Infinity : difference;
  }
  return error / getMagnitude(expected);
}

const getError = (actual, expected) =>
    actual.rows.length === expected.rows.length
        ? Math.max(...expected.rows.map(
              (row, i) => compareRow(actual.rows[i], row)))
        : Infinity;

// The logits of a model's programs on texts.
class Texts {
  constructor(folder, words) {
    Object.assign(this, {folder, words});
  }

  // Takes `ids`, `chunk` in a call, then `count` times the likeliest token.
  async take(worker, ids, chunk, count) {
    const text = join(this.folder, 'text.bin');
    const file = join(this.folder, 'logits.bin');
    writeFileSync(text, BigInt64Array.from(ids, BigInt));
    await worker.ask(`text ${text} ${chunk} ${count} ${file}`);
    return new Logits(
        new Float32Array(new Uint8Array(readFileSync(file)).buffer),
        this.words);
  }
}

// The text: the tokens that glowish generates on one thread, all of them but
// the last with their logits, and what its other calls give for it.
async function checkOwn(model, texts, {threads, cpus, log}) {
  const words = texts.words;
  const first = Array.from({length: prompt}, (_, i) => i * 7919 % words);
  const result = {splits: []};
  for (const number of threads) {
    log(`${model}: ${number} thread(s)`);
    const worker = await startBundle(model, {
      activations: 'float', threads: number, counts: `1..${length}`,
      most: length}, cpus.slice(0, number));
    // All splits where they take least time.
    for (const chunk of number > 1 ? chunks : chunks.slice(0, 1)) {
      const logits = await texts.take(
          worker, first, chunk, chunk === chunks[0] ? numTokens : numSome);
      result.cached ??= logits;
      const expected = result.cached.getPart(logits);
      result.splits.push({
        threads: number, chunk, error: getError(logits, expected),
        hasSameBits: logits.hasSameBits(expected),
        hasSameTokens: hasSameTokens(logits, expected)});
    }
    result.tokens ??= result.cached.getTokens();
    result.ids ??= [...first, ...result.tokens.slice(0, numTokens)];
    result.whole ??= await texts.take(worker, result.ids, length, 0);
    result.alone ??= await texts.take(worker, result.ids.slice(-1), 1, 0);
    await worker.stop();
  }
  return result;
}

const hasSameTokens = (actual, expected) =>
    String(actual.getTokens()) === String(expected.getTokens());

// {form, distinct, gap, influence, comparisons: [{what, error, hasSameTokens}],
// splits}
async function checkForm(name, form, options) {
  const folder = join(options.out, `check-${name}-${form}`);
  options.log(`writing ${name} ${form}`);
  writeModel(name, form, folder, 2 * length);
  const model = join(folder, 'level0.onnx');
  const texts = new Texts(folder, geometries[name].vocabulary);
  const own = await checkOwn(model, texts, options);
  const {cached, whole, ids} = own;
  const comparisons = [];
  const compare = (what, logits) => comparisons.push({
    what, error: getError(cached, logits),
    hasSameTokens: hasSameTokens(logits, cached)});
  compare('glowish without a cache', whole);
  options.log(`${model}: ONNX Runtime`);
  const threads = Math.max(...options.threads);
  const worker =
      await startRuntime(model, threads, options.cpus.slice(0, threads));
  compare('ONNX Runtime', await texts.take(worker, ids, 1, 0));
  compare('ONNX Runtime without a cache',
          await texts.take(worker, ids, length, 0));
  await worker.stop();
  rmSync(folder, {recursive: true});
  return {
    name, form, comparisons, splits: own.splits, gap: cached.getLeastGap(),
    distinct: new Set(ids.slice(prompt)).size,
    influence: compareRow(own.alone.rows[0], cached.rows[length - 1]),
  };
}

// What is wrong, one line each.
function listFaults({name, form, comparisons, splits, distinct, influence}) {
  const faults = [];
  for (const {what, error, hasSameTokens} of comparisons)
    if (!(error <= tolerance) || !hasSameTokens)
      faults.push(`${what}: error ${error.toExponential(1)}, ${
          hasSameTokens ? 'same' : 'other'} tokens`);
  for (const {threads, chunk, error, hasSameTokens} of splits)
    if (!(error <= tolerance) || !hasSameTokens)
      faults.push(`${threads} thread(s), ${chunk} in a call: error ${
          error.toExponential(1)}, ${
          hasSameTokens ? 'same' : 'other'} tokens`);
  if (distinct < leastDistinct || influence < leastInfluence)
    faults.push('the text tells too little');
  return faults.map((fault) => `- WRONG: ${name}, ${form}: ${fault}`);
}

function describe(results) {
  const show = (value) => value.toExponential(1);
  const rows = [[
    'model', 'form', 'different tokens', 'least gap', 'without the past',
    ...results[0].comparisons.map(({what}) => `off ${what}`), 'tokens',
    ...results[0].splits.map(
        ({threads, chunk}) => `${threads} thread(s), ${chunk} in a call`),
  ]];
  for (const {name, form, ...result} of results)
    rows.push([
      name, form, String(result.distinct), show(result.gap),
      show(result.influence),
      ...result.comparisons.map(({error}) => show(error)),
      result.comparisons.every(({hasSameTokens}) => hasSameTokens)
          ? 'same' : 'WRONG',
      ...result.splits.map(({error, hasSameBits, hasSameTokens}) =>
          hasSameBits ? 'same bits' : `${
              hasSameTokens ? 'same tokens' : 'WRONG'}, ${show(error)}`),
    ]);
  return formatTable(rows);
}

// {text, isRight} about each form of each model.
export async function checkModels(runs, options) {
  const results = [];
  for (const {name, form} of runs)
    results.push(await checkForm(name, form, options));
  const faults = results.flatMap(listFaults);
  const note = `A prompt of ${prompt} tokens, then the ${
    numTokens} likeliest ones, ${numSome} where the prompt is taken in ` +
    'pieces. Differences of logits are shares of the largest magnitude behind ' +
    `a token, the largest of all tokens; at most ${
      tolerance.toExponential(0)} is right.`;
  const text = [describe(results), '', note, '', ...faults].join('\n');
  return {text: text.trimEnd(), isRight: faults.length === 0};
}
