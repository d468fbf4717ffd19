// Runs a network in ONNX Runtime without its arena, so that each tensor is
// allocated and freed on its own, after SIGUSR2 (alloc_peak.c). Prints the bytes of
// its outputs.
//
//   node ort_memory.mjs FOLDER      model.onnx, input_K.npy

import {load, readTensors} from '../ort_network.mjs';

const {session, feeds} = await load(
    `${process.argv[2]}/model.onnx`, readTensors(process.argv[2]),
    {graphOptimizationLevel: 'all', executionMode: 'sequential',
     intraOpNumThreads: 1, enableCpuMemArena: false, enableMemPattern: false});
process.kill(process.pid, 'SIGUSR2');
const outputs = await session.run(feeds);
console.log(Object.values(outputs).reduce(
    (sum, tensor) => sum + tensor.data.byteLength, 0));
