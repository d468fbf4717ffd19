// The constants of a model with random weights: small ones in the model's file,
// large ones in one beside it, written as they are made.

import {closeSync, openSync, writeSync} from 'node:fs';
import {basename} from 'node:path';
import {tensorProto} from './onnx_wire.mjs';

// Where a tensor begins in the file: a page, to be mapped.
const alignment = 4096;
const chunkBytes = 1 << 22;

// Marsaglia's xorshift of 32 bits: fast, and the same numbers everywhere.
class Random {
  constructor(seed) {
    this.state = seed;
  }

  next() {
    this.state ^= this.state << 13;
    this.state ^= this.state >>> 17;
    this.state ^= this.state << 5;
    return this.state >>> 0;
  }
}

// Integers of 4 or 8 bits in a word, 2^(bits - 1) in place of 0.
function replaceZeros(word, bits) {
  const ones = bits === 4 ? 0x11111111 : 0x01010101;
  // The lowest bit of each: whether another one is set.
  let set = bits === 4 ? word : word | word >>> 4;
  set |= set >>> 2;
  set |= set >>> 1;
  return word | (~set & ones) << bits - 1;
}

export class Weights {
  // `path`: the file of the large tensors. `isWritten`: there is one already
  // with the same tensors.
  constructor(path, isWritten) {
    this.location = basename(path);
    this.file = isWritten ? undefined : openSync(path, 'w');
    this.offset = 0;
    this.random = new Random(0x9e3779b9);
    this.protos = [];
  }

  // A constant with the elements of a typed array; its name.
  add(name, type, dims, elements) {
    if (elements.byteLength < alignment) {
      this.protos.push(tensorProto(name, type, dims, elements));
      return name;
    }
    const offset = this.#reserve(name, type, dims, elements.byteLength);
    this.#write(elements, offset);
    return name;
  }

  // One of random floats, uniform with this mean and standard deviation.
  addFloats(name, dims, mean, deviation) {
    const scale = deviation * Math.sqrt(12) / 2 ** 32;
    const least = mean - deviation * Math.sqrt(3);
    return this.#addRandom(name, 'float32', dims, 4, (chunk) => {
      const floats = new Float32Array(chunk.buffer, 0, chunk.byteLength / 4);
      for (let i = 0; i < floats.length; ++i)
        floats[i] = this.random.next() * scale + least;
    });
  }

  // One of bytes with random integers of 4 or 8 bits, none of which is 0: what
  // stands for the others, that less 2^(bits - 1), has the mean 0.
  addIntegers(name, dims, bits) {
    return this.#addRandom(name, 'uint8', dims, 1, (chunk) => {
      const words = new Uint32Array(chunk.buffer, 0, chunk.byteLength >> 2);
      for (let i = 0; i < words.length; ++i)
        words[i] = replaceZeros(this.random.next(), bits);
    });
  }

  close() {
    if (this.file !== undefined)
      closeSync(this.file);
  }

  // The offset in the file of `length` bytes for a constant.
  #reserve(name, type, dims, length) {
    const offset = Math.ceil(this.offset / alignment) * alignment;
    this.offset = offset + length;
    this.protos.push(tensorProto(name, type, dims, {
      location: this.location, offset, length}));
    return offset;
  }

  #write(array, offset) {
    if (this.file !== undefined)
      writeSync(this.file, array, 0, array.byteLength, offset);
  }

  // `fill` fills a chunk of a multiple of four bytes.
  #addRandom(name, type, dims, elementBytes, fill) {
    const length = dims.reduce((a, b) => a * b, elementBytes);
    const offset = this.#reserve(name, type, dims, length);
    if (this.file === undefined)
      return name;
    const buffer = new ArrayBuffer(Math.min(length, chunkBytes));
    for (let done = 0; done < length; done += chunkBytes) {
      const chunk = new Uint8Array(buffer, 0,
                                   Math.min(chunkBytes, length - done));
      fill(chunk);
      this.#write(chunk, offset + done);
    }
    return name;
  }
}
