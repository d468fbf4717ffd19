//===- WeightPool.h - Value names and weights of a model --------*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_ONNX_WEIGHTPOOL_H
#define GLOWISH_LIB_EXPORTER_ONNX_WEIGHTPOOL_H

#include "glowish/Graph/Module.h"
#include <map>
#include <set>

namespace glowish {

/// A permutation of dimensions: dimension i of one tensor is dimension
/// layout[i] of another.
using Layout = llvm::SmallVector<int64_t, 4>;

/// Returns 0 ... rank-1.
Layout getIdentityLayout(unsigned rank);
bool isIdentity(const Layout &layout);
Layout invert(const Layout &layout);
/// Returns the layout with dimension i equal to inner[outer[i]].
Layout compose(const Layout &inner, llvm::ArrayRef<int64_t> outer);

/// A value of the written graph. An empty name means an absent input.
struct OnnxValue {
  std::string name;
  ElemKind kind = ElemKind::Float;

  explicit operator bool() const { return !name.empty(); }
};

/// State shared by all graphs of a model: the operator sets, the unique names
/// of values, and the initializers, which are all in the main graph.
class WeightPool {
public:
  explicit WeightPool(int opset) : opset(opset) {}

  struct Weight {
    std::string name;
    /// May differ from the payload's type in shape. The payload of elements
    /// under 8 bits has their bytes in the file.
    Type type;
    std::shared_ptr<const Tensor> payload;
  };

  /// Returns ONNX's operator set that the model is written with.
  int getOpset() const { return opset; }
  /// Records that the model needs operator set \p needed.
  void requireOpset(int needed) {
    requiredOpset = std::max(requiredOpset, needed);
  }
  int getRequiredOpset() const { return requiredOpset; }
  /// Records that a node is of \p domain, not ONNX's own.
  void requireDomain(llvm::StringRef domain) { domains.insert(domain.str()); }
  const std::set<std::string> &getDomains() const { return domains; }

  /// Reserves and returns \p base, with a number appended if it is in use.
  std::string takeName(llvm::StringRef base);

  /// Returns \p constant as a weight, with leading dimensions of extent 1 up to
  /// \p layout's rank, then permuted.
  OnnxValue get(const Constant &constant, const Layout &layout);
  /// Returns a small constant as a weight; equal ones are shared.
  OnnxValue getSmall(Tensor tensor, llvm::StringRef name);
  /// Adds a weight under \p name, which must have been reserved.
  OnnxValue add(std::string name, Type type,
                std::shared_ptr<const Tensor> payload);

  /// Returns the weights in the order of their creation.
  llvm::ArrayRef<Weight> getWeights() const { return weights; }

private:
  int opset, requiredOpset = 0;
  std::set<std::string> domains;
  std::vector<Weight> weights;
  llvm::StringMap<unsigned> names;
  std::map<std::pair<const Constant *, Layout>, OnnxValue> constants;
  std::map<std::string, OnnxValue> smallTensors;
};

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_ONNX_WEIGHTPOOL_H
