
export type TypedArray = Float32Array | Float64Array | Int8Array | Uint8Array |
    Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array |
    BigUint64Array;

/** An input, an output or a state of the network. */
export interface Tensor {
  readonly name: string;
  readonly direction: 'input' | 'output' | 'input and output' | 'state';
  /** The kind of its elements: "float", "int64", ... */
  readonly type: string;
  /** The class of `data`. */
  readonly array: string;
  /** Outermost first; the largest extents, where a run has others. */
  readonly shape: readonly number[];
  /** The actual extents of an input, where a run states them: expressions of
   * these extents, or "" for those of the shape. */
  readonly dims?: readonly string[];
  /** The output that has the actual extents of this one. */
  readonly extents?: string;
  /** Of quantized kinds: real = (element - zeroPoint) * scale. */
  readonly scales?: readonly number[];
  readonly zeroPoints?: readonly number[];
  /** The elements in the network's memory: bits of half precisions; kinds
   * under 8 bits have a byte each. */
  readonly data: TypedArray;
}

/** What run() throws where the network's entry returns an error. */
export declare class NetworkError extends Error {
  constructor(code: number, message?: string);
  readonly code: number;
}

/** A network with its memory: inputs, outputs and states are views of that. */
export declare class Network {
  private constructor();
  readonly inputs: Inputs;
  readonly outputs: Outputs;
  readonly states: States;
  readonly tensors: Readonly<Record<Name, Tensor>>;
  /** Goes on with the code for these values of the model's dimensions: other
   * views take the place of inputs, outputs and states. */
  select(values: Dimensions): void;
  /** Runs the network. An extent that is left out stays as it was. */
  run(extents?: Extents): Outputs;
  /** The actual extents of an output after a run. */
  getExtents(name: Name): number[];
  /** How many threads a run has. */
  readonly threads: number;
  /** Ends the network's workers. A run after that has one thread. */
  close(): void;
}

/** Bytes, a response, a URL or, in Node.js, a path. */
export type Source = ArrayBuffer | ArrayBufferView | Response | URL | string;

/** Loads the network: by default from the files beside this one, and with as many
 * threads as there are processors, if it is compiled for so many. */
export declare function load(options?: {
  wasm?: Source | WebAssembly.Module;
  weights?: Source;
  threads?: number;
}): Promise<Network>;

/** What is known of the network: sizes in bytes, and its tensors. */
export declare const description: {
  readonly name: string;
  readonly threads: number;
  readonly weightBytes: number;
  readonly placeholderBytes: number;
  readonly activationBytes: number;
};
