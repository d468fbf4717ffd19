//===- AtenOp.cpp - An operator of ATen being imported --------------------===//

#include "Aten/AtenOp.h"
#include "Aten/Complex.h"
#include "Aten/Quantized.h"
#include "Common/OpenReshape.h"
#include "glowish/Importer/Aten.h"
#include <map>

using namespace glowish;
using namespace glowish::aten;
using Base = AtenType::Base;

//===- Registry -----------------------------------------------------------===//

namespace {
/// A schema, in two parts, as a static object states it.
struct DeclaredOp {
  llvm::StringRef schema, ending;
  AtenImporter importer;
  AtenOrder order;
  AtenElements elements;
  /// The node whose attributes are arguments behind `self`; none of others.
  std::optional<NodeKind> kind = {};

  std::string makeText() const;
};

using AtenRegistry = std::map<std::string, RegisteredAtenOp, std::less<>>;
} // namespace

/// Created on first use, as the order of static initialization across files is
/// unspecified.
static std::vector<DeclaredOp> &getDeclaredOps() {
  static std::vector<DeclaredOp> declared;
  return declared;
}

AtenOperators::AtenOperators(std::initializer_list<llvm::StringLiteral> endings,
                             std::initializer_list<AtenRow> rows,
                             AtenOrder order, AtenElements elements) {
  for (const AtenRow &row : rows)
    for (llvm::StringRef schema : row.schemas)
      for (llvm::StringRef ending : endings)
        getDeclaredOps().push_back(
            {schema, ending, row.importer, order, elements});
}

AtenRecords::AtenRecords(std::initializer_list<AtenRecord> records) {
  for (const AtenRecord &record : records) {
    auto declare = [&](llvm::StringRef ending) {
      getDeclaredOps().push_back({record.name, ending, record.importer,
                                  AtenOrder::ElementWise, AtenElements::Real,
                                  record.kind});
    };
    if (record.numOperands == 1) {
      declare("(Tensor self) -> Tensor");
    } else if (record.kinds == "Bool") {
      declare("(Tensor self, Tensor other) -> Tensor");
    } else {
      declare(".Tensor(Tensor self, Tensor other) -> Tensor");
      declare(".Scalar(Tensor self, Scalar other) -> Tensor");
    }
  }
}

std::string DeclaredOp::makeText() const {
  if (!kind)
    return (schema + ending).str();
  auto [front, back] = ending.split(')');
  std::string text = (schema + front).str();
  for (const AttrInfo &attr : getNodeInfo(*kind).attrs)
    text += llvm::formatv(", Scalar? {0}=None", attr.name);
  return text + ")" + back.str();
}

static AtenRegistry parseDeclaredOps() {
  AtenRegistry registry;
  for (const DeclaredOp &op : getDeclaredOps()) {
    std::string text = op.makeText();
    AtenSchema schema = llvm::cantFail(parseAtenSchema(text));
    std::string name = schema.getFullName();
    RegisteredAtenOp registered{std::move(schema), op.importer, op.order,
                                op.elements, std::move(text)};
    bool isNew = registry.try_emplace(name, std::move(registered)).second;
    assert(isNew && "an operator is registered once");
    (void)isNew;
  }
  return registry;
}

/// The schemas are parsed on first use, which most processes never come to.
static const AtenRegistry &getAtenRegistry() {
  static const AtenRegistry registry = parseDeclaredOps();
  return registry;
}

const RegisteredAtenOp *aten::findAtenOperator(llvm::StringRef name) {
  auto found = getAtenRegistry().find(name);
  return found == getAtenRegistry().end() ? nullptr : &found->second;
}

std::vector<const RegisteredAtenOp *>
aten::findAtenOverloads(llvm::StringRef name) {
  std::vector<const RegisteredAtenOp *> found;
  for (const auto &[own, registered] : getAtenRegistry())
    if (registered.schema.name == name)
      found.push_back(&registered);
  return found;
}

std::vector<AtenOperatorInfo> glowish::listAtenOperators() {
  std::vector<AtenOperatorInfo> list;
  for (const auto &[name, registered] : getAtenRegistry())
    list.push_back({name, registered.text});
  return list;
}

