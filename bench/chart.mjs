// Draws the comparison as an SVG picture.

const colors = {glowish: '#d9480f', 'ONNX Runtime': '#4263eb',
                PyTorch: '#868e96'};
const left = 150, width = 560, bar = 11, gap = 12, top = 62;

function text(x, y, content, attributes = '') {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>` +
      `${content}</text>`;
}

function rect(x, y, w, h, color) {
  return `<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" ` +
      `width="${w.toFixed(1)}" height="${h.toFixed(1)}" fill="${color}"/>`;
}

// Bars of GFLOP/s for each network and engine, and a line at the machine's
// peak. `rows`: {name, rates: {engine: GFLOP/s}}.
export function drawChart(rows, engines, peak) {
  const rowHeight = engines.length * bar + gap;
  const height = top + rows.length * rowHeight + 20;
  const highest = Math.max(peak, ...rows.flatMap(
      ({rates}) => engines.map((engine) => rates[engine] ?? 0)));
  const scale = width / highest;
  const parts = [
    text(16, 24, 'Speed on one thread, batch 1, in GFLOP/s',
         'font-size="15" font-weight="bold"'),
  ];
  engines.forEach((engine, i) => {
    parts.push(rect(left + i * 130, 34, 11, 11, colors[engine]));
    parts.push(text(left + i * 130 + 16, 44, engine));
  });
  rows.forEach(({name, rates}, row) => {
    const y = top + row * rowHeight;
    parts.push(text(left - 8, y + rowHeight / 2, name, 'text-anchor="end"'));
    engines.forEach((engine, i) => {
      const rate = rates[engine];
      if (!rate)
        return;
      parts.push(rect(left, y + i * bar, rate * scale, bar - 1,
                      colors[engine]));
      parts.push(text(left + rate * scale + 4, y + i * bar + 9,
                      rate.toFixed(rate < 10 ? 1 : 0), 'font-size="10"'));
    });
  });
  const x = left + peak * scale;
  parts.push(`<line x1="${x.toFixed(1)}" y1="${top - 6}" x2="${x.toFixed(1)}" ` +
             `y2="${height - 16}" stroke="#212529" stroke-dasharray="4 3"/>`);
  parts.push(text(x, height - 4, `peak of the core: ${peak.toFixed(0)}`,
                  'text-anchor="end" font-size="11"'));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="780" ` +
      `height="${height}" font-family="sans-serif" font-size="12" ` +
      `fill="#212529">\n${rect(0, 0, 780, height, '#ffffff')}\n` +
      `${parts.join('\n')}\n</svg>\n`;
}
