// How far a program may be from PyTorch's output for its times to count. Errors
// are shares of the output's largest magnitude.

const tolerance = 1e-3;

export const isAccurate = (error) =>
    typeof error === 'number' && error <= tolerance;

// Of a quantized network, in which ONNX Runtime's error, undefined if it does not
// run it, is the quantization's: it may be twice that, as the last bit of a float
// decides between two integers, and what follows drifts apart.
export const isAccurateQuantized = (error, ofOnnxRuntime) =>
    typeof error === 'number' &&
    (typeof ofOnnxRuntime !== 'number' || error <= 2 * ofOnnxRuntime + 0.02);
