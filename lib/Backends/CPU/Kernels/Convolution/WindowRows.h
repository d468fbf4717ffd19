//===- WindowRows.h - The rows under windows, on the stack ------*- C++ -*-===//
//
// The rows of an image that the windows of an output row cover are copied into
// memory on the stack, each once, as what a kernel multiplies. Columns and rows
// outside of the image are there, too: a kernel has no borders. A row stays
// until it is under no window, and its place is then the next one's.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_WINDOWROWS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_WINDOWROWS_H

#include "Kernels/Convolution/Convolution.h"

namespace glowish {

/// The sizes of the memory for the rows under the windows of some columns.
struct RowsLayout {
  /// \p columnStride: elements of \p kind from a column to the next.
  /// \p outColumns: output columns whose windows are there at a time.
  /// \p reach: elements that a kernel may read behind the last column.
  RowsLayout(const ConvolutionShape &shape, ElemKind kind, int64_t columnStride,
             int64_t outColumns, int64_t reach);

  ElemKind kind;
  /// Rows from the first under a window to the last, and columns.
  int64_t rows, columns;
  /// Elements from a column to the next, and from a row to the next.
  int64_t columnStride, rowStride;

  int64_t getBytes() const {
    return int64_t(getElemSize(kind)) * rows * rowStride;
  }
};

/// As many of the columns of the output as need no more than \p usualBytes,
/// whole tiles of \p pixels; 0 where not even one of those fits the stack of
/// \p target. \p getLayout makes the layout for a number of columns.
int64_t chooseRowColumns(const ConvolutionShape &shape, int64_t pixels,
                         int64_t usualBytes, const TargetDescription &target,
                         llvm::function_ref<RowsLayout(int64_t)> getLayout);

/// Space for \p count elements of \p kind on the stack, aligned as that is.
llvm::Value *allocateSpace(KernelBuilder &b, ElemKind kind, int64_t count);

class WindowRows {
public:
  virtual ~WindowRows() = default;

  /// Turns to the windows from \p outColumn on, of the channels of \p group:
  /// no row is there.
  void begin(llvm::Value *batch, llvm::Value *group, llvm::Value *outColumn);
  /// Copies the rows under the windows of output row \p outRow that those of
  /// the row before it, which had its turn, did not cover.
  void load(llvm::Value *outRow);
  /// The address of the first column of row \p kernelRow of the windows of the
  /// output row that was loaded last.
  llvm::Value *getRow(llvm::Value *kernelRow);

protected:
  /// Of \p input, whose channels are side by side. Both are kept.
  WindowRows(KernelBuilder &b, const ConvolutionShape &shape,
             const StridedOperand &input, const RowsLayout &layout);

  /// Copies \p count channels that lie side by side.
  virtual void copyRun(llvm::Value *from, llvm::Value *to,
                       llvm::Value *count) = 0;
  /// Makes the column at \p address one outside of the image.
  virtual void fillColumn(llvm::Value *address) = 0;

  KernelBuilder &b;
  const ConvolutionShape &shape;
  const StridedOperand &input;
  RowsLayout layout;

private:
  llvm::Value *getElement(llvm::Value *base, llvm::Value *number,
                          int64_t stride) {
    return b.getElement(base, layout.kind, b.scaleIndex(number, stride));
  }
  llvm::Value *getPlace(llvm::Value *number);
  void copyRow(llvm::Value *number);
  void copyColumns(llvm::Value *from, llvm::Value *to);
  void fill(llvm::Value *address, llvm::Value *columns);

  llvm::Value *space;
  /// The input under channel 0 of the group in row 0, column 0; and the column
  /// of the image that is the first one there.
  llvm::Value *image = nullptr, *firstColumn = nullptr;
  /// Columns of this memory that lie in the image.
  llvm::Value *low = nullptr, *high = nullptr;
  /// The addresses of the rows of the current windows, one a kernel row: all of
  /// them in a table where there are several.
  llvm::Value *firstRow = nullptr, *table = nullptr;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_WINDOWROWS_H
