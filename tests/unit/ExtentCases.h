//===- ExtentCases.h - Nodes with random extents ----------------*- C++ -*-===//
//
// Templates (ExtentTemplates.h) of a node each: its operator, the types of its
// operands and its attributes, as parseOp() reads them.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TESTS_UNIT_EXTENTCASES_H
#define GLOWISH_TESTS_UNIT_EXTENTCASES_H

#include "glowish/Base/Extent.h"
#include "glowish/Ops/OpInfo.h"
#include "glowish/Support/Random.h"
#include <functional>
#include <map>
#include <string>

namespace glowish {

/// The symbols of the cases: N, M and L.
const std::map<std::string, IntRange> &getExtentCaseRanges();

using MakeCase = std::function<std::string(Random &)>;

/// The cases of the records that have extent rules, but for element-wise ones.
const std::map<std::string, MakeCase> &getExtentCases();

/// A case of \p info, which is element-wise.
std::string makeElementWiseCase(Random &random, const OpInfo &info);

/// A list of attributes: `[1, 2]`.
std::string makeNumbers(llvm::ArrayRef<int64_t> numbers);

/// The windows of a convolution or a pooling along one dimension.
struct Window {
  int64_t kernel, stride, before, after, dilation;
  /// How many elements there are from the first of a window to its last.
  int64_t getReach() const { return dilation * (kernel - 1) + 1; }
};

/// The strides, pads and dilations of windows with these heights and widths.
std::string makeWindowAttrs(const Window &h, const Window &w);

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_EXTENTCASES_H
