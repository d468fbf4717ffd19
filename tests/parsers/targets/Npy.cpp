//===- Npy.cpp - NumPy's arrays -------------------------------------------===//

#include "glowish/Support/Npy.h"
#include "common/TensorFile.h"
#include "glowish/Support/MemoryFile.h"
#include "parsers/Fuzzing.h"
#include "parsers/Inputs.h"

using namespace glowish;
using namespace glowish::parsers;

/// Arrays, and the tensors that the tools make of them, which are written to
/// the same tensor.
GLOWISH_PARSER_FUZZER(npy) {
  accept(parseNpy(input));
  MemoryFile file(input, "input");
  auto tensor = accept(readTensorFile(file.getPath()));
  if (!tensor)
    return;
  auto bytes = accept(encodeNpy("output.npy", *tensor));
  expect(bool(bytes), "a tensor that was read is not written");
  MemoryFile written(*bytes, "input");
  auto again = accept(readTensorFile(written.getPath()));
  expect(again && again->getType() == tensor->getType() &&
             again->getByteRange() == tensor->getByteRange(),
         "a tensor that was written is another one");
}
