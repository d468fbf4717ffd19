//===- ModelGenerator.cpp - Random models with ranges ---------------------===//

#include "ModelGenerator.h"
#include "Operators.h"

using namespace glowish;
using namespace glowish::fuzz;

/// All families, each as often as its weight says.
static const std::vector<OperatorGenerator> &getGenerators() {
  static const std::vector<OperatorGenerator> generators = [] {
    std::vector<OperatorGenerator> all;
    for (auto families :
         {getElementWiseFamilies(), getReductionFamilies(),
          getMovementFamilies(), getShapeFamilies(), getIndexingFamilies(),
          getMatMulFamilies(), getAttentionFamilies(), getImageFamilies(),
          getQuantizedFamilies()})
      for (const OperatorFamily &family : families)
        all.insert(all.end(), family.weight, family.add);
    return all;
  }();
  return generators;
}

static ElemKind pickKind(ModelBuilder &b) {
  unsigned number = unsigned(b.random.below(20));
  return number < 13   ? ElemKind::Float
         : number < 15 ? ElemKind::Float16
         : number < 17 ? ElemKind::Int64
         : number < 18 ? ElemKind::Int32
                       : b.pickOne({ElemKind::Bool, ElemKind::UInt8});
}

/// Inputs of which the first has the first symbol.
static void addInputs(ModelBuilder &b) {
  int64_t count = b.pickFrom(1, 3);
  for (int64_t i = 0; i < count; ++i) {
    Shape shape;
    int64_t rank = i == 0 ? b.pickFrom(1, 4) : b.pickFrom(0, 4);
    for (int64_t d = 0; d < rank; ++d)
      shape.push_back(b.pickExtent());
    if (i == 0)
      shape[b.random.below(shape.size())] = b.pickRanged();
    // Not more than a model should have.
    int64_t size = 1;
    for (ExtentPoints &extent : shape) {
      if (size * *std::max_element(extent.begin(), extent.end()) > 1500)
        extent = b.makeExtent(2);
      size *=
          std::max<int64_t>(1, *std::max_element(extent.begin(), extent.end()));
    }
    b.addInput(i == 0 && b.chance(70) ? ElemKind::Float : pickKind(b), shape);
  }
}

/// The values that nodes compute and that no other reads, or the last ones, and
/// some others.
static std::vector<std::string> pickOutputs(ModelBuilder &b) {
  std::vector<std::string> computed, outputs;
  for (const ModelValue &value : b.getValues())
    if (value.name[0] == 'v')
      computed.push_back(value.name);
  if (computed.empty())
    return outputs;
  outputs.push_back(computed.back());
  for (int64_t count = b.pickFrom(0, 3); count > 0; --count) {
    const std::string &other = computed[b.random.below(computed.size())];
    if (!llvm::is_contained(outputs, other))
      outputs.push_back(other);
  }
  return outputs;
}

GeneratedModel
fuzz::makeRangedModel(uint64_t seed, unsigned maxNodes, const Form *form,
                      const std::function<void(const RangedModel &)> &trace) {
  Random random(seed);
  ModelBuilder b(random, form);
  b.trace = trace;
  GeneratedModel result;
  addInputs(b);
  b.keepInputs();
  unsigned count = 1 + unsigned(random.below(maxNodes));
  // What does not fit is tried again, with another operator mostly. A form
  // takes fewer, and a model has one at least.
  unsigned mostTries = form ? std::max(60 * count, 400u) : 20 * count;
  for (unsigned tries = 0; tries < mostTries * (result.numOperators ? 1 : 10) &&
                           result.numOperators < count;
       ++tries) {
    const auto &generators = getGenerators();
    if (!generators[random.below(generators.size())](b)) {
      b.cancel();
      continue;
    }
    BuildVerdict verdict = b.commit();
    result.numOperators += verdict == BuildVerdict::Accepted;
    if (verdict == BuildVerdict::Refused)
      result.refusals.push_back({b.getRefusedOperator(), b.getRefusal()});
  }
  result.model = b.finish(pickOutputs(b), /*withStates=*/random.below(4) > 0);
  return result;
}
