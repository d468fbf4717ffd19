//===- NBitsIntegers.cpp - Matmuls of int8 and weights of 8 and 4 bits ----===//
//
// The sums of a block are integers: four pairs of bytes that lie side by side
// are multiplied and added by one instruction where the target has that. At the
// end of a block its sums become floats and are multiplied by the scales of the
// row and of the columns.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Math/DotInstrs.h"
#include "Kernels/NBits/NBitsTiles.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace glowish;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

namespace {

/// How four bytes of weights and of a row are multiplied and added.
enum class QuadForm {
  /// By the target's instruction for signed bytes.
  Signed,
  /// By one for unsigned weights and a signed row.
  Unsigned,
  /// Two pairs are added to 16 bits (pmaddubsw), then two of these sums.
  BytePairs,
  /// Widened to 16 bits, the even and the odd ones.
  Pairs,
  /// One by one.
  Single,
};

class IntegerNBitsMatMul : public NBitsTiles {
public:
  IntegerNBitsMatMul(KernelBuilder &b, const CPUMatMulNBitsInstr &instr,
                     const KernelOperands &operands)
      : NBitsTiles(b, instr, operands), form(chooseForm()) {}

private:
  RowTile chooseTile(int64_t numRows) const override;
  RowTile chooseSmallTile() const override {
    return {.rows = 2, .vectors = b.getTarget().numVectorRegisters / 4};
  }
  void prepare() override;
  void beginTile(Value *row, const RowTile &shape) override;
  Values computeTile(Value *row, const RowTile &shape,
                     const Columns &columns) override;

  QuadForm chooseForm() const;
  /// What the integers that are multiplied have more than the weights.
  int getBias() const {
    bool isUnsigned = form == QuadForm::Unsigned && !layout.hasHalfBytes();
    return layout.getBias() + (isUnsigned ? 128 : 0);
  }
  bool hasZeroPoints() const { return zeroPoints || getBias(); }
  /// Whether sums of half bytes are of 16 bits for the rows of a segment.
  bool keepsPairs() const {
    return form == QuadForm::BytePairs && layout.hasHalfBytes();
  }
  /// A vector of \p count times as many lanes of \p bits bits.
  llvm::Type *getLaneTy(unsigned bits, unsigned count) {
    return KernelBuilder::getVectorTy(b.getIntNTy(bits), lanes * count);
  }
  Value *repeatByte(uint8_t byte) {
    return llvm::ConstantInt::get(getLaneTy(32, 1), 0x01010101u * byte);
  }
  Value *loadQuad(Value *row, Value *k);
  Values splitWords(Value *words);
  Value *multiplyBytes(Value *weights, Value *x);
  Value *addPairSums(Value *sums, Value *pairs);
  Value *addQuad(Value *sums, Value *taken, Value *x);
  Value *sumRow(Value *row, Value *k);
  void sumRows(Value *row, unsigned count);
  Values addWord(Value *row, Value *k, const RowTile &shape, Value *address,
                 int64_t width, Values sums);
  Values addSegment(Value *row, Value *k, const RowTile &shape, Value *address,
                    int64_t width, int64_t words, Values sums);
  Values sumBlock(Value *row, const RowTile &shape, const Columns &columns,
                  Value *number);
  Values addBlock(Value *row, const RowTile &shape, const Columns &columns,
                  Value *number, llvm::ArrayRef<Value *> totals);

  QuadForm form;
  /// Floats: the sums of the integers of each block of a tile's rows.
  Value *rowSums = nullptr;
};

} // namespace

//===- Forms --------------------------------------------------------------===//

QuadForm IntegerNBitsMatMul::chooseForm() const {
  switch (b.getTarget().dot) {
  case DotInstr::SignedQuads:
    return QuadForm::Signed;
  case DotInstr::UnsignedQuads:
    return QuadForm::Unsigned;
  case DotInstr::Pairs:
    // Signs of bytes are applied by an instruction that AVX-512 lacks.
    if (lanes == 8 || (lanes == 16 && layout.hasHalfBytes()))
      return QuadForm::BytePairs;
    return QuadForm::Pairs;
  case DotInstr::BFloat16Pairs:
  case DotInstr::None:
    break;
  }
  return QuadForm::Single;
}

