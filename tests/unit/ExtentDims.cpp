//===- ExtentDims.cpp - Random dimensions with extents --------------------===//

#include "ExtentDims.h"

using namespace glowish;

int64_t glowish::pick(Random &random, int64_t low, int64_t high) {
  return low + int64_t(random.below(uint64_t(high - low + 1)));
}

std::string Dim::str() const {
  return isOpen ? std::to_string(bound) + "{" + expression + "}"
                : std::to_string(bound);
}

std::string Dim::attr() const {
  return isOpen ? std::to_string(bound) + "?{" + expression + "}" : str();
}

Dim glowish::fix(int64_t extent) {
  return {std::to_string(extent), extent, extent, extent, false};
}

Dim glowish::makeOpenDim(Random &random, int64_t least) {
  static const Dim all[] = {{"N", 0, 4, 0, true},
                            {"M", 1, 3, 0, true},
                            {"L", 2, 6, 0, true},
                            {"2*N", 0, 8, 0, true},
                            {"N + M", 1, 7, 0, true},
                            {"(N + 1)//2", 0, 2, 0, true},
                            {"3*L - N", 2, 18, 0, true},
                            {"L + 2", 4, 8, 0, true},
                            {"M*L", 2, 18, 0, true},
                            {"2*M + 1", 3, 7, 0, true},
                            {"(L + N)//3 + 2", 2, 5, 0, true}};
  for (;;) {
    Dim dim = all[random.below(std::size(all))];
    if (dim.low < least)
      continue;
    dim.bound = dim.high + pick(random, 0, 2);
    return dim;
  }
}

Dim glowish::makeDim(Random &random, int64_t least) {
  if (random.below(2))
    return makeOpenDim(random, least);
  return fix(pick(random, std::max<int64_t>(least, 1), 5));
}

DimVector glowish::makeDims(Random &random, unsigned rank) {
  DimVector dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back(makeDim(random));
  return dims;
}

DimVector glowish::makeDims(Random &random) {
  return makeDims(random, 1 + unsigned(random.below(3)));
}

std::string glowish::makeType(llvm::StringRef kind, llvm::ArrayRef<Dim> dims) {
  std::string text = kind.str() + "<";
  for (const Dim &dim : dims)
    text += (text.back() == '<' ? "" : "x") + dim.str();
  return text + ">";
}

std::string glowish::makeList(llvm::ArrayRef<Dim> dims) {
  std::string text = "[";
  for (const Dim &dim : dims)
    text += (text.size() == 1 ? "" : ", ") + dim.attr();
  return text + "]";
}

Dim glowish::multiplyDim(const Dim &dim, int64_t factor) {
  if (!dim.isOpen)
    return fix(dim.bound * factor);
  return {"(" + dim.expression + ")*" + std::to_string(factor),
          dim.low * factor, dim.high * factor, dim.bound * factor, true};
}
