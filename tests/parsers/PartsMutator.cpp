//===- PartsMutator.cpp - Mutations of parts for libFuzzer ----------------===//

#include "parsers/Inputs.h"
#include "robustness/TorchArchives.h"
#ifdef GLOWISH_MUTATES_NETS
#include "Caffe2/caffe2.pb.h"
#include "robustness/Mutations.h"
#include <google/protobuf/stubs/logging.h>
#endif

using namespace glowish;
using namespace glowish::parsers;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

#ifdef GLOWISH_MUTATES_NETS
/// A net as its message, if it is binary.
static void mutateParts(Parts &parts, Random &random) {
  google::protobuf::LogSilencer silencer;
  std::string &bytes = parts[random.below(parts.size())].second;
  caffe2::schema::NetDef net;
  if (!net.ParsePartialFromString(bytes) || !net.ByteSizeLong())
    return robustness::mutateText(bytes, random);
  robustness::mutateMessage(net, random);
  bytes = net.SerializePartialAsString();
}
#else
/// An entry of an archive as what its name says that it is.
static void mutateParts(Parts &parts, Random &random) {
  robustness::mutateEntries(parts, random);
}
#endif

/// Half of the mutations change the bytes, with libFuzzer's dictionary and what
/// it has learned.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  Random random(seed);
  Parts parts = splitParts({reinterpret_cast<const char *>(data), size});
  if (random.below(2))
    return LLVMFuzzerMutate(data, size, maxSize);
  mutateParts(parts, random);
  std::string text = joinParts(parts);
  if (text.empty() || text.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}
