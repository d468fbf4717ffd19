//===- WeightPool.h - Names and weights of a written model ----*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_ONNX_WEIGHTPOOL_H
#define GLOWISH_LIB_EXPORTER_ONNX_WEIGHTPOOL_H

#include "glowish/Graph/Module.h"
#include <map>

namespace glowish {

/// The order of a tensor's dimensions: dimension i is dimension layout[i] of
/// another one.
using Layout = llvm::SmallVector<int64_t, 4>;

/// 0 ... rank-1.
Layout getIdentityLayout(unsigned rank);
bool isIdentity(const Layout &layout);
Layout invert(const Layout &layout);
/// Dimension i is dimension inner[outer[i]].
Layout compose(const Layout &inner, llvm::ArrayRef<int64_t> outer);

/// A value of the written graph. One without a name is an absent input.
struct OnnxValue {
  std::string name;
  ElemKind kind = ElemKind::Float;

  explicit operator bool() const { return !name.empty(); }
};

/// What all graphs of a model share: the names of values, of which none is
/// taken twice, and the initializers, all of the outermost graph.
class WeightPool {
public:
  struct Weight {
    std::string name;
    /// The payload's elements may have another shape.
    Type type;
    std::shared_ptr<const Tensor> payload;
  };

  /// \p base, or \p base with a number where that is taken.
  std::string takeName(llvm::StringRef base);

  /// \p constant, with ones in front of its shape up to \p layout's rank, and
  /// then permuted.
  OnnxValue get(const Constant &constant, const Layout &layout);
  /// A small tensor that an operator needs; equal ones become one weight.
  OnnxValue getSmall(Tensor tensor, llvm::StringRef name);
  /// Another weight; \p name has been taken.
  OnnxValue add(std::string name, Type type,
                std::shared_ptr<const Tensor> payload);

  /// In the order in which they were asked for.
  llvm::ArrayRef<Weight> getWeights() const { return weights; }

private:
  std::vector<Weight> weights;
  llvm::StringMap<unsigned> names;
  std::map<std::pair<const Constant *, Layout>, OnnxValue> constants;
  std::map<std::string, OnnxValue> smallOnes;
};

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_ONNX_WEIGHTPOOL_H
