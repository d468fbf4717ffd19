//===- CustomOptions.cpp - Options of custom operators --------------------===//

#include "TFLite/CustomOptions.h"

using namespace glowish;
using namespace glowish::tflite;

llvm::Expected<flexbuffers::Map> tflite::getCustomOptions(const TFLiteOp &op) {
  llvm::ArrayRef<uint8_t> bytes = op.getCustomOptions();
  if (bytes.size() < 3 ||
      !flexbuffers::VerifyBuffer(bytes.data(), bytes.size(), nullptr))
    return makeError("its options are malformed");
  flexbuffers::Reference root =
      flexbuffers::GetRoot(bytes.data(), bytes.size());
  if (!root.IsMap())
    return makeError("its options are no map");
  return root.AsMap();
}

llvm::Expected<int64_t> tflite::getOption(const flexbuffers::Map &options,
                                          const char *name, int64_t least,
                                          int64_t most) {
  int64_t value = options[name].AsInt64();
  if (value < least || value > most)
    return makeError("option {0} is {1}; accepted: {2} to {3}", name, value,
                     least, most);
  return value;
}
