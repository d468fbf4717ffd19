//===- ImportedOp.cpp - An operator of a model being imported -------------===//

#include "Common/ImportedOp.h"
#include "Common/ExtentFinder.h"
#include "glowish/Support/Escape.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

//===- Inputs -------------------------------------------------------------===//

llvm::Expected<std::shared_ptr<const Tensor>>
ImportedOp::getConstantPayload(unsigned index) const {
  NodeValue value = input(index);
  if (auto *constant = value.getNodeAs<Constant>())
    return constant->getPayload();
  auto *placeholder = value.getNodeAs<Placeholder>();
  if (placeholder && basis.variables) {
    auto found = basis.variables->find(placeholder->getModelName().str());
    if (found != basis.variables->end())
      return found->second;
  }
  if (!value)
    return refuseInput(index, "a constant");
  return makeError("{0} is computed when the model runs; accepted: a constant",
                   nameInput(index));
}

llvm::Expected<const Tensor *> ImportedOp::getConstant(unsigned index) const {
  GLOWISH_ASSIGN_OR_RETURN(std::shared_ptr<const Tensor> payload,
                           getConstantPayload(index));
  return payload.get();
}

llvm::Expected<std::vector<int64_t>>
ImportedOp::getConstantInts(unsigned index, unsigned mostRank) const {
  GLOWISH_ASSIGN_OR_RETURN(const Tensor *tensor, getConstant(index));
  if (!isIntegerKind(tensor->getType().getKind()) ||
      tensor->getType().getRank() > mostRank)
    return refuseInput(index,
                       mostRank == 1 ? "a list of integers" : "integers");
  std::vector<int64_t> values;
  values.reserve(size_t(tensor->getNumElements()));
  for (int64_t i = 0; i < tensor->getNumElements(); ++i)
    values.push_back(tensor->getAsInt(i));
  return values;
}

llvm::Expected<int64_t> ImportedOp::getConstantInt(unsigned index) const {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> values, getConstantInts(index));
  if (values.size() != 1)
    return refuseInput(index, "one integer");
  return values[0];
}

llvm::Expected<double> ImportedOp::getConstantNumber(unsigned index) const {
  GLOWISH_ASSIGN_OR_RETURN(const Tensor *tensor, getConstant(index));
  if (tensor->getNumElements() != 1)
    return refuseInput(index, "one element");
  return tensor->getAsDouble(0);
}

llvm::Expected<int64_t> ImportedOp::getConstantAxis(unsigned index,
                                                    size_t rank) const {
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, getConstantInt(index));
  return normalizeAxis(axis, unsigned(rank));
}

llvm::Expected<std::vector<Extent>>
ImportedOp::getExtents(unsigned index) const {
  if (!input(index).getNodeAs<Constant>())
    if (auto extents = findExtents(module, input(index)))
      return std::move(*extents);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> values, getConstantInts(index));
  return std::vector<Extent>(values.begin(), values.end());
}

llvm::Expected<std::vector<std::optional<Extent>>>
ImportedOp::findEachExtent(unsigned index) const {
  if (!input(index).getNodeAs<Constant>())
    if (auto extents = glowish::findEachExtent(module, input(index)))
      return std::move(*extents);
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> values, getConstantInts(index));
  return std::vector<std::optional<Extent>>(values.begin(), values.end());
}

//===- Refusals -----------------------------------------------------------===//

std::string ImportedOp::nameInput(unsigned index) const {
  llvm::StringRef name = getInputName(index);
  std::string text = "input " + std::to_string(index);
  return name.empty() ? text : text + " (" + quote(name) + ")";
}

std::string ImportedOp::describeInput(unsigned index) const {
  NodeValue value = input(index);
  return value ? value.getType().str() : "absent";
}

llvm::Error ImportedOp::refuseInput(unsigned index,
                                    const llvm::Twine &accepted) const {
  return makeError("{0} is {1}; accepted: {2}", nameInput(index),
                   describeInput(index), accepted.str());
}

llvm::Error ImportedOp::checkRank(unsigned index, unsigned rank) const {
  if (input(index) && getShape(index).size() == rank)
    return llvm::Error::success();
  return refuseInput(index, "rank " + llvm::Twine(rank));
}

llvm::Error ImportedOp::checkKind(unsigned index,
                                  llvm::ArrayRef<ElemKind> accepted) const {
  if (input(index) && llvm::is_contained(accepted, getKind(index)))
    return llvm::Error::success();
  return refuseInput(
      index, llvm::join(llvm::map_range(accepted, getElemKindName), ", "));
}

llvm::Error ImportedOp::checkFloat(unsigned index) const {
  return checkKind(index, ElemKind::Float);
}

llvm::Error ImportedOp::checkIntegers(unsigned index) const {
  if (input(index) && isIntegerKind(getKind(index)))
    return llvm::Error::success();
  return refuseInput(index, "integers");
}

llvm::Error ImportedOp::checkKnown(unsigned index, llvm::ArrayRef<int64_t> dims,
                                   llvm::StringRef why) const {
  for (int64_t dim : dims)
    if (input(index).getType().getExtent(unsigned(dim)))
      return refuseInput(index, "an extent of dimension " + llvm::Twine(dim) +
                                    " that no run decides" +
                                    (why.empty() ? "" : ", as ") + why);
  return llvm::Error::success();
}

//===- Creating nodes -----------------------------------------------------===//

llvm::Expected<NodeValue> ImportedOp::createNamed(llvm::StringRef name,
                                                  NodeDraft draft) {
  return createFolded(getFunction(), name, std::move(draft), basis.evaluate,
                      basis.budget);
}

llvm::Expected<NodeValue> ImportedOp::create(NodeDraft draft) {
  return createNamed(getName(), std::move(draft));
}

NodeValue ImportedOp::createConstant(std::shared_ptr<const Tensor> tensor) {
  return module.createConstant(getName(), std::move(tensor));
}

NodeValue ImportedOp::ints(ElemKind kind, DimsRef shape,
                           llvm::ArrayRef<int64_t> values) {
  if (hasFailed())
    return {};
  Tensor tensor(Type(kind, shape));
  dispatchElemKind(kind, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>)
      for (auto [to, from] : llvm::zip_equal(tensor.data<T>(), values))
        to = T(from);
    else
      for (auto [i, from] : llvm::enumerate(values))
        tensor.setFromDouble(int64_t(i), double(from));
  });
  return createConstant(std::move(tensor));
}

NodeValue ImportedOp::makeRecorded(NodeKind kind,
                                   llvm::ArrayRef<NodeValue> operands,
                                   llvm::ArrayRef<double> defaults) {
  NodeDraft draft{kind, {operands.begin(), operands.end()}, {}};
  for (auto [attr, value] :
       llvm::zip_equal(getNodeInfo(kind).attrs, defaults)) {
    double number = readNumber(attr.name, value);
    draft.attrs.push_back(number);
  }
  if (hasFailed() || llvm::is_contained(operands, NodeValue()))
    return {};
  return keep(create(std::move(draft)));
}

NodeValue ImportedOp::splatLike(ElemKind kind, const Type &type, double value) {
  NodeValue x = splat(kind, type.getShape(), value);
  return x ? declareExtents(x, x.getType().withExtents(type.getExtents())) : x;
}
