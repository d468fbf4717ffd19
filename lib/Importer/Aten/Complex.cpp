//===- Complex.cpp - Operators on complex tensors -------------------------===//

#include "Aten/Complex.h"
#include "Aten/ElementImporters.h"

using namespace glowish;
using namespace glowish::aten;
using Base = AtenType::Base;

//===- Registry -----------------------------------------------------------===//

/// The importers for complex tensors; created on first use.
static AtenElementImporters &getImporters() {
  static AtenElementImporters importers(AtenElements::RealOrComplex);
  return importers;
}

AtenComplexOperators::AtenComplexOperators(
    AtenImporter importer, std::initializer_list<llvm::StringLiteral> names) {
  getImporters().add(importer, names);
}

bool aten::isPartwise(llvm::StringRef name) {
  static const llvm::StringSet<> names =
      splitWords("_to_copy _unsafe_view add alias cat chunk clone concat "
                 "concatenate constant_pad_nd contiguous copy cumsum detach "
                 "diagonal empty empty_like expand expand_as flatten flip "
                 "full full_like gather hstack index index_select "
                 "masked_fill mean moveaxis movedim narrow neg negative "
                 "new_empty new_full new_zeros numpy_T pad permute positive "
                 "repeat reshape roll scalar_tensor select select_scatter "
                 "slice slice_scatter split split_with_sizes squeeze stack "
                 "sub subtract sum swapaxes swapdims t tensor_split tile to "
                 "transpose tril triu unbind unflatten unsafe_chunk "
                 "unsafe_split unsqueeze view vstack where zero zeros "
                 "zeros_like");
  return names.contains(name);
}

bool aten::isOfBothParts(llvm::StringRef name) {
  static const llvm::StringSet<> names =
      splitWords("condition index indices mask");
  return names.contains(name);
}

/// Returns whether the operator \p name is linear in each of its two tensors.
static bool isBilinear(llvm::StringRef name) {
  static const llvm::StringSet<> names =
      splitWords("bmm einsum linear matmul mm mul multiply mv");
  return names.contains(name);
}

bool aten::hasComplex(const AtenValue &value) {
  if (value.is<AtenValue::List>())
    return llvm::any_of(value.get<AtenValue::List>(), hasComplex);
  return value.isComplex() || value.is<AtenComplexKind>();
}

std::optional<ElemKind> aten::getPartKind(int64_t number) {
  // ComplexHalf, ComplexFloat, ComplexDouble.
  return number >= 8 && number <= 10 ? getAtenKind(number - complexKindDistance)
                                     : std::nullopt;
}

ComplexParts aten::splitPairs(NodeBuilder &b, NodeValue pairs) {
  DimsRef shape = pairs.getShape();
  int64_t axis = int64_t(shape.size()) - 1;
  auto take = [&](int64_t part) {
    return b.reshape(b.slice(pairs, axis, part, 1), shape.drop_back());
  };
  return {take(0), take(1)};
}

NodeValue aten::joinPairs(NodeBuilder &b, ComplexParts value) {
  if (!value.real || !value.imaginary)
    return {};
  auto axis = int64_t(value.real.getShape().size());
  return b.concat(
      {b.unsqueeze(value.real, axis), b.unsqueeze(value.imaginary, axis)},
      axis);
}

ComplexParts aten::multiply(NodeBuilder &b, ComplexParts x, ComplexParts y) {
  if (!x.imaginary || !y.imaginary) {
    if (x.imaginary)
      std::swap(x, y);
    return {b.mul(x.real, y.real), b.mul(x.real, y.imaginary)};
  }
  return {b.sub(b.mul(x.real, y.real), b.mul(x.imaginary, y.imaginary)),
          b.add(b.mul(x.real, y.imaginary), b.mul(x.imaginary, y.real))};
}

namespace {

/// Imports an operator by what it makes of the parts.
class PartsImporter {
public:
  PartsImporter(const RegisteredAtenOp &op, Function &function,
                llvm::StringRef name, AtenValue::List arguments,
                AtenContext &context)
      : op(op), function(function), name(name), arguments(std::move(arguments)),
        context(context), b(function, name) {}

  llvm::Expected<AtenValue::List> importPartwise();
  llvm::Expected<AtenValue::List> importBilinear();

private:
  /// Imports the operator on real tensors.
  llvm::Expected<AtenValue::List> run(AtenValue::List own) {
    GLOWISH_RETURN_IF_ERROR(b.takeError());
    return importAtenOperator(op, function, name, std::move(own), context);
  }
  AtenValue takeZero(const AtenValue &value);
  AtenValue takePart(const AtenArgument &argument, const AtenValue &value,
                     bool isImaginary);
  llvm::Expected<AtenValue> join(const AtenValue &real,
                                 const AtenValue &imaginary) const;

  const RegisteredAtenOp &op;
  Function &function;
  llvm::StringRef name;
  AtenValue::List arguments;
  AtenContext &context;
  NodeBuilder b;
};

} // namespace

/// Returns 0 in the place of the real \p value.
AtenValue PartsImporter::takeZero(const AtenValue &value) {
  if (!value.isTensor())
    return value.is<double>() ? AtenValue(0.0) : AtenValue(int64_t(0));
  const Type &type = value.get<NodeValue>().getType();
  return b.splat(type.getKind(), type.getShape(), 0);
}

