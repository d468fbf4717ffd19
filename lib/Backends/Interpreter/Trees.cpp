//===- Trees.cpp - Decision trees -----------------------------------------===//

#include "Run.h"

using namespace glowish;
using namespace glowish::interpreter;

namespace {

/// The trees of an instruction with elements of type \p T.
template <typename T> class TreeWalker {
public:
  TreeWalker(const Memory &memory, const TreeEnsembleInstr &instr)
      : instr(instr), values(getDense<T>(memory, instr.getValues())),
        weights(getOptional<T>(memory, instr.getWeights())) {
    if (instr.getWeights())
      width = instr.getWeights()->getType().getDim(1);
  }

  /// Stores what the trees make of \p row to \p result.
  void run(const T *row, llvm::MutableArrayRef<T> result) const {
    std::fill(result.begin(), result.end(), getStart());
    size_t tree = 0;
    T *first = result.data();
    for (int64_t count : instr.getGroups()) {
      for (int64_t i = 0; i < count; ++i)
        addLeaf(first, findLeaf(row, instr.getRoots()[tree++]));
      first += width;
    }
  }

private:
  T getStart() const {
    T infinity = std::numeric_limits<T>::infinity();
    return instr.getMode() == "sum"
               ? 0
               : (instr.getMode() == "max" ? -infinity : infinity);
  }
  int64_t findLeaf(const T *row, int64_t node) const {
    while (instr.getFeatures()[node] >= 0) {
      bool isLeft = row[instr.getFeatures()[node]] <= values[node];
      node = instr.getChildren()[node] + (isLeft ? 0 : 1);
    }
    return node;
  }
  void addLeaf(T *result, int64_t leaf) const {
    const T *own = instr.getWeights()
                       ? weights.data() + instr.getChildren()[leaf] * width
                       : values.data() + leaf;
    for (int64_t i = 0; i < width; ++i)
      result[i] = combineElements(instr.getMode(), result[i], own[i]);
  }

  const TreeEnsembleInstr &instr;
  llvm::ArrayRef<T> values, weights;
  int64_t width = 1;
};

template <typename T>
void runTrees(const Memory &memory, const TreeEnsembleInstr &instr) {
  auto input = getDense<const T>(memory, instr.getInput());
  auto result = getDense<T>(memory, instr.getResult());
  int64_t numFeatures = instr.getInput()->getType().getDim(1);
  int64_t numColumns = instr.getResult()->getType().getDim(1);
  TreeWalker<T> trees(memory, instr);
  for (int64_t row = 0; row < instr.getInput()->getType().getDim(0); ++row)
    trees.run(input.data() + row * numFeatures,
              result.slice(size_t(row * numColumns), size_t(numColumns)));
}

} // namespace

void interpreter::runTreeEnsemble(const Memory &memory,
                                  const TreeEnsembleInstr &instr) {
  if (instr.getInput()->getType().getKind() == ElemKind::Double)
    runTrees<double>(memory, instr);
  else
    runTrees<float>(memory, instr);
}
