//===- Caffe2.h - Caffe2 models to graphs -----------------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_CAFFE2_H
#define GLOWISH_IMPORTER_CAFFE2_H

#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// Whether \p path is that of a Caffe2 model, or of one of its nets: a folder,
/// or a file that ends in .pb or .pbtxt and is no ONNX model.
bool isCaffe2Path(llvm::StringRef path);

/// The files of the Caffe2 model at \p path: those of a folder, predict_net
/// and, if there, init_net (.pb or .pbtxt); else \p path and \p secondFile, if
/// that is not empty.
llvm::Expected<std::vector<std::string>>
findCaffe2Files(llvm::StringRef path, llvm::StringRef secondFile);

/// Reads the nets of the Caffe2 model at \p path (see isCaffe2Path), binary or
/// protobuf text, and makes a module with one function, "main". Inputs are the
/// blobs that the net reads before anything computes them; the options state
/// their types. They and the net's external outputs are placeholders under
/// their names. Without an init_net, weights whose shapes other inputs imply
/// are zeros. All operators that are not supported are listed in one error.
llvm::Expected<std::unique_ptr<Module>>
importCaffe2File(llvm::StringRef path, const ImportOptions &options);

/// The same from the bytes of one net or two, in either order; \p name is used
/// in messages.
llvm::Expected<std::unique_ptr<Module>>
importCaffe2(llvm::ArrayRef<llvm::StringRef> nets, llvm::StringRef name,
             const ImportOptions &options);

struct Caffe2OperatorInfo {
  std::string name;
  /// One line on what is not supported.
  std::string limit;
};
/// The Caffe2 operators that can be imported, sorted by name.
std::vector<Caffe2OperatorInfo> listCaffe2Operators();

} // namespace glowish

#endif // GLOWISH_IMPORTER_CAFFE2_H