llvm::Expected<AtenValue::List>
aten::importAtenOperator(const RegisteredAtenOp &op, Function &function,
                         llvm::StringRef name, AtenValue::List arguments,
                         AtenContext &context) {
  if (llvm::any_of(arguments, hasComplex))
    return importComplex(op, function, name, std::move(arguments), context);
  if (llvm::any_of(arguments, hasQuantized))
    return importQuantized(op, function, name, std::move(arguments), context);
  AtenOp call(function, name, op.schema, std::move(arguments), context);
  GLOWISH_RETURN_IF_ERROR(call.checkArguments());
  GLOWISH_RETURN_IF_ERROR(op.importer(call));
  GLOWISH_RETURN_IF_ERROR(call.takeError());
  return call.takeResults();
}

//===- Arguments ----------------------------------------------------------===//

AtenOp::AtenOp(Function &function, llvm::StringRef name,
               const AtenSchema &schema, AtenValue::List arguments,
               AtenContext &context)
    : ImportedOp(function, name,
                 {context.evaluate, context.budget, context.isTraining}),
      schema(schema), arguments(std::move(arguments)),
      results(schema.results.size()), context(context) {
  assert(this->arguments.size() == schema.arguments.size());
  convertNumbers();
}

/// Programs write numbers in the place of tensors without dimensions; a float
/// is a double where other tensors are.
void AtenOp::convertNumbers() {
  bool isDouble = llvm::any_of(arguments, [](const AtenValue &value) {
    return value.isTensor() &&
           value.get<NodeValue>().getElemKind() == ElemKind::Double;
  });
  for (auto [i, argument] : llvm::enumerate(schema.arguments)) {
    AtenValue &value = arguments[i];
    if (value.is<Extent>() && !argument.type.isList &&
        (argument.type.base == Base::Tensor ||
         argument.type.base == Base::Number)) {
      extents[i] = value.get<Extent>();
      value = compute(extents[i]);
      continue;
    }
    if (argument.type.base != Base::Tensor || argument.type.isList)
      continue;
    if (value.is<int64_t>())
      value = AtenValue(ints(ElemKind::Int64, {}, {value.get<int64_t>()}));
    else if (value.is<bool>())
      value = AtenValue(scalar(ElemKind::Bool, value.getNumber()));
    else if (value.is<double>())
      value = AtenValue(scalar(isDouble ? ElemKind::Double : ElemKind::Float,
                               value.getNumber()));
  }
}

/// Returns an extent in \p value of which the values do not all fit 64 bits, or
/// null.
static const Extent *findUnbounded(const AtenValue &value,
                                   const SymbolRanges &symbols) {
  if (value.is<Extent>() && !symbols.getRange(value.get<Extent>()))
    return &value.get<Extent>();
  if (value.is<AtenValue::List>())
    for (const AtenValue &element : value.get<AtenValue::List>())
      if (const Extent *extent = findUnbounded(element, symbols))
        return extent;
  return nullptr;
}

/// Returns whether \p value is a tensor, or a type of tensors, that an importer
/// of \p elements takes beside real ones.
static bool isOfElements(AtenElements elements, const AtenArgument &argument,
                         const AtenValue &value) {
  Base base = argument.type.base;
  if (elements == AtenElements::RealOrComplex)
    return value.isComplex() && base == Base::Tensor && !argument.type.isList;
  if (elements != AtenElements::RealOrQuantized)
    return false;
  if (value.is<AtenQuantizedKind>())
    return base == Base::Kind;
  auto isQuantized = [](const AtenValue &own) { return own.isQuantized(); };
  if (base != Base::Tensor || !value.is<AtenValue::List>())
    return base == Base::Tensor && value.isQuantized();
  return argument.type.isList &&
         llvm::all_of(value.get<AtenValue::List>(), isQuantized);
}

