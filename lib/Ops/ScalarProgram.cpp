//===- ScalarProgram.cpp - Programs of scalar steps -----------------------===//

#include "glowish/Ops/ScalarProgram.h"
#include "glowish/Base/ElemRange.h"
#include "glowish/Ops/TextForm.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace glowish;

//===- Table --------------------------------------------------------------===//

#define GET_SCALAR_OP_TABLE
#include "glowish/Ops/ScalarOps.inc"

llvm::ArrayRef<ScalarOpInfo> glowish::getScalarOpTable() {
  return scalarOpTable;
}

const ScalarOpInfo &glowish::getScalarOpInfo(ScalarOp op) {
  return scalarOpTable[size_t(op)];
}

std::optional<ScalarOp> glowish::findScalarOp(llvm::StringRef name) {
  static const llvm::StringMap<ScalarOp> byName = [] {
    llvm::StringMap<ScalarOp> map;
    for (size_t i = 0; i < std::size(scalarOpTable); ++i)
      map[scalarOpTable[i].name] = ScalarOp(i);
    return map;
  }();
  auto found = byName.find(name);
  if (found == byName.end())
    return std::nullopt;
  return found->second;
}

bool ScalarOpInfo::accepts(ElemKind kind) const {
  switch (kinds) {
  case Kinds::Float:
    return isFloatKind(kind);
  case Kinds::Number:
    return isFloatKind(kind) || isIntegerKind(kind);
  case Kinds::Signed:
    return isFloatKind(kind) || isSignedIntegerKind(kind);
  case Kinds::Integer:
    return isIntegerKind(kind);
  case Kinds::Int32:
    return kind == ElemKind::Int32;
  case Kinds::UInt64:
    return kind == ElemKind::UInt64;
  case Kinds::Bool:
    return kind == ElemKind::Bool;
  case Kinds::Any:
    return !isQuantizedKind(kind) && !isLowPrecisionKind(kind);
  case Kinds::Byte:
    return kind == ElemKind::Int8 || kind == ElemKind::UInt8;
  case Kinds::Stored:
    return !isQuantizedKind(kind);
  }
  llvm_unreachable("not a set of kinds");
}

llvm::StringRef ScalarOpInfo::describeKinds() const {
  switch (kinds) {
  case Kinds::Float:
    return "a float kind";
  case Kinds::Number:
    return "a float or integer kind";
  case Kinds::Signed:
    return "a float or signed integer kind";
  case Kinds::Integer:
    return "an integer kind";
  case Kinds::Int32:
    return "int32";
  case Kinds::UInt64:
    return "uint64";
  case Kinds::Bool:
    return "bool";
  case Kinds::Any:
    return "a float or integer kind or bool";
  case Kinds::Byte:
    return "int8 or uint8";
  case Kinds::Stored:
    return "a kind that is not quantized";
  }
  llvm_unreachable("not a set of kinds");
}

llvm::Error ScalarOpInfo::checkTable(llvm::ArrayRef<double> table,
                                     ElemKind kind) const {
  if (table.size() != tableSize)
    return makeError("has {0} numbers, expected {1}", table.size(), tableSize);
  ElemRange range = getFiniteRange(kind);
  for (double number : table)
    if (!range.contains(number) || number != std::trunc(number))
      return makeError("{0} is not a number of {1}", number,
                       getElemKindName(kind));
  return llvm::Error::success();
}

//===- Steps --------------------------------------------------------------===//

bool ScalarStep::operator==(const ScalarStep &other) const {
  auto sameBits = [](double a, double b) {
    return llvm::bit_cast<uint64_t>(a) == llvm::bit_cast<uint64_t>(b);
  };
  return op == other.op && kind == other.kind && args == other.args &&
         llvm::equal(params, other.params, sameBits);
}

llvm::hash_code glowish::hash_value(const ScalarProgram &program) {
  llvm::hash_code hash = llvm::hash_value(program.steps.size());
  for (const ScalarStep &step : program.steps) {
    hash = llvm::hash_combine(
        hash, unsigned(step.op), unsigned(step.kind),
        llvm::hash_combine_range(step.args.begin(), step.args.end()));
    for (double param : step.params)
      hash = llvm::hash_combine(hash, llvm::bit_cast<uint64_t>(param));
  }
  return hash;
}

void ScalarProgram::print(llvm::raw_ostream &os, unsigned numInputs) const {
  os << '{';
  unsigned value = numInputs;
  for (const ScalarStep &step : steps) {
    os << (value == numInputs ? "v" : "; v") << value << ':'
       << getElemKindName(step.kind) << " = " << getScalarOpInfo(step.op).name
       << '(';
    ++value;
    llvm::interleave(
        step.args, os, [&](unsigned arg) { os << 'v' << arg; }, ", ");
    os << ')';
    if (step.params.empty())
      continue;
    os << " <";
    llvm::interleave(
        step.params, os, [&](double param) { printDouble(os, param); }, ", ");
    os << '>';
  }
  os << '}';
}

