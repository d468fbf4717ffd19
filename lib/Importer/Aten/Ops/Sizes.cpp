//===- Sizes.cpp - Extents, and checks of what is known -------------------===//

#include "Aten/AtenOp.h"

using namespace glowish;
using namespace glowish::aten;

static llvm::Error importSymSize(AtenOp &op) {
  if (op.getRank("self") == 0)
    return op.refuse("self", "rank 1 and more");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.axis("dim", op.getRank("self")));
  return op.setResult(AtenValue::ofExtent(
      op.tensor("self").getType().getLength(unsigned(axis))));
}

static llvm::Error importSymNumel(AtenOp &op) {
  std::optional<Extent> count =
      multiplyAll(op.tensor("self").getType().getLengths());
  if (!count)
    return op.refuse("self", "fewer extents that a run decides");
  return op.setResult(AtenValue::ofExtent(*count));
}

/// What was checked when the program was exported.
static llvm::Error importNothing(AtenOp & /*op*/) {
  return llvm::Error::success();
}

static AtenOperators
    sizes({{importSymSize, {"sym_size.int(Tensor self, int dim) -> int"}},
           {importSymNumel, {"sym_numel(Tensor self) -> int"}},
           {importNothing,
            {"_assert_scalar(Scalar self, str assert_msg) -> ()",
             "_assert_async(Tensor self) -> ()",
             "_assert_async.msg(Tensor self, str assert_msg) -> ()",
             "_assert_tensor_metadata(Tensor a, int[]? size=None, int[]? "
             "stride=None, ScalarType? dtype=None, *, Device? device=None, "
             "Layout? layout=None) -> ()",
             "sym_constrain_range(Scalar size, *, int? min=None, int? "
             "max=None) -> ()",
             "sym_constrain_range_for_size(Scalar size, *, int? min=None, "
             "int? max=None) -> ()"}}});