llvm::Error AtenOp::checkArguments(AtenElements elements) {
  GLOWISH_RETURN_IF_ERROR(takeError());
  auto checkBound = [&](const AtenArgument &argument,
                        const AtenValue &value) -> llvm::Error {
    if (const Extent *extent = findUnbounded(value, getSymbols()))
      return makeError("argument '{0}' is {1}, of which the largest value does "
                       "not fit 64 bits",
                       argument.name, extent->describe());
    return llvm::Error::success();
  };
  for (auto [argument, value] : llvm::zip_equal(schema.arguments, arguments))
    GLOWISH_RETURN_IF_ERROR(checkBound(argument, value));
  for (const auto &[index, extent] : extents)
    GLOWISH_RETURN_IF_ERROR(
        checkBound(schema.arguments[index], AtenValue::ofExtent(extent)));
  for (auto [argument, value] : llvm::zip_equal(schema.arguments, arguments))
    if (!argument.type.accepts(value) &&
        !isOfElements(elements, argument, value))
      return makeError("argument '{0}' is {1}; accepted: {2}, known when the "
                       "model is compiled unless it is a Tensor",
                       argument.name, value.describe(), argument.type.str());
  return llvm::Error::success();
}

const AtenValue &AtenOp::get(llvm::StringRef argument) const {
  std::optional<unsigned> index = schema.findArgument(argument);
  assert(index && "no argument of the schema");
  return arguments[*index];
}

NodeValue AtenOp::tensor(llvm::StringRef argument) const {
  const AtenValue &value = get(argument);
  return value.isNone() ? NodeValue() : value.get<NodeValue>();
}

ComplexParts AtenOp::complex(llvm::StringRef argument) const {
  const AtenValue &value = get(argument);
  if (!value.isComplex())
    return {tensor(argument), {}};
  const auto &[real, imaginary] = value.get<AtenComplex>();
  return {real, imaginary};
}

std::vector<NodeValue> AtenOp::tensors(llvm::StringRef argument) const {
  std::vector<NodeValue> values;
  for (const AtenValue &value : get(argument).get<AtenValue::List>())
    values.push_back(value.isNone() ? NodeValue() : value.get<NodeValue>());
  return values;
}

int64_t AtenOp::getBound(const Extent &extent) const {
  return getSymbols().getRange(extent)->high;
}

std::optional<int64_t> AtenOp::getBound(llvm::StringRef argument) const {
  std::optional<Extent> own = extent(argument);
  return own && !own->isConstant() ? std::optional(getBound(*own))
                                   : std::nullopt;
}

int64_t AtenOp::getInteger(const AtenValue &value) const {
  return value.is<int64_t>() ? value.get<int64_t>()
                             : getBound(value.get<Extent>());
}

int64_t AtenOp::integer(llvm::StringRef argument) const {
  return getInteger(get(argument));
}

std::optional<Extent> AtenOp::extent(llvm::StringRef argument) const {
  auto found = extents.find(*schema.findArgument(argument));
  return found == extents.end() ? get(argument).getExtent() : found->second;
}

std::vector<int64_t> AtenOp::integers(llvm::StringRef argument) const {
  const AtenValue &value = get(argument);
  std::vector<int64_t> values;
  if (value.is<int64_t>() || value.is<Extent>())
    values.push_back(getInteger(value));
  if (value.is<AtenValue::List>())
    for (const AtenValue &element : value.get<AtenValue::List>())
      values.push_back(getInteger(element));
  return values;
}

std::vector<Extent> AtenOp::lengths(llvm::StringRef argument) const {
  const AtenValue &value = get(argument);
  if (std::optional<Extent> single = value.getExtent())
    return {*single};
  std::vector<Extent> values;
  if (value.is<AtenValue::List>())
    for (const AtenValue &element : value.get<AtenValue::List>())
      values.push_back(*element.getExtent());
  return values;
}

llvm::Expected<std::vector<int64_t>> AtenOp::integers(llvm::StringRef argument,
                                                      size_t length) const {
  std::vector<int64_t> values = integers(argument);
  if (values.size() == 1)
    values.resize(length, values[0]);
  if (values.size() != length)
    return refuse(argument, llvm::formatv("{0} ints", length).str());
  return values;
}

llvm::Expected<double> AtenOp::number(llvm::StringRef argument) const {
  const AtenValue &value = get(argument);
  if (value.isNumber())
    return value.getNumber();
  auto *constant =
      value.isTensor() ? value.get<NodeValue>().getNodeAs<Constant>() : nullptr;
  if (!constant)
    return refuse(argument,
                  "a number that is known when the model is compiled");
  return constant->getTensor().getAsDouble(0);
}

