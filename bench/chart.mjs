// Draws the comparison as an SVG image.

const colors = {glowish: '#d9480f', 'ONNX Runtime': '#4263eb',
                PyTorch: '#868e96'};
const left = 150, width = 330, gap = 40, bar = 8, rowGap = 10, top = 86;

function text(x, y, content, attributes = '') {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>` +
      `${content}</text>`;
}

function rect(x, y, w, h, color) {
  return `<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" ` +
      `width="${w.toFixed(1)}" height="${h.toFixed(1)}" fill="${color}"/>`;
}

// The bars of one number of threads, `x` from the left, and a line at the peak.
function drawPanel(rows, engines, threads, x, scale) {
  const rowHeight = engines.length * bar + rowGap;
  const bottom = top + rows.length * rowHeight;
  const parts = [text(x, top - 16, `${threads} thread${threads > 1 ? 's' : ''}`,
                      'font-weight="bold"')];
  rows.forEach(({shares}, row) => engines.forEach((engine, i) => {
    const share = shares[threads]?.[engine];
    if (!Number.isFinite(share))
      return;
    const y = top + row * rowHeight + i * bar;
    parts.push(rect(x, y, share * scale, bar - 1, colors[engine]));
    parts.push(text(x + share * scale + 3, y + bar - 1,
                    share.toFixed(share < 10 ? 1 : 0), 'font-size="8"'));
  }));
  const peak = (x + 100 * scale).toFixed(1);
  parts.push(`<line x1="${peak}" y1="${top - 6}" x2="${peak}" ` +
             `y2="${bottom}" stroke="#212529" stroke-dasharray="4 3"/>`);
  return parts;
}

// For each network and engine a bar as long as its share of the FMA peak of the
// cores that it uses, in a column for each number of threads. `rows`: see
// getShares in report.mjs.
export function drawChart(rows, engines, threads) {
  const rowHeight = engines.length * bar + rowGap;
  const height = top + rows.length * rowHeight + 16;
  const total = left + threads.length * (width + gap);
  const highest = Math.max(100, ...rows.flatMap(({shares}) =>
      Object.values(shares).flatMap((share) => Object.values(share)))
      .filter(Number.isFinite));
  const parts = [text(16, 24, 'Percent of the FMA peak of the cores used',
                      'font-size="15" font-weight="bold"')];
  engines.forEach((engine, i) => {
    parts.push(rect(left + i * 130, 34, 11, 11, colors[engine]));
    parts.push(text(left + i * 130 + 16, 44, engine));
  });
  rows.forEach(({name}, row) => parts.push(
      text(left - 8, top + row * rowHeight + engines.length * bar / 2 + 4, name,
           'text-anchor="end"')));
  threads.forEach((count, i) => parts.push(...drawPanel(
      rows, engines, count, left + i * (width + gap), width / highest)));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${total}" ` +
      `height="${height}" font-family="sans-serif" font-size="12" ` +
      `fill="#212529">\n${rect(0, 0, total, height, '#ffffff')}\n` +
      `${parts.join('\n')}\n</svg>\n`;
}
