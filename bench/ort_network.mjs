// A network in ONNX Runtime, with its inputs and reference outputs.

import {existsSync} from 'node:fs';
import ort from 'onnxruntime-node';
import {identityModel} from './onnx_wire.mjs';
import {readNpy} from './npy.mjs';

// {session, feeds, expected} of a folder with model.onnx, input_K.npy and
// output_K.npy.
export async function loadNetwork(folder, options) {
  const session =
      await ort.InferenceSession.create(`${folder}/model.onnx`, options);
  const feeds = {};
  session.inputNames.forEach((name, i) => {
    const {type, data, dims} = readNpy(`${folder}/input_${i}.npy`);
    feeds[name] = new ort.Tensor(type, data, dims);
  });
  const expected = session.outputNames.map((_, i) => {
    const path = `${folder}/output_${i}.npy`;
    return existsSync(path) ? readNpy(path).data : [];
  });
  return {session, feeds, expected};
}

// The same for a network of one node on one number: running it takes what any
// call takes.
export async function loadIdentity(options) {
  const session = await ort.InferenceSession.create(identityModel(), options);
  const feeds = {x: new ort.Tensor('float32', Float32Array.of(1), [1])};
  return {session, feeds, expected: [[1]]};
}