/// One row is as wide as a panel, so that this is read in order.
RowTile IntegerNBitsMatMul::chooseTile(int64_t numRows) const {
  unsigned half = b.getTarget().numVectorRegisters / 2;
  if (numRows == 1)
    return {.rows = 1,
            .vectors =
                std::min(unsigned(NBitsLayout::panelColumns) / lanes, half),
            .isFew = true};
  constexpr int64_t most = 4;
  int64_t numTiles = int64_t(llvm::divideCeil(numRows, most));
  return {.rows = unsigned(llvm::divideCeil(numRows, numTiles)),
          .vectors = std::max(2u, half / unsigned(most))};
}

//===- Four pairs of bytes ------------------------------------------------===//

/// Elements \p k ... of a row, in each lane.
Value *IntegerNBitsMatMul::loadQuad(Value *row, Value *k) {
  Value *bytes = b.loadStrided(ElemKind::Int8, getLhsAddress(row, k), 4,
                               lhs.getInnerStride());
  return b.splat(orderBytes(b.CreateBitCast(bytes, b.getInt32Ty())), lanes);
}

/// The bytes that \p words stand for: four rows each.
Values IntegerNBitsMatMul::splitWords(Value *words) {
  if (layout.hasHalfBytes())
    return {b.CreateAnd(words, repeatByte(15)),
            b.CreateAnd(b.CreateLShr(words, 4), repeatByte(15))};
  if (form == QuadForm::Unsigned)
    return {b.CreateXor(words, repeatByte(128))};
  return {words};
}

/// Sums of two pairs multiplied, of 16 bits, which half bytes and bytes other
/// than -128 of the row cannot exceed.
Value *IntegerNBitsMatMul::multiplyBytes(Value *taken, Value *x) {
  llvm::Type *bytes = getLaneTy(8, 4);
  taken = b.CreateBitCast(taken, bytes);
  x = b.CreateBitCast(x, bytes);
  if (!layout.hasHalfBytes()) {
    // |weight| * (x with the sign of the weight).
    x = b.CreateIntrinsic(Intrinsic::x86_avx2_psign_b, {}, {x, taken});
    taken = b.CreateBinaryIntrinsic(Intrinsic::abs, taken, b.getFalse());
  }
  return b.CreateIntrinsic(lanes == 16 ? Intrinsic::x86_avx512_pmaddubs_w_512
                                       : Intrinsic::x86_avx2_pmadd_ub_sw,
                           {}, {taken, x});
}

/// \p sums of 32 bits plus two of \p pairs in each lane.
Value *IntegerNBitsMatMul::addPairSums(Value *sums, Value *pairs) {
  return emitDot(b, DotInstr::Pairs, sums, pairs,
                 llvm::ConstantInt::get(getLaneTy(16, 2), 1));
}

/// \p sums plus the four pairs of bytes of each lane, multiplied.
Value *IntegerNBitsMatMul::addQuad(Value *sums, Value *taken, Value *x) {
  switch (form) {
  case QuadForm::Signed:
    return emitDot(b, DotInstr::SignedQuads, sums, x, taken);
  case QuadForm::Unsigned:
    return emitDot(b, DotInstr::UnsignedQuads, sums, taken, x);
  case QuadForm::BytePairs:
    return addPairSums(sums, multiplyBytes(taken, x));
  case QuadForm::Pairs: {
    auto widen = [&](Value *bytes, bool isEven) {
      bytes = b.CreateBitCast(bytes, getLaneTy(16, 2));
      return b.CreateAShr(isEven ? b.CreateShl(bytes, 8) : bytes, 8);
    };
    for (bool isEven : {true, false})
      sums = emitDot(b, DotInstr::Pairs, sums, widen(x, isEven),
                     widen(taken, isEven));
    return sums;
  }
  case QuadForm::Single:
    for (unsigned byte = 0; byte < 4; ++byte) {
      auto take = [&](Value *bytes) {
        return b.CreateAShr(b.CreateShl(bytes, 24 - 8 * byte), 24);
      };
      sums = b.CreateAdd(sums, b.CreateMul(take(taken), take(x)));
    }
    return sums;
  }
  llvm_unreachable("unknown form");
}

//===- Sums of the rows ---------------------------------------------------===//

void IntegerNBitsMatMul::prepare() {
  if (!hasZeroPoints())
    return;
  rowSums = b.allocate(ElemKind::Float, tile.rows * layout.getNumBlocks());
  if (hasOneRow())
    sumRows(b.index(0), 1);
}

