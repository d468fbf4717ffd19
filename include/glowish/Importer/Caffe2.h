//===- Caffe2.h - Import of Caffe2 models -----------------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_CAFFE2_H
#define GLOWISH_IMPORTER_CAFFE2_H

#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// Whether \p path is a Caffe2 model or one of its nets: a directory, or a file
/// that ends in .pb or .pbtxt and is not an ONNX model.
bool isCaffe2Path(llvm::StringRef path);

/// Returns the files of the Caffe2 model at \p path: in a directory,
/// predict_net and, if present, init_net (.pb or .pbtxt); otherwise \p path
/// and, unless it is empty, \p secondFile.
llvm::Expected<std::vector<std::string>>
findCaffe2Files(llvm::StringRef path, llvm::StringRef secondFile);

/// Imports the Caffe2 model at \p path (see isCaffe2Path), binary or protobuf
/// text, as a module with one function, "main". The inputs are the blobs that
/// the net reads before an operator computes them; the options state their
/// types. Inputs and external outputs become placeholders with the blobs'
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
