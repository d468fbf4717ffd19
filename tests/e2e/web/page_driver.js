// What web_page.py adds to a copy of the page of examples/web: uses the page as a
// user would, and writes what is wrong, or "passed", into an element of its own.
'use strict';
(async function () {
  const wrong = [];
  const check = (condition, what) => condition || wrong.push(what);
  window.addEventListener('error', (event) => wrong.push(event.message));
  window.addEventListener('unhandledrejection',
                          (event) => wrong.push(String(event.reason)));
  const find = (id) => document.getElementById(id);
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  // Draws lines through points of the canvas, each line by itself.
  function draw(lines) {
    const canvas = find('drawing'), box = canvas.getBoundingClientRect();
    const send = (target, type, [x, y]) => target.dispatchEvent(
        new PointerEvent(type, {clientX: box.left + x, clientY: box.top + y,
                                bubbles: true}));
    for (const [first, ...rest] of lines) {
      send(canvas, 'pointerdown', first);
      for (const point of rest)
        send(window, 'pointermove', point);
      send(window, 'pointerup', rest.at(-1));
    }
  }

  const circle = (x, y, radius) => Array.from({length: 33}, (_, i) => [
    x + radius * Math.sin(i * Math.PI / 16),
    y - 1.4 * radius * Math.cos(i * Math.PI / 16)]);
  const digits = {
    0: [circle(140, 140, 60)],
    1: [[[140, 50], [140, 140], [140, 230]]],
    4: [[[150, 50], [80, 170], [215, 170]], [[175, 110], [175, 235]]],
    7: [[[80, 60], [140, 60], [205, 60], [160, 140], [130, 235]]],
    8: [circle(140, 95, 38), circle(140, 190, 46)],
  };

  function checkDigits() {
    for (const [digit, lines] of Object.entries(digits)) {
      find('clear').click();
      check(find('digit').value === '', 'an answer is there after Clear');
      draw(lines);
      check(find('digit').value === digit,
            `a drawn ${digit} is read as ${find('digit').value}`);
      check(/^\d+\.\d+ ms$/.test(find('digit-time').textContent),
            `the time: ${find('digit-time').textContent}`);
      check(find('chances').children.length === 10, 'not ten chances');
    }
  }

  function checkImages() {
    const buttons = Array.from(find('images').children);
    check(buttons.length === 64, `${buttons.length} images`);
    let right = 0;
    for (const button of buttons) {
      button.click();
      right += find('shape').value === button.dataset.shape;
      check(/^\d+\.\d+ ms$/.test(find('shape-time').textContent),
            `the time: ${find('shape-time').textContent}`);
    }
    // Of images that it has not learned from, the network names 97 % right.
    check(right >= 60, `${right} of 64 images are named right`);
  }

  try {
    for (let i = 0; i < 600 && !('ready' in document.body.dataset); ++i)
      await wait(100);
    check('ready' in document.body.dataset,
          `the page is not ready: ${find('digit').value}`);
    if (!wrong.length) {
      checkDigits();
      checkImages();
    }
  } catch (error) {
    wrong.push(String(error));
  }
  const result = document.createElement('pre');
  result.id = 'result';
  result.hidden = true;
  result.textContent = wrong.slice(0, 10).join('; ') || 'passed';
  document.body.append(result);
  // The server then sends what the page's loading waits for.
  await fetch('/done');
})();
