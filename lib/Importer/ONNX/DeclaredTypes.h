//===- DeclaredTypes.h - Types that a model declares ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_DECLAREDTYPES_H
#define GLOWISH_LIB_IMPORTER_ONNX_DECLAREDTYPES_H

#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// Compares the types that a model declares for its outputs and inner values
/// with those that are computed. They have no effect otherwise.
class DeclaredTypes {
public:
  /// \p graph must outlive this.
  explicit DeclaredTypes(const onnx::GraphProto &graph);

  /// Binds the symbols in the shape of \p input, which has \p type. Extents are
  /// no longer compared if \p type replaces a declared one: then the model's
  /// declarations are those for another size.
  void bindInput(const onnx::ValueInfoProto &input, const Type &type);

  /// Returns how a value with \p type contradicts the declaration: "'y' is
  /// float<2x3>; the model declares float<2x4>". Empty if it does not. Extents
  /// that are dynamic, unknown or not constant are not compared.
  std::string compare(const onnx::ValueInfoProto &declared,
                      const Type &type) const;
  /// Like compare(), for a sequence or an optional without a value.
  std::string compare(const onnx::ValueInfoProto &declared,
                      const Sequence &sequence) const;
  /// Like compare(), for the inner value \p name.
  std::string compareInner(llvm::StringRef name, const Type &type) const;

private:
  using Dimension = onnx::TensorShapeProto::Dimension;
  std::string compare(llvm::StringRef name, const onnx::TypeProto &declared,
                      const Type &type) const;
  std::optional<int64_t> findExtent(const Dimension &dim) const;
  bool hasShape(const onnx::TypeProto &type, const Type &own) const;

  llvm::StringMap<const onnx::ValueInfoProto *> inner;
  std::map<std::string, int64_t> symbols;
  bool comparesExtents = true;
};

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_DECLAREDTYPES_H
