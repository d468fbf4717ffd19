// What the benchmark says: medians, ratios, and the tables.

import {getSet} from './networks.mjs';

export function median(values) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  return sorted.length ? sorted[sorted.length >> 1] : NaN;
}

// The median over the rounds of a's time over b's in the same round.
export function medianRatio(a, b) {
  return median(a.map((time, round) => time / b[round]));
}

export function geometricMean(values) {
  const known = values.filter(Number.isFinite);
  return Math.exp(known.reduce((sum, v) => sum + Math.log(v), 0) /
                  known.length);
}

const show = (value, digits) =>
    Number.isFinite(value) ? value.toFixed(digits) : '-';

const milliseconds = (time) => show(time, time < 1 ? 4 : time < 10 ? 3 : 1);

// A table for people that is Markdown as well. `rows`: arrays of strings.
export function formatTable(rows) {
  const widths = rows[0].map((_, c) =>
      Math.max(...rows.map((row) => row[c].length)));
  const lines = rows.map((row) => '| ' + row.map((cell, c) =>
      c ? cell.padStart(widths[c]) : cell.padEnd(widths[c])).join(' | ') +
      ' |');
  lines.splice(1, 0, '|' + widths.map((w, c) =>
      c ? '-'.repeat(w + 1) + ':' : '-'.repeat(w + 2)).join('|') + '|');
  return lines.join('\n');
}

// The results by the set that their network belongs to: [name, results] pairs.
function groupBySet(results) {
  const groups = new Map();
  for (const result of results) {
    const set = getSet(result.name);
    groups.set(set, [...(groups.get(set) ?? []), result]);
  }
  return [...groups];
}

const findRun = ({runs}, threads) =>
    runs.find((run) => run.threads === threads);

// Geometric means of the engines' times over glowish's.
function getRatios(results, threads, others) {
  return others.map((engine) => geometricMean(results.map((result) => {
    const {times} = findRun(result, threads);
    return medianRatio(times[engine], times.glowish);
  })));
}

// The share of its roofline that glowish reaches: the median over the rounds.
export function getRooflineShare({rooflines, times}) {
  return 100 * medianRatio(rooflines.map(({total}) => total), times.glowish);
}

function makeSpeedTable(results, {peak, threads, engines, quantized}) {
  const others = engines.filter((engine) => engine !== 'glowish');
  const rows = [[
    'network', 'threads', ...engines.map((engine) => `${engine} ms`),
    ...others.map((engine) => `${engine} / glowish`), 'GFLOP/s',
    ...engines.map((engine) => `${engine} % of peak`),
    ...(quantized ? [] : ['glowish % of roofline']),
  ]];
  for (const count of threads) {
    for (const result of results) {
      const run = findRun(result, count), {times} = run;
      const rate = (engine) => result.flops / median(times[engine]) / 1e6;
      rows.push([
        result.name, String(count),
        ...engines.map((engine) => milliseconds(median(times[engine]))),
        ...others.map(
            (engine) => show(medianRatio(times[engine], times.glowish), 2)),
        show(rate('glowish'), 1),
        ...engines.map(
            (engine) => show(100 * rate(engine) / (peak * count), 0)),
        ...(quantized ? [] : [show(getRooflineShare(run), 0)]),
      ]);
    }
    rows.push([
      '**geometric mean**', String(count), ...engines.map(() => ''),
      ...getRatios(results, count, others).map((value) => show(value, 2)),
      ...['', ...engines.map(() => ''), ...(quantized ? [] : [''])],
    ]);
  }
  return formatTable(rows);
}

// What networks need without threads. The memory of ONNX Runtime is what its
// process grew by.
function makeSizeTable(results) {
  const mega = (bytes) => show(bytes / 1e6, 2);
  const rows = [['network', 'GFLOP', 'compile s', 'code KB', 'weights MB',
                 'arena MB', 'stack KB', 'glowish MB', 'ONNX Runtime MB',
                 'ONNX Runtime / glowish']];
  for (const {name, flops, runs, sizes, memory} of results) {
    const {code, weights, arena, stack} = sizes;
    const own = weights + arena + stack, ort = memory['ONNX Runtime'];
    const {compileSeconds} = findRun({runs}, 1) ?? runs[0];
    rows.push([
      name, show(flops / 1e9, 3), show(compileSeconds, 1),
      show(code / 1e3, 0), mega(weights), mega(arena), show(stack / 1e3, 1),
      mega(own), mega(ort), show(ort / own, 2),
    ]);
  }
  return formatTable(rows);
}

// A line for each number of threads: what is read from caches and memory.
function listRates(results, {threads}) {
  return threads.flatMap((count) => {
    const runs = results.map((result) => findRun(result, count))
        .filter(({levels}) => levels);
    const parts = runs[0]?.levels.map(({name, bytes}, level) => {
      const rate = median(runs.flatMap(
          ({rates}) => rates.map((round) => round[level])));
      return `${name}${bytes ? ` (${bytes >> 10} KB)` : ''} ${show(rate, 1)}`;
    });
    return parts
        ? [`Read with ${count} thread(s), GB/s: ${parts.join(', ')}.`] : [];
  });
}

function listFailures(results, skipped) {
  const lines = [
    ...skipped,
    ...results.flatMap(({name, failures}) => failures.map(
        ({engine, threads, reason}) =>
            `${name}, ${engine}, ${threads} thread(s): ${reason}`)),
  ];
  return lines.length
      ? ['**Not measured**', '', ...lines.map((line) => `- ${line}`), ''] : [];
}

// The text of the report. `facts`: {machine, peak, call, versions, threads,
// engines, rounds, skipped}.
export function makeReport(results, facts) {
  const {machine, peak, peakName, call, versions, threads, engines, rounds} =
      facts;
  const others = engines.filter((engine) => engine !== 'glowish');
  const lines = [];
  for (const [set, members] of groupBySet(results))
    lines.push(`**${set}**`, '', makeSpeedTable(members, facts), '');
  lines.push('**What the networks need**', '', makeSizeTable(results), '',
             ...listFailures(results, facts.skipped));
  lines.push(
      `${machine}; ${peakName} of a core ${peak.toFixed(1)} GFLOP/s; ` +
          Object.entries(versions).map((pair) => pair.join(' ')).join(', ') +
          `; medians of ${rounds} rounds.`,
      `A call of ONNX Runtime through Node.js takes ${
          (1000 * call).toFixed(1)} us, which is taken off its times below ` +
          '1 ms.',
      ...listRates(results, facts), '');
  for (const count of threads)
    getRatios(results, count, others).forEach((ratio, i) => lines.push(
        `- geometric mean over all networks of ${others[i]} / glowish, ` +
        `${count} thread(s): **${show(ratio, 2)}**`));
  return lines.join('\n');
}

// {name, shares: {threads: {engine: share of the cores' peak in percent}}} for
// the image.
export function getShares({name, flops, runs}, {peak, engines}) {
  const shares = Object.fromEntries(runs.map(({threads, times}) => [
    threads, Object.fromEntries(engines.map((engine) => [
      engine, 100 * flops / median(times[engine]) / 1e6 / (peak * threads),
    ])),
  ]));
  return {name, shares};
}
