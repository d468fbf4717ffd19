//===- AttentionDefinitions.cpp - Softmax and attention ------------------===//

#include "Definitions.h"
#include "glowish/Base/ForEachIndex.h"

using namespace glowish;
using namespace glowish::proofs;

//===- Softmax ------------------------------------------------------------===//

static Number addExponentials(llvm::ArrayRef<Number> elements) {
  std::vector<Number> powers;
  for (const Number &element : elements)
    powers.push_back(exp(element));
  return addAll(powers);
}

/// \p combine of each element and the sum of the exponentials along the axis.
template <typename T, Number (*Combine)(const Number &x, const Number &sum)>
static SymbolicTensor defineAlongAxis(Proof &, const T &node,
                                      Tensors operands) {
  SymbolicTensor result = {node.getType(), {}};
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    result.elements.push_back(
        Combine(operands[0].getNumber(index),
                addExponentials(gather(operands[0], {node.getAxis()}, index))));
  });
  return result;
}

static Number getShare(const Number &x, const Number &sum) {
  return exp(x) / sum;
}
static Number getLogShare(const Number &x, const Number &sum) {
  return x - log(sum);
}
static const NodeDefinition
    softmax(NodeKind::Softmax,
            defineAs<SoftmaxNode, defineAlongAxis<SoftmaxNode, getShare>>);
static const NodeDefinition logSoftmax(
    NodeKind::LogSoftmax,
    defineAs<LogSoftmaxNode, defineAlongAxis<LogSoftmaxNode, getLogShare>>);

namespace {

/// The operands of attention at one index of the result.
class AttentionRow {
public:
  AttentionRow(Tensors operands, DimsRef index)
      : operands(operands), batch(index.drop_back(2)),
        row(index[index.size() - 2]) {}

  /// Whether \p key is one that a causal query attends to.
  bool attends(int64_t key) const {
    DimsRef query = operands[0].type.getShape();
    return key <= row + getNumKeys() - query[query.size() - 2];
  }
  int64_t getNumKeys() const {
    DimsRef key = operands[1].type.getShape();
    return key[key.size() - 2];
  }
  const Number &at(unsigned operand, int64_t row, int64_t column) const {
    Dims full(batch);
    full.push_back(row);
    full.push_back(column);
    return std::get<Number>(operands[operand].getBroadcast(full));
  }
  /// The product of query and \p key, where \p makeQuery makes numbers of
  /// query's elements.
  Number multiply(Proof &proof, ElemKind kind, int64_t key,
                  llvm::function_ref<Number(const Number &)> makeQuery) const {
    return sum(proof, kind, operands[0].type.getShape().back(), [&](int64_t d) {
      return makeQuery(at(0, row, d)) * convert(at(1, key, d), kind);
    });
  }
  /// e to the power of each score, in the order of the keys; null where the
  /// key is not attended to.
  template <typename T>
  std::vector<std::optional<Number>>
  getPowers(Proof &proof, const T &node,
            llvm::function_ref<Number(int64_t key)> getSum) const {
    std::vector<std::optional<Number>> powers((size_t(getNumKeys())));
    for (int64_t n = 0; n < getNumKeys(); ++n) {
      if (node.getCausal() && !attends(n))
        continue;
      Number score = getSum(n) * node.getScale();
      if (isPresent(operands[3]))
        score = score + at(3, row, n);
      powers[size_t(n)] = exp(score);
    }
    if (llvm::none_of(powers,
                      [](const auto &power) { return power.has_value(); }))
      proof.fail("a query without keys");
    return powers;
  }

private:
  Tensors operands;
  Dims batch;
  int64_t row;
};

} // namespace

static Number addPresent(Proof &proof,
                         llvm::ArrayRef<std::optional<Number>> numbers) {
  std::vector<Number> present;
  for (const std::optional<Number> &number : numbers)
    if (number)
      present.push_back(*number);
  return present.empty() ? Number(proof, ElemKind::Float, 1.0)
                         : addAll(present);
}

static SymbolicTensor defineAttention(Proof &proof, const AttentionNode &node,
                                      Tensors operands) {
  SymbolicTensor result = {node.getType(), {}};
  ElemKind kind = node.getType().getKind();
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    AttentionRow row(operands, index);
    auto powers = row.getPowers(proof, node, [&](int64_t key) {
      return row.multiply(proof, kind, key,
                          [](const Number &query) { return query; });
    });
    Number total = addPresent(proof, powers);
    Number value = sum(proof, kind, row.getNumKeys(), [&](int64_t n) {
      const auto &power = powers[size_t(n)];
      return power ? *power * row.at(2, n, index.back())
                   : Number(proof, kind, 0.0);
    });
    result.elements.push_back(value / total);
  });
  return result;
}
static const NodeDefinition attention(NodeKind::Attention,
                                      defineAs<AttentionNode, defineAttention>);

static SymbolicTensor defineAttentionInteger(Proof &proof,
                                             const AttentionIntegerNode &node,
                                             Tensors operands) {
  SymbolicTensor result = {node.getType(), {}};
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    AttentionRow row(operands, index);
    auto powers = row.getPowers(proof, node, [&](int64_t key) {
      Number score =
          row.multiply(proof, ElemKind::Int32, key, [&](const Number &query) {
            return convert(query, ElemKind::Int32) -
                   double(node.getQueryZeroPoint());
          });
      return convert(score, ElemKind::Float);
    });
    Number total = addPresent(proof, powers);
    result.elements.push_back(
        sum(proof, ElemKind::Int32, row.getNumKeys(), [&](int64_t n) {
          const auto &power = powers[size_t(n)];
          if (!power)
            return Number(proof, ElemKind::Int32, 0.0);
          Number weight = min(rint(*power / total / node.getWeightScale()),
                              double(node.getMaxWeight()));
          return convert(weight, ElemKind::Int32) *
                 (convert(row.at(2, n, index.back()), ElemKind::Int32) -
                  double(node.getValueZeroPoint()));
        }));
  });
  return result;
}
static const NodeDefinition
    attentionInteger(NodeKind::AttentionInteger,
                     defineAs<AttentionIntegerNode, defineAttentionInteger>);