double AtenOp::readNumber(llvm::StringRef name, double defaultValue) {
  return number(name, defaultValue);
}

double AtenOp::number(llvm::StringRef argument, double ifNone) const {
  const AtenValue &value = get(argument);
  return value.isNone() ? ifNone : value.getNumber();
}

std::vector<double> AtenOp::numbers(llvm::StringRef argument) const {
  const AtenValue &value = get(argument);
  std::vector<double> values;
  if (value.isNumber())
    values.push_back(value.getNumber());
  if (value.is<AtenValue::List>())
    for (const AtenValue &element : value.get<AtenValue::List>())
      values.push_back(element.getNumber());
  return values;
}

bool AtenOp::flag(llvm::StringRef argument) const {
  return get(argument).get<bool>();
}

std::string AtenOp::text(llvm::StringRef argument) const {
  const AtenValue &value = get(argument);
  return value.isNone() ? "" : value.get<std::string>();
}

ElemKind AtenOp::kind(llvm::StringRef argument, ElemKind ifNone) const {
  const AtenValue &value = get(argument);
  return value.isNone() ? ifNone : value.get<ElemKind>();
}

llvm::Expected<Type> AtenOp::newType(ElemKind ifNone) const {
  ElemKind own =
      kind("dtype", has("self") ? tensor("self").getElemKind() : ifNone);
  if (has("size"))
    return makeType(own, lengths("size"), getSymbols());
  return tensor("self").getType().withKind(own);
}

llvm::Expected<int64_t> AtenOp::axis(llvm::StringRef argument,
                                     int64_t rank) const {
  return normalizeAxis(integer(argument), unsigned(std::max<int64_t>(rank, 1)));
}

llvm::Expected<std::vector<int64_t>> AtenOp::axes(llvm::StringRef argument,
                                                  int64_t rank) const {
  std::vector<int64_t> values = integers(argument);
  if (values.empty())
    values = getAllDims(rank);
  // A scalar may be reduced along a dimension that it does not have.
  if (rank == 0)
    return std::vector<int64_t>();
  return normalizeAxes(std::move(values), unsigned(rank));
}

NodeValue AtenOp::operand(llvm::StringRef argument, ElemKind kind) {
  const AtenValue &value = get(argument);
  if (value.isTensor())
    return cast(value.get<NodeValue>(), kind);
  // Exact, where a double would not be.
  if (value.is<int64_t>() && isIntegerKind(kind))
    return ints(kind, {}, {value.get<int64_t>()});
  return scalar(kind, value.getNumber());
}

NodeValue AtenOp::scale(NodeValue value, llvm::StringRef factor) {
  const AtenValue &number = get(factor);
  if (!value || (number.isNumber() && number.getNumber() == 1))
    return value;
  return mul(value, operand(factor, value.getElemKind()));
}

llvm::Expected<AtenValue::List> AtenOp::call(llvm::StringRef operatorName,
                                             AtenValue::List operands) {
  GLOWISH_RETURN_IF_ERROR(takeError());
  return importAtenOperator(*findAtenOperator(operatorName), getFunction(),
                            getName(), std::move(operands), context);
}

llvm::Error AtenOp::refuse(llvm::StringRef argument,
                           llvm::StringRef accepted) const {
  return makeError("argument '{0}' is {1}; accepted: {2}", argument,
                   get(argument).describe(), accepted);
}

//===- Element kinds ------------------------------------------------------===//

std::optional<ElemKind> aten::getAtenKind(int64_t number) {
  // Between them are complex numbers and quantized ones.
  static constexpr ElemKind kinds[] = {
      ElemKind::UInt8, ElemKind::Int8,    ElemKind::Int16, ElemKind::Int32,
      ElemKind::Int64, ElemKind::Float16, ElemKind::Float, ElemKind::Double};
  if (number >= 0 && number < int64_t(std::size(kinds)))
    return kinds[number];
  if (number == 11)
    return ElemKind::Bool;
  return number == 15 ? std::optional(ElemKind::BFloat16) : std::nullopt;
}

