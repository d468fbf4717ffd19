//===- ModelBuilder.h - Builds random models with ranges --------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_RANGES_MODELBUILDER_H
#define GLOWISH_TESTS_FUZZ_RANGES_MODELBUILDER_H

#include "RangedModel.h"
#include "glowish/Support/Random.h"
#include <deque>
#include <functional>

namespace glowish::fuzz {

/// An extent at each point: for each of the values of the symbols for which the
/// builder imports what it builds.
using ExtentPoints = llvm::SmallVector<int64_t, 6>;
using Shape = std::vector<ExtentPoints>;

/// A value of a model that is being built.
struct ModelValue {
  std::string name;
  ElemKind kind = ElemKind::Float;
  Shape shape;
  /// The extents for which the ranged model plans.
  Dims largest;
  /// The dimensions that only a run of it knows.
  std::set<unsigned> dynamicDims = {};
  /// Its extents depend on data.
  bool isOpen = false;
  /// Of an integer value that is known at each point, its elements there.
  std::vector<std::vector<int64_t>> elements;

  unsigned getRank() const { return shape.size(); }
  bool isFloat() const { return isFloatKind(kind); }
};

inline bool hasDims(const ModelValue &value) { return value.getRank() > 0; }

inline int64_t getLeast(const ExtentPoints &extent) {
  return *std::min_element(extent.begin(), extent.end());
}
inline bool isConstant(const ExtentPoints &extent) {
  return llvm::all_equal(extent);
}
inline bool isConstant(const Shape &shape) {
  return llvm::all_of(shape,
                      [](const ExtentPoints &e) { return isConstant(e); });
}

/// Attributes of nodes.
onnx::AttributeProto makeAttr(const char *name, int64_t value);
onnx::AttributeProto makeAttr(const char *name, double value);
onnx::AttributeProto makeAttr(const char *name, const char *value);
onnx::AttributeProto makeAttr(const char *name, llvm::ArrayRef<int64_t> values);

/// What became of nodes that were added.
enum class BuildVerdict {
  Accepted,
  /// At a point, with fixed extents: they are wrong.
  Wrong,
  /// With ranges alone.
  Refused
};

/// Adds nodes to a model and asks the importer for their types. An operator is
/// one transaction: some nodes, inputs and constants, which commit() keeps or
/// removes.
class ModelBuilder {
public:
  /// A model with random symbols and no inputs, of what \p form takes; null
  /// for ONNX.
  ModelBuilder(Random &random, const Form *form);

  Random &random;
  bool chance(unsigned percent) { return random.below(100) < percent; }
  int64_t pickFrom(int64_t low, int64_t high) {
    return low + int64_t(random.below(uint64_t(high - low + 1)));
  }
  template <typename T> T pickOne(std::initializer_list<T> choices) {
    return choices.begin()[random.below(choices.size())];
  }

  //===- Values -----------------------------------------------------------===//

  /// One of the values that \p fits; null if none does.
  const ModelValue *
  pick(llvm::function_ref<bool(const ModelValue &)> fits) const;
  /// The same of values whose extents do not depend on data.
  const ModelValue *
  pickFixed(llvm::function_ref<bool(const ModelValue &)> fits) const;
  const ModelValue *pickFloats(unsigned leastRank = 0) const;
  size_t getNumPoints() const { return points.size(); }
  ExtentPoints makeExtent(int64_t extent) const {
    return ExtentPoints(points.size(), extent);
  }
  /// A dimension that an input may have: a number, a symbol or a sum.
  ExtentPoints pickExtent();
  /// A symbol's, or a sum's.
  ExtentPoints pickRanged();

  //===- What a transaction adds ------------------------------------------===//

  /// Returns the names of the outputs.
  std::vector<std::string> addNode(const char *op,
                                   std::vector<std::string> inputs,
                                   std::vector<onnx::AttributeProto> attrs,
                                   unsigned numOutputs,
                                   const char *domain = "");
  /// A node with one output.
  std::string addNode(const char *op, std::vector<std::string> inputs,
                      std::vector<onnx::AttributeProto> attrs = {},
                      const char *domain = "") {
    return addNode(op, std::move(inputs), std::move(attrs), 1, domain)[0];
  }
  std::string addConstant(const Tensor &tensor);
  /// Random elements.
  std::string addConstant(ElemKind kind, DimsRef shape);
  std::string addInts(llvm::ArrayRef<int64_t> values);
  std::string addInt(int64_t value);
  /// Null where a dimension is nothing that an input may have.
  std::optional<ModelValue> addInput(ElemKind kind, const Shape &shape);
  /// A value with the shape: one that is there, an input or a constant.
  std::optional<ModelValue> findOperand(ElemKind kind, const Shape &shape);
  /// An int64 of one element (rank 1): the extent of a dimension.
  std::string addExtent(const ModelValue &value, unsigned dim);
  /// An int64 vector of \p shape: extents of \p value where it has them, and
  /// numbers. Null where a dimension is neither.
  std::optional<std::string> addShape(const Shape &shape,
                                      const ModelValue &value);
  /// Forms have no states.
  void addState(const std::string &input, const std::string &output) {
    if (!model.form)
      model.states.push_back({input, output});
  }
  /// Ends the transaction.
  BuildVerdict commit();
  /// Ends a transaction that adds inputs alone.
  void keepInputs() { committed = getSizes(); }
  /// Ends it and removes what was added.
  void cancel();

  //===- The model --------------------------------------------------------===//

  const std::deque<ModelValue> &getValues() const { return values; }
  /// The operator and the message of the last refusal.
  const std::string &getRefusedOperator() const { return refusedOperator; }
  const std::string &getRefusal() const { return refusal; }
  /// The model with \p outputs, and with all of the outputs that states have.
  RangedModel finish(std::vector<std::string> outputs, bool withStates) const;
  /// Called with what is imported next: a crash is that model's.
  std::function<void(const RangedModel &)> trace;

private:
  struct Sizes {
    int nodes, inputs, initializers;
    size_t values, states;
  };
  Sizes getSizes() const;
  bool importPoints(const RangedModel &candidate,
                    std::vector<ModelValue> &added) const;
  BuildVerdict importRanges(const RangedModel &candidate,
                            std::vector<ModelValue> &added);
  bool isTaken() const;
  std::vector<ModelValue> getAdded() const;
  std::optional<std::string> getText(const ExtentPoints &extent) const;
  void addDim(const std::string &text);

  RangedModel model;
  /// What the importer is asked with; the first ones are the model's runs.
  std::vector<RunExtents> points;
  /// Dimensions of inputs; the first ones are ranged.
  std::vector<std::pair<std::string, ExtentPoints>> dims;
  size_t numRanged = 0;
  /// A deque, so that values stay where they are while others are added.
  std::deque<ModelValue> values;
  Sizes committed{};
  unsigned nextName = 0;
  std::string refusedOperator, refusal;
};

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_RANGES_MODELBUILDER_H
