
const isNode = typeof process === 'object' && !!process.versions?.node;

const reasons = {
  1: 'a region is null',
  2: 'a region is not aligned',
  6: 'there is no code for these extents',
  8: 'a loop has more iterations than its bound; the outputs are computed as ' +
      'if it had ended',
  9: 'a function that the network calls failed; the outputs are not to be used',
};

/** What run() throws where the network's entry returns an error. */
export class NetworkError extends Error {
  constructor(code, message = reasons[code] ?? 'unknown error') {
    super(`${description.name}: ${message} (error ${code})`);
    this.name = 'NetworkError';
    /** What the entry returned: GLOWISH_ERROR_... of docs/bundle.md. */
    this.code = code;
  }
}

//===- Sources of bytes ----------------------------------------------------===//

/** A path of Node.js's file system, or undefined. */
async function findPath(source) {
  if (!isNode)
    return undefined;
  if (source instanceof URL) {
    const {fileURLToPath} = await import(/* webpackIgnore: true */ 'node:url');
    return source.protocol === 'file:' ? fileURLToPath(source) : undefined;
  }
  return typeof source === 'string' && !/^[a-z][a-z0-9+.-]+:/i.test(source)
      ? source : undefined;
}

/** A response whose status is an error's has other bytes than those wanted. */
async function request(source) {
  const response = source instanceof Response ? source : await fetch(source);
  if (!response.ok)
    throw new Error(`${response.url || source}: ${response.status} ${
        response.statusText}`);
  return response;
}

const isBytes = (source) =>
    source instanceof ArrayBuffer || ArrayBuffer.isView(source);
const viewBytes = (source) => ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);

async function compile(source) {
  if (source instanceof WebAssembly.Module)
    return source;
  if (isBytes(source))
    return WebAssembly.compile(source);
  const path = await findPath(source);
  if (path !== undefined) {
    const {readFile} =
        await import(/* webpackIgnore: true */ 'node:fs/promises');
    return WebAssembly.compile(await readFile(path));
  }
  const response = await request(source);
  if (response.headers.get('content-type')?.startsWith('application/wasm') &&
      WebAssembly.compileStreaming)
    return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

/** The bytes of a source, in parts. */
async function* readParts(source) {
  if (isBytes(source)) {
    yield viewBytes(source);
    return;
  }
  const path = await findPath(source);
  if (path !== undefined) {
    const {createReadStream} = await import(/* webpackIgnore: true */ 'node:fs');
    yield* createReadStream(path, {highWaterMark: 1 << 22});
    return;
  }
  const reader = (await request(source)).body.getReader();
  for (;;) {
    const {done, value} = await reader.read();
    if (done)
      return;
    yield value;
  }
}

/** Reads weights to where they are used; `getChecksum` is of what is there. */
async function readWeights(source, place, getChecksum) {
  let size = 0;
  for await (const part of readParts(source)) {
    if (size + part.length <= place.length)
      place.set(part, size);
    size += part.length;
  }
  if (size !== place.length)
    throw new NetworkError(
        3, `the weights have ${size} bytes instead of ${place.length}`);
  if (BigInt.asUintN(64, getChecksum(place.byteOffset)) !==
      BigInt(`0x${description.weightsChecksum}`))
    throw new NetworkError(4, 'the weights are those of another network');
}

//===- Networks ------------------------------------------------------------===//

/** A network with its memory: inputs, outputs and states are views of that. */
export class Network {
  #run;
  #memory;
  #pool;
  #regions;
  #program;

  /** Use load(). */
  constructor({exports, memory, pool}, regions) {
    this.#run = exports.run;
    this.#memory = memory.buffer;
    this.#pool = pool;
    this.#regions = regions;
    this.#use(description.programs[0]);
  }

  #use(program) {
    this.#program = program;
    this.tensors = {};
    this.inputs = {};
    this.outputs = {};
    this.states = {};
    for (const symbol of program.symbols) {
      const {name, direction, array, shape} = symbol;
      const data = new globalThis[array](
          this.#memory, this.#regions[symbol.region] + symbol.offset,
          shape.reduce((count, extent) => count * extent, 1));
      this.tensors[name] = {...symbol, data};
      if (symbol.range)
        continue;
      if (direction === 'state')
        this.states[name] = data;
      if (direction.startsWith('input'))
        this.inputs[name] = data;
      if (direction.endsWith('output'))
        this.outputs[name] = data;
    }
  }

  /** Goes on with the code for these values of the model's dimensions: other
   * views take the place of inputs, outputs and states. */
  select(values) {
    const {dimensions, programs} = description;
    const program = programs.find(
        (each) => dimensions.every((name, i) => each.values[i] === values[name]));
    if (!program)
      throw new RangeError(`${description.name}: no code for ${
          dimensions.map((name) => `${name}=${values[name]}`).join(', ')}; ` +
          `accepted: ${programs.map((each) => dimensions.map(
              (name, i) => `${name}=${each.values[i]}`).join(', ')).join('; ')}`);
    this.#use(program);
  }

  /** Runs the network. `extents`: those that a run states, by their names; one
   * that is left out stays as it was, and all do if one is not accepted. */
  run(extents = {}) {
    const stated = this.#program.symbols.filter((symbol) => symbol.range);
    for (const name of Object.keys(extents))
      if (!stated.some(({range}) => range.name === name))
        throw new RangeError(`${description.name} has no extent '${name}'; ` +
            `accepted: ${stated.map((each) => each.range.name).join(', ') ||
            'none'}`);
    const values = stated.map(({name, range}) => BigInt(
        extents[range.name] ?? this.tensors[name].data[0]));
    const wrong = stated.flatMap(({range: {name, least, most}}, i) =>
        values[i] >= least && values[i] <= most
            ? [] : [`${name} is ${values[i]}, accepted: ${least} ... ${most}`]);
    if (wrong.length)
      throw new NetworkError(6, wrong.join('; '));
    stated.forEach(({name}, i) => {
      this.tensors[name].data[0] = values[i];
    });
    const {weights, placeholders, activations} = this.#regions;
    const code = this.#run(...this.#program.values.map(BigInt), weights,
                           placeholders, activations);
    if (code !== 0)
      throw new NetworkError(code);
    return this.outputs;
  }

  /** The actual extents of an output after a run: its shape, where they do not
   * depend on what was computed. */
  getExtents(name) {
    const {shape, extents} = this.tensors[name];
    return extents === undefined
        ? [...shape] : Array.from(this.tensors[extents].data, Number);
  }

  /** How many threads a run has. */
  get threads() {
    return this.#pool.threads;
  }

  /** Ends the network's workers. A run after that has one thread. */
  close() {
    this.#pool.close();
  }
}

