//===- NetFile.h - Files of a Caffe2 model ----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_CAFFE2_NETFILE_H
#define GLOWISH_LIB_IMPORTER_CAFFE2_NETFILE_H

#include "Caffe2/caffe2.pb.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace glowish::caffe2 {

/// The nets of a model.
struct NetPair {
  schema::NetDef predict;
  /// Computes the weights; empty if there is no such net.
  schema::NetDef init;
  bool hasInit = false;
};

/// Returns whether \p path is a folder with a Caffe2 model.
bool isCaffe2Folder(llvm::StringRef path, llvm::StringRef bytes);

/// Returns the files of the Caffe2 model at \p path: in a directory,
/// predict_net and, if present, init_net (.pb or .pbtxt); otherwise \p path
/// and, unless it is empty, \p secondFile.
llvm::Expected<std::vector<std::string>>
findCaffe2Files(llvm::StringRef path, llvm::StringRef secondFile);

/// Describes \p op in messages by its name, or that of its first output.
std::string describe(const schema::OperatorDef &op);

/// Parses one or two nets, binary or protobuf text. Of two, init is the net
/// that computes inputs of the other.
llvm::Expected<NetPair> parseNets(llvm::ArrayRef<llvm::StringRef> nets,
                                  llvm::ArrayRef<std::string> names);

} // namespace glowish::caffe2

#endif // GLOWISH_LIB_IMPORTER_CAFFE2_NETFILE_H