//===- Checking -----------------------------------------------------------===//

/// The kind that \p step makes from \p values, the kinds of the values so far.
static llvm::Expected<ElemKind> checkStep(const ScalarStep &step,
                                          llvm::ArrayRef<ElemKind> values) {
  const ScalarOpInfo &info = getScalarOpInfo(step.op);
  if (step.args.size() != info.numArgs)
    return makeError("takes {0} arguments, got {1}", info.numArgs,
                     step.args.size());
  size_t numParams = info.params.size() + info.tableSize;
  if (step.params.size() != numParams)
    return makeError("takes {0} parameters, got {1}", numParams,
                     step.params.size());
  for (unsigned arg : step.args)
    if (arg >= values.size())
      return makeError("v{0} is not an earlier value", arg);
  unsigned first = 0;
  if (info.firstIsBool) {
    first = 1;
    if (values[step.args[0]] != ElemKind::Bool)
      return makeError("v{0} is {1}, expected bool", step.args[0],
                       getElemKindName(values[step.args[0]]));
  }
  ElemKind kind = values[step.args[first]];
  for (unsigned arg : llvm::drop_begin(step.args, first)) {
    if (!info.accepts(values[arg]))
      return makeError("v{0} is {1}, expected {2}", arg,
                       getElemKindName(values[arg]), info.describeKinds());
    if (values[arg] != kind)
      return makeError("v{0} is {1}, expected {2} as v{3} is", arg,
                       getElemKindName(values[arg]), getElemKindName(kind),
                       step.args[first]);
  }
  if (info.tableSize)
    if (llvm::Error refused = info.checkTable(
            llvm::ArrayRef(step.params).drop_front(info.params.size()), kind))
      return makeError("the table: {0}", llvm::toString(std::move(refused)));
  switch (info.result) {
  case ScalarOpInfo::Result::Same:
    return kind;
  case ScalarOpInfo::Result::Bool:
    return ElemKind::Bool;
  case ScalarOpInfo::Result::To:
    if (isQuantizedKind(step.kind))
      return makeError("the result can't be {0}, a quantized kind",
                       getElemKindName(step.kind));
    return step.kind;
  }
  llvm_unreachable("not a result rule");
}

llvm::Expected<ElemKind>
ScalarProgram::check(llvm::ArrayRef<ElemKind> inputKinds) const {
  if (inputKinds.empty())
    return makeError("a scalar program needs an input");
  for (unsigned i = 0; i < inputKinds.size(); ++i)
    if (isQuantizedKind(inputKinds[i]))
      return makeError("v{0} is {1}; scalar programs don't take quantized "
                       "kinds",
                       i, getElemKindName(inputKinds[i]));
  if (empty())
    return inputKinds[0];
  llvm::SmallVector<ElemKind, 8> values(inputKinds);
  for (const ScalarStep &step : steps) {
    std::string prefix = llvm::formatv("v{0} = {1}: ", values.size(),
                                       getScalarOpInfo(step.op).name);
    llvm::Expected<ElemKind> kind = checkStep(step, values);
    if (!kind)
      return makeError("{0}{1}", prefix, llvm::toString(kind.takeError()));
    if (*kind != step.kind)
      return makeError("{0}the result is {1}, not {2}", prefix,
                       getElemKindName(*kind), getElemKindName(step.kind));
    values.push_back(*kind);
  }
  return values.back();
}

void ScalarProgram::append(const ScalarProgram &next, unsigned numInputs,
                           unsigned nextInputs) {
  assert(numInputs && nextInputs && "input 0 of both is the element");
  // A copy first: next may be this program.
  std::vector<ScalarStep> nextSteps = next.steps;
  unsigned added = nextInputs - 1;
  unsigned joinedInputs = numInputs + added;
  for (ScalarStep &step : steps)
    for (unsigned &arg : step.args)
      if (arg >= numInputs)
        arg += added;
  unsigned numSteps = steps.size();
  unsigned result = steps.empty() ? 0 : joinedInputs + numSteps - 1;
  for (ScalarStep &step : nextSteps) {
    for (unsigned &arg : step.args) {
      if (arg == 0)
        arg = result;
      else if (arg < nextInputs)
        arg += numInputs - 1;
      else
        arg += joinedInputs + numSteps - nextInputs;
    }
    steps.push_back(std::move(step));
  }
}
