// A network in ONNX Runtime, with its inputs and reference outputs.

import {existsSync} from 'node:fs';
import ort from 'onnxruntime-node';
import {readNpy} from './npy.mjs';

// FOLDER/STEM_0.npy, FOLDER/STEM_1.npy, ... as readNpy gives them.
function readNumbered(folder, stem) {
  const arrays = [];
  for (let i = 0; existsSync(`${folder}/${stem}_${i}.npy`); ++i)
    arrays.push(readNpy(`${folder}/${stem}_${i}.npy`));
  return arrays;
}

// {inputs, outputs} of a folder with input_K.npy and output_K.npy, in the order
// of the model: tensors of a runtime, and the expected elements.
export function readTensors(folder, {Tensor} = ort) {
  return {
    inputs: readNumbered(folder, 'input').map(
        ({type, data, dims}) => new Tensor(type, data, dims)),
    outputs: readNumbered(folder, 'output').map(({data}) => data),
  };
}

// The same for the model of one node.
export function identityTensors() {
  return {inputs: [new ort.Tensor('float32', Float32Array.of(1), [1])],
          outputs: [[1]]};
}

// {session, feeds, expected} of a model (its path or its bytes) in a runtime.
export async function load(model, {inputs, outputs}, options,
                           {InferenceSession} = ort) {
  const session = await InferenceSession.create(model, options);
  const feeds = Object.fromEntries(
      session.inputNames.map((name, i) => [name, inputs[i]]));
  return {session, feeds, expected: session.outputNames.map(
      (_, i) => outputs[i] ?? [])};
}
