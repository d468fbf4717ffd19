// What bench/llm says: a table for each model.

import {formatTable, median, medianRatio} from './report.mjs';

const show = (value, digits) =>
    Number.isFinite(value) ? value.toFixed(digits) : '-';
const engines = ['glowish', 'ONNX Runtime'];

// The median over all runs with so many threads, in GB/s.
function getRate(results, threads) {
  const runs = results.flatMap((result) => result.runs)
      .filter((run) => run.threads === threads);
  return median(runs.flatMap(({rates}) => rates));
}

// The rows of a form with the same activations and threads: one a prompt.
function makeRows({form, bytesPerToken, operations}, run, activations) {
  const find = (name) => run.engines.find((entry) =>
      entry.engine === name && entry.activations === activations);
  const [own, other] = engines.map(find);
  if (!own && !other)
    return [];
  return Object.keys(operations).map((prompt) => {
    const listsOf = (what) =>
        [own, other].map((entry) => entry?.times[prompt][what] ?? []);
    // Of operations or bytes that are needed, in those that are possible.
    const getShares = (needed, possible) => possible.map(
        (list) => show(100 * needed / median(list), 0));
    const ratio = ([a, b]) => show(medianRatio(b, a), 2);
    const prefill = listsOf('prefill'), decode = listsOf('decode');
    return [
      form, activations, String(run.threads), prompt,
      ...prefill.map((list) => show(1000 * prompt / median(list), 0)),
      ratio(prefill),
      ...getShares(operations[prompt], prefill.map((list) => list.map(
          (time, round) => 1e6 * run.peaks[round] * time))),
      ...decode.map((list) => show(median(list), 2)), ratio(decode),
      ...getShares(bytesPerToken, listsOf('readable')),
    ];
  });
}

function makeTable(results) {
  const rows = [[
    'form', 'activations', 'threads', 'prompt',
    ...engines.map((name) => `${name} prompt tokens/s`),
    'glowish / ONNX Runtime',
    ...engines.map((name) => `${name} % of peak`),
    ...engines.map((name) => `${name} ms a token`),
    'ONNX Runtime / glowish',
    ...engines.map((name) => `${name} % of bandwidth`),
  ]];
  for (const result of results)
    for (const run of result.runs)
      for (const activations of ['float', 'int8'])
        rows.push(...makeRows(result, run, activations));
  return formatTable(rows);
}

// The largest deviations of logits, by program, and what failed.
function listErrors(results) {
  return results.flatMap(({name, form, runs}) => {
    const {engines: entries} = runs[0];
    const parts = entries.filter(({error}) => error !== undefined)
        .map(({engine, activations, error}) =>
            `${engine} ${activations} ${error.toExponential(1)}`);
    return [`- ${name}, ${form}: ${parts.join(', ')}`,
            ...runs.flatMap(({failures}) => failures.map(
                (line) => `- not measured: ${line}`))];
  });
}

// The text of the report. `facts`: {machine, version, rounds, tokens}.
export function makeReport(results, {machine, version, rounds, tokens}) {
  const lines = [];
  for (const name of new Set(results.map((result) => result.name)))
    lines.push(`**${name}**`, '', makeTable(
        results.filter((result) => result.name === name)), '');
  const runs = results.flatMap((result) => result.runs);
  const rates = [...new Set(runs.map(({threads}) => threads))].map((threads) =>
      `${show(getRate(results, threads), 1)} GB/s with ${
          threads} thread(s)`);
  const peak = median(runs.flatMap(
      ({peaks, threads}) => peaks.map((value) => value / threads)));
  const others = median(runs.flatMap((run) => run.others));
  lines.push(
      `${machine}; FMA peak of a core ${show(peak, 1)} GFLOP/s; memory read at ${
          rates.join(', ')}; ONNX Runtime ${version}; medians of ${
          rounds} rounds, of ${tokens} tokens each. Other programs took ${
          show(100 * others, 0)} % of the processors (median).`, '',
      'The last row of the logits of a prompt, off ONNX Runtime\'s with float ' +
          'activations, as a share of the largest magnitude:', '',
      ...listErrors(results));
  return lines.join('\n');
}
