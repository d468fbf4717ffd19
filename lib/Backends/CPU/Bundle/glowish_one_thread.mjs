
//===- One thread ------------------------------------------------------------===//

/** An instance of the module, which has a memory of its own. */
async function instantiate(module) {
  const {exports} = await WebAssembly.instantiate(module, {});
  return {exports, memory: exports.memory, heap: exports.__heap_base.value >>> 0,
          pool: {threads: 1, ready: undefined, close() {}}};
}
