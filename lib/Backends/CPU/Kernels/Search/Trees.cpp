//===- Trees.cpp - Decision trees -----------------------------------------===//
//
// The next node depends on a load by the address of the last one: a way from a
// root to a leaf is a chain of latencies, and a branch at each node would be
// mispredicted as often as not. So several ways are walked side by side,
// without a branch: those of several rows in one tree, or of one row in several
// trees.
//
//===----------------------------------------------------------------------===//

#include "Kernels/KernelOperands.h"
#include "Kernels/Math/EmittedScalar.h"

using namespace glowish;
using llvm::Value;

namespace {

/// The trees of an instruction as data of the kernel.
struct TreeTables {
  TreeTables(KernelBuilder &b, const TreeEnsembleInstr &instr);

  /// For each node the column that it compares, and how far its children are
  /// behind it; both 0 for a leaf, where a way stays.
  llvm::GlobalVariable *features, *offsets;
  /// For each leaf its row of the weights.
  llvm::GlobalVariable *leafRows;
  /// For each tree its root, and the first column of its results.
  llvm::GlobalVariable *roots, *columns;
  /// The lengths of the shortest and the longest way.
  int64_t minDepth, maxDepth;

private:
  void findDepths(const TreeEnsembleInstr &instr);
};

/// Emits the trees of one instruction.
class TreesEmitter {
public:
  TreesEmitter(KernelBuilder &b, const TreeEnsembleInstr &instr,
               const KernelOperands &operands);

  void emit();

private:
  Value *combine(Value *x, Value *y);
  Value *getStart() {
    double infinity = std::numeric_limits<double>::infinity();
    return b.literal(kind,
                     instr.getMode() == "sum"   ? 0
                     : instr.getMode() == "max" ? -infinity
                                                : infinity,
                     1);
  }

  Value *step(Value *node, Value *offset, Value *row, int64_t column);
  Values walkSteps(Values nodes, Value *row, int64_t stride);
  Values walkToLeaves(Values nodes, Value *row, int64_t stride);
  Values walk(Values nodes, Value *row, int64_t stride) {
    return walkToLeaves(walkSteps(std::move(nodes), row, stride), row, stride);
  }
  void addLeaf(Value *leaf, Value *result);
  void fill(Value *first, Value *end);
  void emitSum(Value *row);
  void emitRow(Value *row);
  void emitBlock(Value *first, Value *end, bool hasTail);

  KernelBuilder &b;
  const TreeEnsembleInstr &instr;
  const KernelOperands &operands;
  TreeTables trees;
  ElemKind kind;
  int64_t numRows, numFeatures, numColumns, numTrees;
  /// The weights of a leaf.
  int64_t width;
  /// The ways that are walked side by side.
  int64_t numWays;
  Value *input, *values, *result;
};

} // namespace

/// Returns \p entries as data that is as small as they allow.
static llvm::GlobalVariable *createTable(KernelBuilder &b,
                                         llvm::ArrayRef<int32_t> entries) {
  if (llvm::any_of(entries, [](int32_t x) { return x > INT16_MAX; }))
    return b.createTable(entries);
  std::vector<int16_t> small(entries.begin(), entries.end());
  return b.createTable(llvm::ArrayRef(small));
}

TreeTables::TreeTables(KernelBuilder &b, const TreeEnsembleInstr &instr) {
  size_t numNodes = instr.getFeatures().size();
  std::vector<int32_t> columnsOf(numNodes, 0), behind(numNodes, 0),
      rowsOf(numNodes, 0), firstColumns;
  for (size_t node = 0; node < numNodes; ++node) {
    int64_t child = instr.getChildren()[node];
    if (instr.getFeatures()[node] < 0) {
      rowsOf[node] = int32_t(child);
      continue;
    }
    columnsOf[node] = int32_t(instr.getFeatures()[node]);
    behind[node] = int32_t(child - int64_t(node));
  }
  int64_t width =
      instr.getWeights() ? instr.getWeights()->getType().getDim(1) : 1;
  for (auto [group, count] : llvm::enumerate(instr.getGroups()))
    firstColumns.insert(firstColumns.end(), size_t(count),
                        int32_t(int64_t(group) * width));
  features = createTable(b, columnsOf);
  offsets = createTable(b, behind);
  leafRows = instr.getWeights() ? createTable(b, rowsOf) : nullptr;
  columns = createTable(b, firstColumns);
  roots = createTable(b, std::vector<int32_t>(instr.getRoots().begin(),
                                              instr.getRoots().end()));
  findDepths(instr);
}

