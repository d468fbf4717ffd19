// run_module.mjs: run_program.c for WebAssembly, in Node.js: runs network.wasm of
// the current folder on its file "regions", and writes "results".

import {readFileSync, writeFileSync} from 'node:fs';

const input = readFileSync('regions');
const [constants, mutables, activations, alignment] =
    new Uint32Array(input.buffer.slice(input.byteOffset, input.byteOffset + 16));
const {instance} =
    await WebAssembly.instantiate(readFileSync('network.wasm'), {});
const {memory, run, __heap_base: heap} = instance.exports;
const bytes = new Uint8Array(memory.buffer);
let next = heap.value, offset = 16;
const regions = [constants, mutables, activations].map((size) => {
  const start = Math.ceil(next / alignment) * alignment;
  bytes.set(input.subarray(offset, offset + size), start);
  offset += size;
  next = start + size;
  return start;
});
const status = Buffer.alloc(4);
status.writeInt32LE(run(...regions));
writeFileSync('results', Buffer.concat([
  status, bytes.subarray(regions[1], regions[1] + mutables),
  bytes.subarray(regions[2], regions[2] + activations)]));
