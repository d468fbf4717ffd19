//===- Fourier.cpp - torch.fft --------------------------------------------===//

#include "Aten/Complex.h"
#include <cmath>

using namespace glowish;
using namespace glowish::aten;

namespace {

/// How an operator transforms along one dimension.
enum class Form {
  /// Complex or real to complex.
  Complex,
  /// Real to the first half of a symmetric spectrum.
  ToHalf,
  /// Such a half to real.
  FromHalf
};

/// The divisor of the results of a transform: none, the root of its length, or
/// its length.
enum class Scale { None, Root, Length };

} // namespace

/// Returns the scale of an operator with the argument `norm`: the inverse
/// transform is divided by the length unless that says otherwise.
static llvm::Expected<Scale> readScale(AtenOp &op, bool isInverse) {
  std::string norm = op.isNone("norm") ? "backward" : op.text("norm");
  if (norm == "ortho")
    return Scale::Root;
  if (norm != "backward" && norm != "forward")
    return makeError("argument 'norm' is '{0}'; accepted: 'backward', 'ortho' "
                     "and 'forward'",
                     norm);
  return (norm == "backward") == isInverse ? Scale::Length : Scale::None;
}

/// Transforms \p x along \p axis, of which \p length elements count, or as many
/// as there are; further ones are 0.
static llvm::Expected<ComplexParts> transform(AtenOp &op, ComplexParts x,
                                              int64_t axis,
                                              std::optional<int64_t> length,
                                              Form form, bool isInverse,
                                              Scale scale) {
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  int64_t extent = x.real.getShape()[size_t(axis)];
  if (!length)
    length = form == Form::FromHalf ? 2 * (extent - 1) : extent;
  if (*length < 1 || *length > maxTensorBytes)
    return makeError("it transforms {0} elements; accepted: 1 to {1}", *length,
                     maxTensorBytes);
  double divisor = scale == Scale::None   ? 1
                   : scale == Scale::Root ? std::sqrt(double(*length))
                                          : double(*length);
  int64_t half = *length / 2 + 1;
  FourierTransform t{.length = *length,
                     .inputs = form == Form::FromHalf ? half : *length,
                     .outputs = form == Form::ToHalf ? half : *length,
                     .isInverse = isInverse,
                     .fromHalf = form == Form::FromHalf,
                     .divisor = divisor};
  return transformFourier(op, x, axis, t);
}

/// Returns the argument `self`, floats. Only that of \p form may be complex.
static llvm::Expected<ComplexParts> getOperand(AtenOp &op, Form form) {
  auto [real, imaginary] = op.complex("self");
  if (form == Form::ToHalf && imaginary)
    return op.refuse("self", "a real tensor");
  if (real.getShape().empty())
    return op.refuse("self", "a tensor with dimensions");
  if (!isFloatKind(real.getElemKind()))
    real = op.cast(real, ElemKind::Float);
  return ComplexParts{real, imaginary};
}

/// Transforms \p x along several dimensions, \p form along the last of them: of
/// real results that is the last step, of real operands the first. \p lengths:
/// of each, or none.
static llvm::Expected<ComplexParts>
transformAll(AtenOp &op, ComplexParts x, llvm::ArrayRef<int64_t> axes,
             llvm::ArrayRef<int64_t> lengths, Form form, bool isInverse,
             Scale scale) {
  for (size_t step = 0; step < axes.size(); ++step) {
    size_t i = form == Form::ToHalf ? axes.size() - 1 - step : step;
    std::optional<int64_t> length;
    if (!lengths.empty() && lengths[i] != -1)
      length = lengths[i];
    bool isLast = i + 1 == axes.size();
    GLOWISH_ASSIGN_OR_RETURN(x, transform(op, x, axes[i], length,
                                          isLast ? form : Form::Complex,
                                          isInverse, scale));
  }
  return x;
}

template <Form form, bool isInverse>
static llvm::Error importTransform(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(ComplexParts x, getOperand(op, form));
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.axis("dim", int64_t(x.real.getShape().size())));
  std::optional<int64_t> length;
  if (!op.isNone("n"))
    length = op.integer("n");
  GLOWISH_ASSIGN_OR_RETURN(Scale scale, readScale(op, isInverse));
  GLOWISH_ASSIGN_OR_RETURN(
      x, transform(op, x, axis, length, form, isInverse, scale));
  return op.setResult(x);
}

