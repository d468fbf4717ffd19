//===- WeightPool.cpp - Value names and weights of a model ----------------===//

#include "ONNX/WeightPool.h"
#include "glowish/Base/Packing.h"
#include "glowish/Base/Permute.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

using namespace glowish;

//===- Layouts ------------------------------------------------------------===//

Layout glowish::getIdentityLayout(unsigned rank) {
  Layout layout(rank);
  std::iota(layout.begin(), layout.end(), 0);
  return layout;
}

bool glowish::isIdentity(const Layout &layout) {
  return layout == getIdentityLayout(layout.size());
}

Layout glowish::invert(const Layout &layout) {
  Layout inverse(layout.size());
  for (size_t i = 0; i < layout.size(); ++i)
    inverse[layout[i]] = int64_t(i);
  return inverse;
}

Layout glowish::compose(const Layout &inner, llvm::ArrayRef<int64_t> outer) {
  Layout composed;
  for (int64_t axis : outer)
    composed.push_back(inner[axis]);
  return composed;
}

//===- Names and weights --------------------------------------------------===//

std::string WeightPool::takeName(llvm::StringRef base) {
  std::string name = base.empty() ? "value" : base.str();
  std::string candidate = name;
  while (true) {
    auto [entry, isNew] = names.try_emplace(candidate, 0);
    if (isNew)
      return candidate;
    candidate = name + "_" + std::to_string(++names[name]);
  }
}

OnnxValue WeightPool::add(std::string name, Type type,
                          std::shared_ptr<const Tensor> payload) {
  OnnxValue value{name, type.getKind()};
  if (isPacked(type.getKind())) {
    std::string bytes = packElements(*payload);
    Type packed(ElemKind::UInt8, {int64_t(bytes.size())});
    payload = std::make_shared<Tensor>(Tensor::fromValues<uint8_t>(
        packed, llvm::arrayRefFromStringRef(bytes)));
  }
  weights.push_back({std::move(name), std::move(type), std::move(payload)});
  return value;
}

OnnxValue WeightPool::get(const Constant &constant, const Layout &layout) {
  OnnxValue &value = constants[{&constant, layout}];
  if (value)
    return value;
  std::shared_ptr<const Tensor> payload = constant.getPayload();
  Type type = payload->getType();
  Dims shape(layout.size() - type.getRank(), 1);
  llvm::append_range(shape, type.getShape());
  type = type.withShape(shape);
  if (!isIdentity(layout)) {
    // Borrows the payload, which is only read.
    Tensor expanded =
        Tensor::borrow(type, const_cast<void *>(payload->getBytes()));
    payload = std::make_shared<Tensor>(permute(expanded, layout));
    type = payload->getType();
  }
  value = add(takeName(constant.getName()), type, std::move(payload));
  return value;
}

OnnxValue WeightPool::getSmall(Tensor tensor, llvm::StringRef name) {
  std::string key = tensor.getType().str() + ":";
  llvm::ArrayRef<uint8_t> bytes = tensor.getByteRange();
  key.append(bytes.begin(), bytes.end());
  OnnxValue &value = smallTensors[key];
  if (!value) {
    Type type = tensor.getType();
    value =
        add(takeName(name), type, std::make_shared<Tensor>(std::move(tensor)));
  }
  return value;
}