const alignTo = (address) =>
    Math.ceil(address / description.alignment) * description.alignment;

/** The addresses of the regions, the first of which begins at `heap` or is in the
 * module. */
function placeRegions(heap, embedded) {
  // Addresses are unsigned, and JavaScript sees them as signed numbers.
  const weights = embedded ? embedded.value >>> 0 : alignTo(heap);
  const placeholders =
      alignTo(embedded ? heap : weights + description.weightBytes);
  return {weights, placeholders,
          activations: alignTo(placeholders + description.placeholderBytes)};
}

/** Loads the network: by default from the files beside this one, and with as many
 * threads as there are processors, if it is compiled for so many. Sources are bytes,
 * responses, URLs and, in Node.js, paths; `wasm` may be a compiled module, too. */
export async function load({
  wasm = new URL(`./${description.name}.wasm`, import.meta.url),
  weights = new URL(`./${description.name}.weights.bin`, import.meta.url),
  threads,
} = {}) {
  const most = description.threads;
  if (threads !== undefined &&
      !(Number.isInteger(threads) && threads >= 1 && threads <= most))
    throw new RangeError(`${description.name}: threads is ${threads}; accepted: ${
        most === 1 ? 1 : `1 ... ${most}`}`);
  const instance = await instantiate(await compile(wasm), threads);
  const {exports, memory, pool, heap} = instance;
  const embedded = exports[description.embeddedWeights];
  const regions = placeRegions(heap, embedded);
  const reading = embedded || !description.weightBytes ? undefined : readWeights(
      weights,
      new Uint8Array(memory.buffer, regions.weights, description.weightBytes),
      exports.checksum);
  try {
    await Promise.all([pool.ready, reading]);
  } catch (error) {
    pool.close();
    throw error;
  }
  return new Network(instance, regions);
}
