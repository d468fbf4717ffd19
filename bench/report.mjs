// What the benchmark says: medians, ratios, and the table.

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

const show = (value, digits, unit = '') =>
    Number.isFinite(value) ? value.toFixed(digits) + unit : '-';

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

// One row for each network of `results` (see compare.mjs).
export function makeTable(results, peak) {
  const rows = [['network', 'GFLOP', 'glowish ms', 'ONNX Runtime ms',
                 'PyTorch ms', 'ORT / glowish', 'PyTorch / glowish',
                 'GFLOP/s', '% of peak', 'ORT % of peak', 'compile s']];
  for (const {name, flops, times, compileSeconds} of results) {
    const own = median(times.glowish), ort = median(times['ONNX Runtime']);
    const rate = flops / own / 1e6;
    rows.push([
      name, show(flops / 1e9, 3), milliseconds(own), milliseconds(ort),
      milliseconds(median(times.PyTorch)),
      show(medianRatio(times['ONNX Runtime'], times.glowish), 2),
      show(medianRatio(times.PyTorch, times.glowish), 2), show(rate, 1),
      show(100 * rate / peak, 0), show(100 * flops / ort / 1e6 / peak, 0),
      show(compileSeconds, 1),
    ]);
  }
  return formatTable(rows);
}