/// The dimensions are the last ones, as many as there are lengths, or all, if
/// none are stated.
template <Form form, bool isInverse>
static llvm::Error importTransforms(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(ComplexParts x, getOperand(op, form));
  auto rank = int64_t(x.real.getShape().size());
  std::vector<int64_t> lengths = op.integers("s"), axes = op.integers("dim");
  if (axes.empty() && !lengths.empty())
    for (size_t i = lengths.size(); i > 0; --i)
      axes.push_back(-int64_t(i));
  else if (axes.empty())
    axes = getAllDims(rank);
  if (!lengths.empty() && lengths.size() != axes.size())
    return op.refuse("s", llvm::formatv("{0} ints", axes.size()).str());
  for (int64_t &axis : axes)
    GLOWISH_ASSIGN_OR_RETURN(axis, normalizeAxis(axis, unsigned(rank)));
  GLOWISH_ASSIGN_OR_RETURN(Scale scale, readScale(op, isInverse));
  GLOWISH_ASSIGN_OR_RETURN(
      x, transformAll(op, x, axes, lengths, form, isInverse, scale));
  return op.setResult(x);
}

/// The operators that PyTorch composes these of, which have a number for the
/// scale.
template <Form form> static llvm::Error importComposed(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(ComplexParts x, getOperand(op, form));
  auto rank = int64_t(x.real.getShape().size());
  std::vector<int64_t> axes = op.integers("dim"), lengths;
  for (int64_t &axis : axes)
    GLOWISH_ASSIGN_OR_RETURN(axis, normalizeAxis(axis, unsigned(rank)));
  int64_t scale = op.integer("normalization");
  if (scale < 0 || scale > 2)
    return op.refuse("normalization", "0, 1 or 2");
  Form own = form;
  bool isInverse = form == Form::FromHalf;
  if (form == Form::Complex)
    isInverse = !op.flag("forward");
  else if (form == Form::ToHalf)
    own = op.flag("onesided") ? form : Form::Complex;
  if (form == Form::FromHalf && !axes.empty()) {
    lengths.assign(axes.size(), -1);
    lengths.back() = op.integer("last_dim_size");
  }
  GLOWISH_ASSIGN_OR_RETURN(
      x, transformAll(op, x, axes, lengths, own, isInverse, Scale(scale)));
  return op.setResult(x);
}

static AtenOperators alongOne(
    {"(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor"},
    {{importTransform<Form::Complex, false>, {"fft_fft"}},
     {importTransform<Form::Complex, true>, {"fft_ifft"}},
     {importTransform<Form::ToHalf, false>, {"fft_rfft"}},
     {importTransform<Form::FromHalf, true>, {"fft_irfft"}}},
    AtenOrder::Unknown, AtenElements::RealOrComplex);
static AtenOperators
    alongSeveral({"2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? "
                  "norm=None) -> Tensor",
                  "n(Tensor self, int[1]? s=None, int[1]? dim=None, str? "
                  "norm=None) -> Tensor"},
                 {{importTransforms<Form::Complex, false>, {"fft_fft"}},
                  {importTransforms<Form::Complex, true>, {"fft_ifft"}},
                  {importTransforms<Form::ToHalf, false>, {"fft_rfft"}},
                  {importTransforms<Form::FromHalf, true>, {"fft_irfft"}}},
                 AtenOrder::Unknown, AtenElements::RealOrComplex);
static AtenOperators
    composed({{importComposed<Form::Complex>,
               {"_fft_c2c(Tensor self, int[] dim, int normalization, bool "
                "forward) -> Tensor"}},
              {importComposed<Form::ToHalf>,
               {"_fft_r2c(Tensor self, int[] dim, int normalization, bool "
                "onesided) -> Tensor"}},
              {importComposed<Form::FromHalf>,
               {"_fft_c2r(Tensor self, int[] dim, int normalization, int "
                "last_dim_size) -> Tensor"}}},
             AtenOrder::Unknown, AtenElements::RealOrComplex);