/// The sum of the block of a row that begins at element \p k.
Value *IntegerNBitsMatMul::sumRow(Value *row, Value *k) {
  int64_t stride = lhs.getInnerStride(), bytes = 4 * int64_t(lanes);
  Value *address = getLhsAddress(row, k);
  if (stride == 1 && layout.block % bytes == 0) {
    Values sums = b.forUnrolled(
        layout.block / bytes, 4,
        {llvm::Constant::getNullValue(getLaneTy(32, 1))},
        [&](Value *i, llvm::ArrayRef<Value *> carried) {
          Value *at = b.getElement(address, ElemKind::Int8, i, bytes);
          Value *x = b.CreateAlignedLoad(getLaneTy(32, 1), at, llvm::Align(1));
          return Values{addQuad(carried[0], repeatByte(1), x)};
        });
    return lanes > 1 ? b.CreateAddReduce(sums[0]) : sums[0];
  }
  constexpr unsigned together = 8;
  auto *type = KernelBuilder::getVectorTy(b.getInt32Ty(), together);
  Values sums = b.forUnrolled(
      layout.block / together, 4, {llvm::Constant::getNullValue(type)},
      [&](Value *i, llvm::ArrayRef<Value *> carried) {
        Value *at = b.getElement(address, ElemKind::Int8, i, together * stride);
        Value *x = b.loadStrided(ElemKind::Int8, at, together, stride);
        return Values{b.CreateAdd(carried[0], b.CreateSExt(x, type))};
      });
  return b.CreateAddReduce(sums[0]);
}

/// Writes rowSums of \p count rows from \p row on.
void IntegerNBitsMatMul::sumRows(Value *row, unsigned count) {
  int64_t numBlocks = layout.getNumBlocks();
  b.forLoop(numBlocks, [&](Value *number) {
    Value *k = b.scaleIndex(number, layout.block);
    for (unsigned r = 0; r < count; ++r) {
      Value *sum = sumRow(b.CreateNSWAdd(row, b.index(r)), k);
      Value *at = b.CreateNSWAdd(number, b.index(int64_t(r) * numBlocks));
      b.storeElement(ElemKind::Float, b.CreateSIToFP(sum, b.getFloatTy()),
                     rowSums, at);
    }
  });
}

void IntegerNBitsMatMul::beginTile(Value *row, const RowTile &shape) {
  if (rowSums && !(shape.isFew && hasOneRow()))
    sumRows(row, shape.rows);
}

//===- Tiles --------------------------------------------------------------===//

/// Words of a column that are added in a row; sums of two of as many half
/// bytes, multiplied, fit 16 bits.
static constexpr int64_t segmentWords = 4;

/// \p sums, of pairs where these are kept, plus a word of each column at
/// \p address, multiplied with the rows of x from element \p k on.
Values IntegerNBitsMatMul::addWord(Value *row, Value *k, const RowTile &shape,
                                   Value *address, int64_t width, Values sums) {
  prefetch(shape, address, 4 * width);
  auto loadWord = [&](unsigned v) {
    Value *at = b.getElement(address, ElemKind::Int32, int64_t(v) * lanes);
    return splitWords(orderBytes(b.load(ElemKind::Int32, at, lanes)));
  };
  auto load = [&](unsigned r, unsigned quad) {
    return loadQuad(b.CreateNSWAdd(row, b.index(r)),
                    b.CreateNSWAdd(k, b.index(4 * int64_t(quad))));
  };
  auto add = [&](unsigned r, unsigned v, Value *taken, Value *x) {
    Value *&sum = sums[r * shape.vectors + v];
    sum = keepsPairs() ? b.CreateAdd(sum, multiplyBytes(taken, x))
                       : addQuad(sum, taken, x);
  };
  unsigned quads = layout.hasHalfBytes() ? 2 : 1;
  // Of one row the sums take few registers if words are used as they are
  // loaded; of several rows, x would need the more.
  if (shape.rows == 1) {
    Values x;
    for (unsigned quad = 0; quad < quads; ++quad)
      x.push_back(load(0, quad));
    for (unsigned v = 0; v < shape.vectors; ++v)
      for (auto [taken, each] : llvm::zip_equal(loadWord(v), x))
        add(0, v, taken, each);
    return sums;
  }
  llvm::SmallVector<Values, 8> taken;
  for (unsigned v = 0; v < shape.vectors; ++v)
    taken.push_back(loadWord(v));
  for (unsigned quad = 0; quad < quads; ++quad)
    for (unsigned r = 0; r < shape.rows; ++r) {
      Value *x = load(r, quad);
      for (unsigned v = 0; v < shape.vectors; ++v)
        add(r, v, taken[v][quad], x);
    }
  return sums;
}

