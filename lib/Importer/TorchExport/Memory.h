//===- Memory.h - The memory of exported programs' tensors ------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHEXPORT_MEMORY_H
#define GLOWISH_LIB_IMPORTER_TORCHEXPORT_MEMORY_H

#include "Aten/Layout.h"
#include "TorchExport/Arguments.h"
#include "TorchExport/Json.h"

namespace glowish::torchexport {

/// Which tensors of a graph are views of others, and where in memory their
/// elements are. It follows from the strides that the file states.
class ExportedMemory {
public:
  /// \p graph has the strides, \p values the tensors, of \p function.
  ExportedMemory(const llvm::json::Object &graph, const ExportedValues &values,
                 Function &function, aten::AtenContext &context)
      : graph(graph), values(values), function(function), context(context) {}

  /// Notes that \p view makes \p result of the tensor \p base.
  void addView(const std::string &result, std::string base,
               aten::AtenView view) {
    views[result] = {std::move(base), std::move(view)};
  }

  /// The memory that a tensor has, or is a view of.
  struct Place {
    /// All of its elements, in row-major order.
    NodeValue memory;
    /// The position of the tensor's first element.
    int64_t offset;
  };
  /// Whether a view of the tensor \p name in the shape \p size, whose elements
  /// are in the same order, has \p strides; false for what are not integers.
  llvm::Expected<bool> isReshaped(llvm::StringRef name,
                                  const aten::AtenValue &size,
                                  const aten::AtenValue &strides) const;
  /// Creates nodes that order the elements.
  llvm::Expected<Place> find(llvm::StringRef name) const;

private:
  struct View {
    std::string base;
    aten::AtenView call;
  };
  struct Trace {
    /// The tensor whose memory it is.
    std::string root;
    /// The place of each element there, a constant.
    NodeValue places;
  };

  llvm::Expected<Dims> readStrides(llvm::StringRef name) const;
  llvm::Expected<bool> isCopy(llvm::StringRef name, const View &view,
                              const Trace &base) const;
  llvm::Expected<Trace> traceRoot(llvm::StringRef name) const;
  llvm::Expected<Trace> trace(llvm::StringRef name) const;
  llvm::Expected<NodeValue> applyTo(const View &view, NodeValue places,
                                    llvm::StringRef name) const;

  const llvm::json::Object &graph;
  const ExportedValues &values;
  Function &function;
  aten::AtenContext &context;
  std::map<std::string, View, std::less<>> views;
};

} // namespace glowish::torchexport

#endif // GLOWISH_LIB_IMPORTER_TORCHEXPORT_MEMORY_H