void TreeTables::findDepths(const TreeEnsembleInstr &instr) {
  size_t numNodes = instr.getFeatures().size();
  std::vector<int32_t> shortest(numNodes, 0), longest(numNodes, 0);
  // Children are behind their parents.
  for (size_t node = numNodes; node-- > 0;) {
    if (instr.getFeatures()[node] < 0)
      continue;
    size_t child = size_t(instr.getChildren()[node]);
    shortest[node] = 1 + std::min(shortest[child], shortest[child + 1]);
    longest[node] = 1 + std::max(longest[child], longest[child + 1]);
  }
  maxDepth = 0;
  for (int64_t root : instr.getRoots())
    maxDepth = std::max<int64_t>(maxDepth, longest[root]);
  minDepth = maxDepth;
  for (int64_t root : instr.getRoots())
    minDepth = std::min<int64_t>(minDepth, shortest[root]);
}

TreesEmitter::TreesEmitter(KernelBuilder &b, const TreeEnsembleInstr &instr,
                           const KernelOperands &operands)
    : b(b), instr(instr), operands(operands), trees(b, instr),
      kind(instr.getInput()->getType().getKind()),
      numRows(instr.getInput()->getType().getDim(0)),
      numFeatures(instr.getInput()->getType().getDim(1)),
      numColumns(instr.getResult()->getType().getDim(1)),
      numTrees(int64_t(instr.getRoots().size())),
      width(instr.getWeights() ? instr.getWeights()->getType().getDim(1) : 1),
      numWays(b.getTarget().isHosted ? 8 : 1),
      input(operands.getPointer(instr.inputIdx)),
      values(operands.getPointer(instr.valuesIdx)),
      result(operands.getPointer(instr.resultIdx)) {}

Value *TreesEmitter::combine(Value *x, Value *y) {
  if (instr.getMode() == "max")
    return b.maximum(kind, x, y);
  if (instr.getMode() == "min")
    return b.minimum(kind, x, y);
  return (EmittedScalar{&b, x, kind} + EmittedScalar{&b, y, kind}).value;
}

/// Returns the node that follows \p node, whose children are \p offset behind
/// it, for the row that begins \p column elements behind \p row.
Value *TreesEmitter::step(Value *node, Value *offset, Value *row,
                          int64_t column) {
  Value *feature = b.lookUp(trees.features, node);
  Value *x = b.loadElement(kind, row, b.CreateNSWAdd(feature, b.index(column)),
                           /*lanes=*/1);
  Value *value = b.loadElement(kind, values, node, /*lanes=*/1);
  Value *isLeft =
      (EmittedScalar{&b, x, kind} <= EmittedScalar{&b, value, kind}).value;
  return b.CreateAdd(b.CreateAdd(node, offset),
                     b.CreateZExt(b.CreateNot(isLeft), b.getIndexTy()));
}

/// Takes the steps that all ways have. The rows are \p stride elements apart.
Values TreesEmitter::walkSteps(Values nodes, Value *row, int64_t stride) {
  return b.forLoop(trees.minDepth, nodes,
                   [&](Value *, llvm::ArrayRef<Value *> carried) -> Values {
                     Values next;
                     for (auto [i, node] : llvm::enumerate(carried))
                       next.push_back(step(node, b.lookUp(trees.offsets, node),
                                           row, int64_t(i) * stride));
                     return next;
                   });
}

/// Goes on until all ways are at a leaf, where each of them stays.
Values TreesEmitter::walkToLeaves(Values nodes, Value *row, int64_t stride) {
  if (trees.maxDepth == trees.minDepth)
    return nodes;
  llvm::BasicBlock *entry = b.GetInsertBlock();
  auto *loop =
      llvm::BasicBlock::Create(b.getContext(), "way", &b.getFunction());
  auto *done =
      llvm::BasicBlock::Create(b.getContext(), "leaf", &b.getFunction());
  Values offsets, next, nextOffsets;
  for (Value *node : nodes)
    offsets.push_back(b.lookUp(trees.offsets, node));
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::SmallVector<llvm::PHINode *, 16> phis;
  for (Value *start : llvm::concat<Value *>(nodes, offsets)) {
    phis.push_back(b.CreatePHI(b.getIndexTy(), 2));
    phis.back()->addIncoming(start, entry);
  }
  Value *left = b.index(0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    Value *node = phis[i], *offset = phis[nodes.size() + i];
    Value *child = step(node, offset, row, int64_t(i) * stride);
    Value *isLeaf = b.CreateICmpEQ(offset, b.index(0));
    next.push_back(b.CreateSelect(isLeaf, node, child));
    nextOffsets.push_back(b.lookUp(trees.offsets, next.back()));
    left = b.CreateOr(left, nextOffsets.back());
  }
  for (auto [phi, value] :
       llvm::zip_equal(phis, llvm::concat<Value *>(next, nextOffsets)))
    phi->addIncoming(value, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpNE(left, b.index(0)), loop, done);
  b.SetInsertPoint(done);
  return next;
}

/// Combines the weights of \p leaf into those at \p sums.
void TreesEmitter::addLeaf(Value *leaf, Value *sums) {
  Value *own = b.getElement(values, kind, leaf);
  if (instr.getWeights())
    own = b.getElement(operands.getPointer(instr.weightsIdx), kind,
                       b.lookUp(trees.leafRows, leaf), width);
  b.forVectors(width, b.getRegisterLanes(kind), [&](Value *i, unsigned lanes) {
    Value *sum = combine(b.loadElement(kind, sums, i, lanes),
                         b.loadElement(kind, own, i, lanes));
    b.storeElement(kind, sum, sums, i);
  });
}

