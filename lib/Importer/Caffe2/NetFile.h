//===- NetFile.h - The files of a Caffe2 model ------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_CAFFE2_NETFILE_H
#define GLOWISH_LIB_IMPORTER_CAFFE2_NETFILE_H

#include "Caffe2/caffe2.pb.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace glowish {

/// The nets of a model.
struct NetPair {
  caffe2::NetDef predict;
  /// What computes the weights; empty where there is no such net.
  caffe2::NetDef init;
  bool hasInit = false;
};

/// Parses one net or two, binary or protobuf text; of two, init is the one that
/// computes what the other one reads.
llvm::Expected<NetPair> parseNets(llvm::ArrayRef<llvm::StringRef> nets,
                                  llvm::ArrayRef<std::string> names);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_CAFFE2_NETFILE_H