ElemKind aten::promoteKinds(ElemKind x, ElemKind y) {
  if (x == y || y == ElemKind::Bool)
    return x;
  if (x == ElemKind::Bool)
    return y;
  if (isFloatKind(x) != isFloatKind(y))
    return isFloatKind(x) ? x : y;
  unsigned own = getElemSize(x), other = getElemSize(y);
  if (isFloatKind(x))
    return own != other ? own > other ? x : y : ElemKind::Float;
  if (isSignedIntegerKind(x) == isSignedIntegerKind(y))
    return own > other ? x : y;
  // Of the unsigned kinds tensors have uint8 only.
  ElemKind wide = isSignedIntegerKind(x) ? x : y;
  return wide == ElemKind::Int8 ? ElemKind::Int16 : wide;
}

namespace {

/// What the operands of one priority promote to.
struct PromotedKind {
  std::optional<ElemKind> kind;

  void add(ElemKind other) { kind = kind ? promoteKinds(*kind, other) : other; }
  /// Bools, then integers, then floats.
  static unsigned getCategory(ElemKind kind) {
    return kind == ElemKind::Bool ? 0 : isFloatKind(kind) ? 2 : 1;
  }
  /// \p lower decides only if it is of a higher category.
  PromotedKind over(PromotedKind lower) const {
    if (!kind || !lower.kind)
      return kind ? *this : lower;
    return getCategory(*lower.kind) > getCategory(*kind) ? lower : *this;
  }
};

} // namespace

ElemKind AtenOp::promote(llvm::ArrayRef<llvm::StringRef> names) const {
  PromotedKind dimensioned, scalars, numbers;
  auto add = [&](const AtenValue &value) {
    if (value.isTensor()) {
      const Type &type = value.get<NodeValue>().getType();
      (type.getRank() ? dimensioned : scalars).add(type.getKind());
    } else if (value.isNumber()) {
      numbers.add(value.is<int64_t>()  ? ElemKind::Int64
                  : value.is<double>() ? ElemKind::Float
                                       : ElemKind::Bool);
    }
  };
  for (llvm::StringRef name : names) {
    const AtenValue &value = get(name);
    if (value.is<AtenValue::List>())
      llvm::for_each(value.get<AtenValue::List>(), add);
    else
      add(value);
  }
  return *dimensioned.over(scalars).over(numbers).kind;
}

ElemKind AtenOp::promoteToFloat(llvm::ArrayRef<llvm::StringRef> names) const {
  ElemKind kind = promote(names);
  return isFloatKind(kind) ? kind : ElemKind::Float;
}

NodeValue AtenOp::floating(llvm::StringRef argument) {
  return cast(tensor(argument), promoteToFloat({argument}));
}

NodeValue AtenOp::widen(NodeValue value) {
  if (!value || value.getElemKind() == ElemKind::Double)
    return value;
  return cast(value, ElemKind::Float);
}

NodeValue AtenOp::widenFloat16(NodeValue value) {
  return value && value.getElemKind() == ElemKind::Float16 ? widen(value)
                                                           : value;
}

llvm::Error AtenOp::checkFloat(llvm::StringRef argument) const {
  if (isFloatKind(tensor(argument).getElemKind()))
    return llvm::Error::success();
  return refuse(argument, "floats");
}

//===- Results ------------------------------------------------------------===//

llvm::Error AtenOp::setResult(NodeValue value, unsigned index) {
  GLOWISH_ASSIGN_OR_RETURN(value, finish(value));
  results[index] = value;
  return llvm::Error::success();
}

llvm::Error AtenOp::setResult(llvm::ArrayRef<NodeValue> list, unsigned index) {
  GLOWISH_RETURN_IF_ERROR(takeError());
  results[index] = makeAtenList(list);
  return llvm::Error::success();
}

llvm::Error AtenOp::setResult(AtenValue value, unsigned index) {
  GLOWISH_RETURN_IF_ERROR(takeError());
  results[index] = std::move(value);
  return llvm::Error::success();
}

llvm::Error AtenOp::setPacked() { return setResult(AtenValue(arguments)); }

llvm::Error AtenOp::setResult(ComplexParts parts, unsigned index) {
  if (!parts.imaginary)
    return setResult(parts.real, index);
  return setResult(AtenValue(AtenComplex{parts.real, parts.imaginary}), index);
}
