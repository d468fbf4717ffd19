//===- Caffe2.h - Import of Caffe2 models -----------------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_CAFFE2_H
#define GLOWISH_IMPORTER_CAFFE2_H

#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// Imports the Caffe2 model at \p path, a directory or a net, binary or
/// protobuf text, as a module with one function, "main". The inputs are the
/// blobs that the net reads before an operator computes them; the options state
/// their types. Inputs and external outputs become placeholders with the blobs'
/// names. Without an init_net, weights whose shapes other inputs imply are
/// zeros. All unsupported operators are listed in one error.
llvm::Expected<std::unique_ptr<Module>>
importCaffe2File(llvm::StringRef path, const ImportOptions &options);

/// Like importCaffe2File(), from the bytes of one net or two, in either order;
/// \p name is used in messages.
llvm::Expected<std::unique_ptr<Module>>
importCaffe2(llvm::ArrayRef<llvm::StringRef> nets, llvm::StringRef name,
             const ImportOptions &options);

struct Caffe2OperatorInfo {
  std::string name;
  /// One-line description of what is not supported.
  std::string limit;
};
/// Returns the Caffe2 operators that can be imported, sorted by name.
std::vector<Caffe2OperatorInfo> listCaffe2Operators();

} // namespace glowish

#endif // GLOWISH_IMPORTER_CAFFE2_H
