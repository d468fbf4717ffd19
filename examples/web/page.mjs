// The page: a canvas for digits, and images of shapes. Each network is an ES
// module of its own with a WebAssembly module and weights beside it.
import {load as loadDigits} from './digits/digits.mjs';
import {load as loadShapes} from './shapes/shapes.mjs';

const find = (id) => document.getElementById(id);

// The classes of examples/shapes, in the order of its folders.
const shapeNames = ['checks', 'circle', 'cross', 'ring', 'square', 'star',
                    'stripes', 'triangle'];

// Runs a network, and shows how long it takes.
function time(network, place) {
  const start = performance.now();
  network.run();
  place.textContent = `${(performance.now() - start).toFixed(2)} ms`;
}

// Shows names with bars as long as shares, which are 0 ... 1.
function showBars(list, names, shares) {
  list.replaceChildren(...names.map((name, i) => {
    const item = document.createElement('li');
    const label = document.createElement('span');
    const bar = document.createElement('div');
    label.textContent = name;
    bar.style.width = `${100 * shares[i]}%`;
    item.title = `${(100 * shares[i]).toFixed(1)} %`;
    item.append(label, bar);
    return item;
  }));
}

const findLargest = (values) => values.indexOf(Math.max(...values));

function softmax(values) {
  const most = Math.max(...values);
  const powers = Array.from(values, (value) => Math.exp(value - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

//===- Digits --------------------------------------------------------------===//

// The pixels of the digit, light on dark, as the network has learned them: 28 by
// 28, of which the digit's longer side takes 20, in the middle.
function scaleDigit(canvas) {
  const {width, height} = canvas;
  const {data} = canvas.getContext('2d').getImageData(0, 0, width, height);
  let left = width, right = 0, top = height, bottom = 0;
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x)
      if (data[4 * (y * width + x)] > 64) {
        left = Math.min(left, x);
        right = Math.max(right, x + 1);
        top = Math.min(top, y);
        bottom = Math.max(bottom, y + 1);
      }
  if (left >= right)
    return undefined;
  const scale = 20 / Math.max(right - left, bottom - top);
  const small = new OffscreenCanvas(28, 28).getContext('2d');
  small.fillRect(0, 0, 28, 28);
  small.imageSmoothingQuality = 'high';
  const wide = scale * (right - left), high = scale * (bottom - top);
  small.drawImage(canvas, left, top, right - left, bottom - top,
                  (28 - wide) / 2, (28 - high) / 2, wide, high);
  return small.getImageData(0, 0, 28, 28).data.filter((_, i) => i % 4 === 0);
}

async function setUpDigits() {
  const network = await loadDigits();
  const canvas = find('drawing');
  const context = canvas.getContext('2d', {willReadFrequently: true});
  const names = [...Array(10).keys()].map(String);
  context.lineWidth = 22;
  context.lineCap = context.lineJoin = 'round';
  context.strokeStyle = '#fff';
  const clear = () => {
    context.fillRect(0, 0, canvas.width, canvas.height);
    find('digit').value = find('digit-time').textContent = '';
    showBars(find('chances'), names, Array(10).fill(0));
  };
  const recognise = () => {
    const pixels = scaleDigit(canvas);
    if (!pixels)
      return;
    for (let i = 0; i < pixels.length; ++i)
      network.inputs.image[i] = pixels[i] / 255;
    time(network, find('digit-time'));
    const chances = Array.from(network.outputs.chances);
    find('digit').value = names[findLargest(chances)];
    showBars(find('chances'), names, chances);
  };
  let isDrawing = false;
  const getPoint = ({clientX, clientY}) => {
    const box = canvas.getBoundingClientRect();
    return [clientX - box.left, clientY - box.top];
  };
  canvas.addEventListener('pointerdown', (event) => {
    isDrawing = true;
    context.beginPath();
    context.moveTo(...getPoint(event));
  });
  window.addEventListener('pointermove', (event) => {
    if (!isDrawing)
      return;
    context.lineTo(...getPoint(event));
    context.stroke();
    recognise();
  });
  window.addEventListener('pointerup', () => { isDrawing = false; });
  find('clear').addEventListener('click', clear);
  clear();
}

//===- Shapes --------------------------------------------------------------===//

async function setUpShapes() {
  const network = await loadShapes();
  // What an image is drawn on before the network sees it.
  const [, , height, width] = network.tensors.image.shape;
  const small = new OffscreenCanvas(width, height)
      .getContext('2d', {willReadFrequently: true});
  const recognise = (image, ...part) => {
    small.drawImage(image, ...part, 0, 0, width, height);
    const {data} = small.getImageData(0, 0, width, height);
    const {image: input} = network.inputs;
    for (let i = 0; i < width * height; ++i)
      for (let channel = 0; channel < 3; ++channel)
        input[channel * width * height + i] = data[4 * i + channel] / 255;
    time(network, find('shape-time'));
    const chances = softmax(network.outputs.scores);
    find('shape').value = shapeNames[findLargest(chances)];
    showBars(find('scores'), shapeNames, chances);
  };

  // The sheet has a row of images for each shape.
  const sheet = new Image();
  sheet.src = 'sheet.png';
  await sheet.decode();
  const side = sheet.height / shapeNames.length;
  const pick = (button, row, column) => {
    for (const other of find('images').children)
      other.setAttribute('aria-pressed', other === button);
    recognise(sheet, column * side, row * side, side, side);
  };
  for (let row = 0; row < shapeNames.length; ++row)
    for (let column = 0; column < 8; ++column) {
      const button = document.createElement('button');
      const image = document.createElement('canvas');
      image.width = image.height = side;
      image.getContext('2d').drawImage(
          sheet, column * side, row * side, side, side, 0, 0, side, side);
      button.type = 'button';
      button.dataset.shape = shapeNames[row];
      button.append(image);
      button.addEventListener('click', () => pick(button, row, column));
      find('images').append(button);
    }
  find('file').addEventListener('change', async ({target}) => {
    if (target.files.length)
      recognise(await createImageBitmap(target.files[0]));
  });
  find('shape').value = '';
}

await Promise.all([setUpDigits(), setUpShapes()]).catch((error) => {
  for (const id of ['digit', 'shape'])
    find(id).value = String(error);
  throw error;
});
document.body.dataset.ready = '';