/// Stores what the results begin with to rows \p first ... \p end - 1.
void TreesEmitter::fill(Value *first, Value *end) {
  b.forLoop(b.scaleIndex(first, numColumns), b.scaleIndex(end, numColumns), 1,
            [&](Value *i) { b.storeElement(kind, getStart(), result, i); });
}

/// Emits the only result of \p row, which stays in a register.
void TreesEmitter::emitSum(Value *row) {
  Value *x = b.getElement(input, kind, row, numFeatures);
  Values sums = b.forGroups(
      numTrees, numWays, {getStart()},
      [&](Value *group, int64_t used, llvm::ArrayRef<Value *> carried) {
        Values nodes;
        for (int64_t i = 0; i < used; ++i)
          nodes.push_back(
              b.lookUp(trees.roots, b.addScaled(b.index(i), group, numWays)));
        Value *sum = carried[0];
        for (Value *leaf : walk(nodes, x, /*stride=*/0))
          sum = combine(sum, b.loadElement(kind, values, leaf, /*lanes=*/1));
        return Values{sum};
      });
  b.storeElement(kind, sums[0], result, row);
}

/// Emits the results of \p row, for which several trees are walked at a time.
void TreesEmitter::emitRow(Value *row) {
  if (numColumns == 1 && !instr.getWeights())
    return emitSum(row);
  fill(row, b.CreateNSWAdd(row, b.index(1)));
  Value *x = b.getElement(input, kind, row, numFeatures);
  Value *sums = b.getElement(result, kind, row, numColumns);
  b.forGroups(numTrees, numWays, [&](Value *group, int64_t used) {
    Values numbers, nodes;
    for (int64_t i = 0; i < used; ++i)
      numbers.push_back(b.addScaled(b.index(i), group, numWays));
    for (Value *number : numbers)
      nodes.push_back(b.lookUp(trees.roots, number));
    nodes = walk(nodes, x, /*stride=*/0);
    for (auto [number, leaf] : llvm::zip_equal(numbers, nodes))
      addLeaf(leaf, b.getElement(sums, kind, b.lookUp(trees.columns, number)));
  });
}

/// Emits rows \p first ... \p end - 1, several at a time for each tree, which
/// stays in the first cache. \p hasTail: whether their number may be other than
/// a multiple of those.
void TreesEmitter::emitBlock(Value *first, Value *end, bool hasTail) {
  Value *whole = end;
  if (hasTail)
    whole = b.CreateNSWAdd(
        first, b.CreateAnd(b.CreateNSWSub(end, first), b.index(-numWays)));
  fill(first, whole);
  b.forLoop(numTrees, [&](Value *tree) {
    Value *root = b.lookUp(trees.roots, tree);
    Value *column = b.lookUp(trees.columns, tree);
    b.forLoop(first, whole, numWays, [&](Value *row) {
      Value *x = b.getElement(input, kind, row, numFeatures);
      Value *sums =
          b.getElement(result, kind, b.addScaled(column, row, numColumns));
      Values leaves = walk(Values(size_t(numWays), root), x, numFeatures);
      for (auto [i, leaf] : llvm::enumerate(leaves))
        addLeaf(leaf, b.getElement(sums, kind, int64_t(i) * numColumns));
    });
  });
  if (hasTail)
    b.forLoop(whole, end, 1, [&](Value *row) { emitRow(row); });
}

void TreesEmitter::emit() {
  int64_t operations = numRows * numTrees * (6 * trees.maxDepth + 2 * width);
  Value *needed = operands.getBound(instr.resultIdx, 0);
  if (numTrees == 0 || numRows < numWays || numWays == 1)
    return b.forTasks(
        numRows, operations, [&](Value *row) { emitRow(row); }, needed);
  constexpr int64_t blockRows = 64;
  bool hasTail = numRows % numWays != 0;
  Value *end = needed ? needed : b.index(numRows);
  // Rows that a run doesn't need may be computed.
  if (needed && !hasTail)
    end = b.scaleIndex(b.divideUp(needed, numWays), numWays);
  b.forTasks((numRows + blockRows - 1) / blockRows, operations,
             [&](Value *block) {
               Value *first = b.scaleIndex(block, blockRows);
               emitBlock(
                   first,
                   b.minIndex(b.CreateNSWAdd(first, b.index(blockRows)), end),
                   hasTail);
             },
             needed ? b.divideUp(needed, blockRows) : nullptr);
}

void glowish::emitTreeEnsemble(KernelBuilder &b, const TreeEnsembleInstr &instr,
                               const KernelOperands &operands) {
  TreesEmitter(b, instr, operands).emit();
}