AtenValue PartsImporter::takePart(const AtenArgument &argument,
                                  const AtenValue &value, bool isImaginary) {
  if (value.is<AtenValue::List>()) {
    AtenValue::List own;
    for (const AtenValue &element : value.get<AtenValue::List>())
      own.push_back(takePart(argument, element, isImaginary));
    return own;
  }
  if (value.isComplex()) {
    const auto &[real, imaginary] = value.get<AtenComplex>();
    return isImaginary ? imaginary : real;
  }
  if (value.is<AtenComplexKind>())
    return value.get<AtenComplexKind>().part;
  // Numbers that are added or fill, but no factors and dimensions.
  bool isOperand =
      argument.type.base == Base::Tensor ||
      (argument.type.base == Base::Number && argument.name != "alpha") ||
      (op.schema.name == "pad" && argument.name == "value");
  if (!isImaginary || !isOperand || isOfBothParts(argument.name) ||
      (!value.isTensor() && !value.isNumber()))
    return value;
  return takeZero(value);
}

/// Returns the complex tensor, or the list of them, whose parts an operator
/// made.
llvm::Expected<AtenValue>
PartsImporter::join(const AtenValue &real, const AtenValue &imaginary) const {
  if (real.isTensor() && imaginary.isTensor())
    return AtenValue(
        AtenComplex{real.get<NodeValue>(), imaginary.get<NodeValue>()});
  if (!real.is<AtenValue::List>() || !imaginary.is<AtenValue::List>())
    return real;
  AtenValue::List joined;
  for (auto [x, y] : llvm::zip_equal(real.get<AtenValue::List>(),
                                     imaginary.get<AtenValue::List>())) {
    GLOWISH_ASSIGN_OR_RETURN(AtenValue own, join(x, y));
    joined.push_back(std::move(own));
  }
  return AtenValue(std::move(joined));
}

llvm::Expected<AtenValue::List> PartsImporter::importPartwise() {
  for (auto [argument, value] : llvm::zip_equal(op.schema.arguments, arguments))
    if (value.is<ElemKind>())
      return makeError("argument '{0}' is {1}, and a tensor complex; accepted: "
                       "a complex type, and .real, which is real",
                       argument.name, value.describe());
  AtenValue::List parts[2];
  for (bool isImaginary : {false, true}) {
    AtenValue::List own;
    for (auto [argument, value] :
         llvm::zip_equal(op.schema.arguments, arguments))
      own.push_back(takePart(argument, value, isImaginary));
    GLOWISH_ASSIGN_OR_RETURN(parts[isImaginary], run(std::move(own)));
  }
  AtenValue::List results;
  for (auto [real, imaginary] : llvm::zip_equal(parts[0], parts[1])) {
    GLOWISH_ASSIGN_OR_RETURN(AtenValue own, join(real, imaginary));
    results.push_back(std::move(own));
  }
  return results;
}

/// (a + bi) (c + di) = (ac - bd) + (ad + bc) i.
llvm::Expected<AtenValue::List> PartsImporter::importBilinear() {
  // The operands, and how one is replaced by a part of it.
  std::vector<AtenValue *> operands;
  for (auto [argument, value] : llvm::zip_equal(op.schema.arguments, arguments))
    if (argument.type.base == Base::Tensor && !value.isNone()) {
      if (auto *list = std::get_if<AtenValue::List>(&value.value))
        for (AtenValue &element : *list)
          operands.push_back(&element);
      else
        operands.push_back(&value);
    }
  // The other factor may be a number.
  AtenValue one;
  if (operands.size() == 1)
    operands.push_back(&one);
  if (operands.size() != 2)
    return makeError("it has {0} tensors, some of which are complex; accepted: "
                     "2 tensors",
                     operands.size());
  AtenValue first = *operands[0], second = *operands[1];
  bool isNumber = operands[1] == &one;
  auto multiply = [&](bool isFirst,
                      bool isSecond) -> llvm::Expected<NodeValue> {
    auto take = [](const AtenValue &value, bool isImaginary) {
      if (!value.isComplex())
        return isImaginary ? AtenValue() : value;
      const auto &[real, imaginary] = value.get<AtenComplex>();
      return AtenValue(isImaginary ? imaginary : real);
    };
    *operands[0] = take(first, isFirst);
    *operands[1] = take(second, isSecond);
    if (operands[0]->isNone() ||
        (operands[1]->isNone() && (!isNumber || isSecond)))
      return NodeValue();
    GLOWISH_ASSIGN_OR_RETURN(AtenValue::List results, run(arguments));
    return results[0].get<NodeValue>();
  };
  GLOWISH_ASSIGN_OR_RETURN(NodeValue real, multiply(false, false));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue negative, multiply(true, true));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue imaginary, multiply(false, true));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue other, multiply(true, false));
  if (negative)
    real = b.sub(real, negative);
  if (other)
    imaginary = imaginary ? b.add(imaginary, other) : other;
  GLOWISH_RETURN_IF_ERROR(b.takeError());
  return AtenValue::List{AtenComplex{real, imaginary}};
}

llvm::Expected<AtenValue::List> aten::importComplex(const RegisteredAtenOp &op,
                                                    Function &function,
                                                    llvm::StringRef name,
                                                    AtenValue::List arguments,
                                                    AtenContext &context) {
  llvm::StringRef kind = op.schema.name;
  if (AtenImporter importer = getImporters().find(op))
    return getImporters().import(importer, op, function, name,
                                 std::move(arguments), context);
  PartsImporter parts(op, function, name, arguments, context);
  if (isPartwise(kind))
    return parts.importPartwise();
  if (isBilinear(kind))
    return parts.importBilinear();
  for (auto [argument, value] : llvm::zip_equal(op.schema.arguments, arguments))
    if (value.is<AtenComplexKind>())
      return makeError("argument '{0}' is {1}; accepted: real types",
                       argument.name, value.describe());
    else if (hasComplex(value))
      return makeError("argument '{0}' is {1}; accepted: real tensors, such as "
                       "view_as_real() and abs() return",
                       argument.name,
                       value.isComplex() ? value.describe()
                                         : "a list with complex tensors");
  llvm_unreachable("an argument is complex");
}
