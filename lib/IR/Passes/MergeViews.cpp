//===- MergeViews.cpp - One view for each layout --------------------------===//

#include "Accesses.h"
#include "glowish/IR/Passes.h"

using namespace glowish;

/// Replaces \p view by \p other, a view of the same elements.
static void replaceView(Buffer *view, Buffer *other) {
  while (!view->getUsers().empty()) {
    Instruction *user = view->getUsers().back();
    for (unsigned i = 0; i < user->getNumOperands(); ++i)
      if (user->getOperand(i) == view)
        user->setOperand(i, other);
  }
}

/// Merges views of \p root with equal layouts and types, and views of all of
/// the root with the root.
static bool mergeViewsOf(Buffer *root) {
  using Key = std::tuple<int64_t, Dims, Dims, unsigned>;
  std::vector<std::pair<Key, Buffer *>> sorted;
  unsigned position = 0;
  auto add = [&](Buffer *buffer) {
    StridedLayout layout = StridedLayout::of(*buffer);
    // Strides of dimensions of extent 1 must not distinguish views.
    for (unsigned d = 0; d < layout.shape.size(); ++d)
      if (layout.shape[d] == 1)
        layout.strides[d] = 0;
    sorted.push_back(
        {{layout.offset, layout.shape, layout.strides, position++}, buffer});
  };
  add(root);
  for (Buffer *view : root->getViews())
    add(view);
  llvm::sort(sorted,
             [](const auto &a, const auto &b) { return a.first < b.first; });
  bool changed = false;
  Buffer *kept = sorted.front().second;
  for (const auto &entry : llvm::drop_begin(sorted)) {
    Buffer *buffer = entry.second;
    if (!isSame(StridedLayout::of(*buffer), StridedLayout::of(*kept)) ||
        buffer->getType() != kept->getType()) {
      kept = buffer;
      continue;
    }
    changed |= !buffer->getUsers().empty();
    replaceView(buffer, kept);
  }
  return changed;
}

llvm::Expected<bool> glowish::mergeViews(IRFunction &function,
                                         const IRPassContext &) {
  bool changed = false;
  for (const auto &buffer : function.getBuffers())
    if (!buffer->getViews().empty())
      changed |= mergeViewsOf(buffer.get());
  return finishPass(function, changed);
}