/// \p sums plus \p words words of each column, from \p address on, multiplied
/// with the rows of x from element \p k on.
Values IntegerNBitsMatMul::addSegment(Value *row, Value *k,
                                      const RowTile &shape, Value *address,
                                      int64_t width, int64_t words,
                                      Values sums) {
  Values start = sums;
  if (keepsPairs())
    start.assign(sums.size(), llvm::Constant::getNullValue(getLaneTy(16, 2)));
  Values added = b.forLoop(
      words, start, [&](Value *word, llvm::ArrayRef<Value *> carried) {
        Value *at = b.getElement(address, ElemKind::Int32, word, width);
        Value *first = b.addScaled(k, word, layout.getWordRows());
        return addWord(row, first, shape, at, width, Values(carried));
      });
  if (!keepsPairs())
    return added;
  for (auto [sum, pairs] : llvm::zip(sums, added))
    sum = addPairSums(sum, pairs);
  return sums;
}

/// The sums of block \p number, integers.
Values IntegerNBitsMatMul::sumBlock(Value *row, const RowTile &shape,
                                    const Columns &columns, Value *number) {
  int64_t words = layout.block / layout.getWordRows();
  Value *block =
      b.scaleIndex(number, layout.getBlockBytes(layout.block) * columns.width);
  Value *address = b.getElement(columns.weights, ElemKind::Int8,
                                b.addScaled(block, columns.inPanel, 4));
  Value *k = b.scaleIndex(number, layout.block);
  auto add = [&](Value *segment, int64_t count, llvm::ArrayRef<Value *> sums) {
    Value *first = b.scaleIndex(segment, segmentWords);
    return addSegment(
        row, b.addScaled(k, first, layout.getWordRows()), shape,
        b.getElement(address, ElemKind::Int32, first, columns.width),
        columns.width, count, Values(sums));
  };
  Values sums(shape.countSums(),
              llvm::Constant::getNullValue(getLaneTy(32, 1)));
  return b.forGroups(words, segmentWords, sums, add);
}

/// \p totals plus block \p number.
Values IntegerNBitsMatMul::addBlock(Value *row, const RowTile &shape,
                                    const Columns &columns, Value *number,
                                    llvm::ArrayRef<Value *> totals) {
  Values sums = sumBlock(row, shape, columns, number);
  Values factors = loadScales(columns, number, shape);
  Values zeros = loadZeroPoints(columns, number, shape, getBias());
  for (unsigned r = 0; r < shape.rows; ++r) {
    Values index = batch;
    index.append({b.CreateNSWAdd(row, b.index(r)), number});
    auto load = [&](Value *address) {
      return b.splat(b.load(ElemKind::Float, address, 1), lanes);
    };
    Value *rowScale = load(lhsScales.getAddress(b, index));
    Value *at =
        b.CreateNSWAdd(number, b.index(int64_t(r) * layout.getNumBlocks()));
    Value *rowSum =
        rowSums ? load(b.getElement(rowSums, ElemKind::Float, at)) : nullptr;
    for (unsigned v = 0; v < shape.vectors; ++v) {
      Value *&sum = sums[r * shape.vectors + v];
      sum = b.CreateSIToFP(sum, b.getComputeTy(ElemKind::Float, lanes));
      if (rowSum)
        sum = b.multiplyAdd(b.CreateFNeg(zeros[v]), rowSum, sum);
      sum = b.multiplyAdd(sum, b.CreateFMul(factors[v], rowScale),
                          totals[r * shape.vectors + v]);
    }
  }
  return sums;
}

Values IntegerNBitsMatMul::computeTile(Value *row, const RowTile &shape,
                                       const Columns &columns) {
  assert(layout.depth % layout.block == 0 && "blocks are not whole");
  Values zeros(shape.countSums(), splatLiteral(0));
  return b.forLoop(layout.getNumBlocks(), zeros,
                   [&](Value *number, llvm::ArrayRef<Value *> carried) {
                     return addBlock(row, shape, columns, number, carried);
                   });
}

void glowish::emitIntegerMatMulNBits(KernelBuilder &b,
                                     const CPUMatMulNBitsInstr &instr,
                                     const KernelOperands &operands) {
  IntegerNBitsMatMul(b, instr, operands).emit();
}
