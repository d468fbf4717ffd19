//===- Mutations.cpp - Small changes of compiled code ---------------------===//

#include "Mutations.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace mutation;

namespace {

/// The name of a function as clang's IR has it.
class FunctionName {
public:
  explicit FunctionName(const Function &function) {
    mangled = function.getName().str();
    isMangled = !demangler.partialDemangle(mangled.c_str());
  }

  bool isConstructorOrDestructor() const {
    return isMangled && demangler.isCtorOrDtor();
  }

  bool isDestructor() const {
    return isConstructorOrDestructor() &&
           (getMangled().contains("D0Ev") || getMangled().contains("D1Ev") ||
            getMangled().contains("D2Ev"));
  }

  /// Without scopes, template arguments and parameters.
  std::string getBase() const {
    if (!isMangled || !demangler.isFunction())
      return mangled;
    char *name = demangler.getFunctionBaseName(nullptr, nullptr);
    std::string result = name ? name : mangled;
    std::free(name);
    return result;
  }

  StringRef getMangled() const { return mangled; }

private:
  /// The demangler refers to it.
  std::string mangled;
  bool isMangled = false;
  mutable ItaniumPartialDemangler demangler;
};

/// The mutations of one instruction, as they are found.
class Finder {
public:
  explicit Finder(Instruction &instr) : instr(instr) {}

  std::vector<Mutation> find();

private:
  void addResult(const char *kind, const Twine &detail, Mutation::Maker make) {
    found.push_back(
        {&instr, Mutation::Result, kind, detail.str(), 0, std::move(make)});
  }
  void addOperand(const char *kind, const Twine &detail, unsigned operand,
                  Mutation::Maker make) {
    found.push_back({&instr, Mutation::Operand, kind, detail.str(), operand,
                     std::move(make)});
  }
  void addConstant(unsigned operand, const Twine &place);
  void addNegation(const char *kind, unsigned operand);

  void visitCompare(CmpInst &compare);
  void visitArithmetic(BinaryOperator &operation);
  void visitBranch(BranchInst &branch);
  void visitSwitch(SwitchInst &branch);
  void visitStore(StoreInst &store);
  void visitReturn(ReturnInst &ret);
  void visitCall(CallInst &call);

  Instruction &instr;
  std::vector<Mutation> found;
};

} // namespace

/// Whether clang made the value or block \p name for what the source does not
/// write: cleanups, loops over arrays of objects, guards of static variables.
static bool isMadeByCompiler(StringRef name) {
  for (StringRef prefix :
       {"cleanup", "array", "nrvo", "guard", "init.check", "isnull", "delete",
        "sub.ptr", "cast.", "idx.neg", "memptr", "coro", "is_active"})
    if (name.starts_with(prefix))
      return true;
  return name.contains("cleanup.is");
}

/// Whether a branch to \p block is where an assertion fails, or what cannot be.
static bool isFailure(const BasicBlock *block) {
  return isa<UnreachableInst>(block->getTerminator());
}

//===- Values -------------------------------------------------------------===//

/// Moves the constant \p operand by one, which has its place in the detail.
void Finder::addConstant(unsigned operand, const Twine &place) {
  Value *value = instr.getOperand(operand);
  if (auto *number = dyn_cast<ConstantInt>(value)) {
    unsigned width = number->getBitWidth();
    if (width > 64)
      return;
    // A bool in memory is a byte.
    bool flips = width == 1 || (width == 8 && number->getValue().ule(1));
    APInt moved = flips ? number->getValue() ^ 1 : number->getValue() + 1;
    auto *other = ConstantInt::get(value->getType(), moved);
    addOperand("constant",
               place + toString(number->getValue(), 10, width > 1) + " -> " +
                   toString(moved, 10, width > 1),
               operand, [other](IRBuilder<> &, Value *) { return other; });
  } else if (auto *real = dyn_cast<ConstantFP>(value)) {
    if (!real->getType()->isFloatTy() && !real->getType()->isDoubleTy())
      return;
    double number = real->getType()->isFloatTy()
                        ? real->getValueAPF().convertToFloat()
                        : real->getValueAPF().convertToDouble();
    auto *other = ConstantFP::get(real->getType(), number + 1);
    addOperand("constant", place + formatv("{0:g}", number).str() + " + 1",
               operand, [other](IRBuilder<> &, Value *) { return other; });
  }
}

void Finder::addNegation(const char *kind, unsigned operand) {
  Value *value = instr.getOperand(operand);
  Value *bit = value;
  match(value, m_ZExt(m_Value(bit)));
  // Comparisons and negations have mutations of their own.
  if (!bit->getType()->isIntegerTy(1) || isa<CmpInst, Constant>(bit) ||
      match(bit, m_Not(m_Value())))
    return;
  addOperand(kind, "x -> !x", operand,
             [](IRBuilder<> &builder, Value *original) {
               return builder.CreateXor(
                   original, ConstantInt::get(original->getType(), 1));
             });
}

//===- Comparisons and arithmetic -----------------------------------------===//

/// The predicate that also holds, or no longer holds, where both are equal.
static CmpInst::Predicate moveBound(CmpInst::Predicate predicate) {
  return CmpInst::isStrictPredicate(predicate)
             ? CmpInst::getNonStrictPredicate(predicate)
             : CmpInst::getStrictPredicate(predicate);
}

/// Whether \p value is a condition and nothing else. Then that it is true, or
/// false, is harder to find than that it is the opposite.
static bool onlyBranches(const Value &value) {
  return value.hasOneUse() && isa<BranchInst>(*value.user_begin());
}

void Finder::visitCompare(CmpInst &compare) {
  if (isMadeByCompiler(compare.getName()))
    return;
  CmpInst::Predicate predicate = compare.getPredicate();
  auto add = [&](const char *kind, CmpInst::Predicate other) {
    addResult(kind,
              CmpInst::getPredicateName(predicate) + " -> " +
                  CmpInst::getPredicateName(other),
              [&compare, other](IRBuilder<> &builder, Value *) {
                return builder.CreateCmp(other, compare.getOperand(0),
                                         compare.getOperand(1));
              });
  };
  if (compare.isRelational() &&
      !compare.getOperand(0)->getType()->isPointerTy())
    add("bound", moveBound(predicate));
  if (!onlyBranches(compare))
    add("negation", compare.getInversePredicate());
  if (compare.isEquality() && compare.getName() != "tobool")
    addConstant(1, "");
}

void Finder::visitArithmetic(BinaryOperator &operation) {
  StringRef name = operation.getName();
  // The steps of loops and the differences of pointers.
  if (isMadeByCompiler(name) || name.starts_with("inc") ||
      name.starts_with("dec"))
    return;
  if (match(&operation, m_Not(m_Value()))) {
    if (operation.getType()->isIntegerTy(1) && !onlyBranches(operation))
      addResult("negation", "!x -> x", [&operation](IRBuilder<> &, Value *) {
        return operation.getOperand(0);
      });
    return;
  }
  using Op = Instruction;
  unsigned other = 0;
  switch (operation.getOpcode()) {
  case Op::Add:
    other = Op::Sub;
    break;
  case Op::Sub:
  case Op::Mul:
    other = Op::Add;
    break;
  case Op::SDiv:
  case Op::UDiv:
    other = Op::Mul;
    break;
  case Op::Shl:
    other = Op::LShr;
    break;
  case Op::LShr:
  case Op::AShr:
    other = Op::Shl;
    break;
  case Op::And:
    other = Op::Or;
    break;
  case Op::Or:
  case Op::Xor:
    other = Op::And;
    break;
  case Op::FAdd:
    other = Op::FSub;
    break;
  case Op::FSub:
    other = Op::FAdd;
    break;
  case Op::FMul:
    other = Op::FDiv;
    break;
  case Op::FDiv:
    other = Op::FMul;
    break;
  case Op::SRem:
  case Op::URem:
    addResult("arithmetic", "x % y -> x", [&operation](IRBuilder<> &, Value *) {
      return operation.getOperand(0);
    });
    break;
  default:
    break;
  }
  if (other)
    addResult("arithmetic",
              Twine(operation.getOpcodeName()) + " -> " +
                  Instruction::getOpcodeName(other),
              [&operation, other](IRBuilder<> &builder, Value *) {
                return builder.CreateBinOp(Instruction::BinaryOps(other),
                                           operation.getOperand(0),
                                           operation.getOperand(1));
              });
  if (operation.isIntDivRem() || operation.getOpcode() == Op::Mul)
    addConstant(1, "factor ");
}

//===- Control flow -------------------------------------------------------===//

void Finder::visitBranch(BranchInst &branch) {
  if (!branch.isConditional() || isa<Constant>(branch.getCondition()) ||
      isMadeByCompiler(branch.getCondition()->getName()))
    return;
  const BasicBlock *first = branch.getSuccessor(0);
  const BasicBlock *second = branch.getSuccessor(1);
  if (isFailure(first) || isFailure(second) ||
      isMadeByCompiler(first->getName()) || isMadeByCompiler(second->getName()))
    return;
  // A loop without an end says nothing about the tests.
  StringRef body = first->getName();
  bool isLoop = body.starts_with("for.body") ||
                body.starts_with("while.body") || body.starts_with("do.body") ||
                body.starts_with("for.cond");
  for (bool taken : {true, false})
    if (!taken || !isLoop)
      addOperand("condition", taken ? "true" : "false", 0,
                 [taken](IRBuilder<> &builder, Value *) {
                   return builder.getInt1(taken);
                 });
}

void Finder::visitSwitch(SwitchInst &branch) {
  if (isFailure(branch.getDefaultDest()) ||
      isMadeByCompiler(branch.getCondition()->getName()))
    return;
  unsigned width = branch.getCondition()->getType()->getIntegerBitWidth();
  APInt unused = APInt::getMaxValue(width);
  auto isCase = [&](const APInt &value) {
    return any_of(branch.cases(), [&](auto &each) {
      return each.getCaseValue()->getValue() == value;
    });
  };
  while (isCase(unused))
    --unused;
  for (auto &each : branch.cases()) {
    ConstantInt *value = each.getCaseValue();
    if (each.getCaseSuccessor() == branch.getDefaultDest())
      continue;
    addOperand("case", Twine(value->getSExtValue()) + " -> default", 0,
               [value, unused](IRBuilder<> &builder, Value *original) {
                 return builder.CreateSelect(
                     builder.CreateICmpEQ(original, value),
                     ConstantInt::get(original->getType(), unused), original);
               });
  }
}

void Finder::visitStore(StoreInst &store) {
  if (isMadeByCompiler(store.getPointerOperand()->getName()))
    return;
  bool isResult = store.getPointerOperand()->getName() == "retval";
  addConstant(0, "");
  addNegation(isResult ? "result" : "negation", 0);
}

void Finder::visitReturn(ReturnInst &ret) {
  if (!ret.getReturnValue())
    return;
  addConstant(0, "");
  // What is loaded was stored by statements, which have the mutation.
  if (!isa<LoadInst>(ret.getReturnValue()))
    addNegation("result", 0);
}

//===- Calls --------------------------------------------------------------===//

/// Whether \p name only prints, makes the text of an error, manages memory, or
/// makes something faster.
static bool isTextOrMemory(const FunctionName &name) {
  StringRef mangled = name.getMangled();
  for (StringRef part :
       {"raw_ostream", "Twine", "formatv", "makeError", "createStringError",
        "basic_string", "StringRef", "report_fatal_error", "__assert", "__cxa_",
        "allocator", "initializer_list", "addContext", "consumeError"})
    if (mangled.contains(part))
      return true;
  return StringSwitch<bool>(name.getBase())
      .Cases("operator new", "operator delete", "operator new[]",
             "operator delete[]", true)
      .Cases("_Znwm", "_ZdlPv", "_ZdlPvm", "_Znam", "_ZdaPv", true)
      .Cases("operator++", "operator--", "reserve", "shrink_to_fit", true)
      .Cases("setName", "fail", "takeError", "operator==", true)
      .Default(false);
}

void Finder::visitCall(CallInst &call) {
  const Function *callee = call.getCalledFunction();
  if (call.isInlineAsm() || call.isMustTailCall() || isa<IntrinsicInst>(call) ||
      call.doesNotReturn())
    return;
  std::string target = "pointer";
  bool constructs = false;
  if (callee) {
    FunctionName name(*callee);
    if (isTextOrMemory(name))
      return;
    target = name.getBase();
    constructs = name.isConstructorOrDestructor();
    StringRef mangled = name.getMangled();
    if ((mangled.starts_with("_ZSt3min") || mangled.starts_with("_ZSt3max")) &&
        call.arg_size() == 2 && call.getType()->isPointerTy())
      addResult("minimum",
                mangled.starts_with("_ZSt3min") ? "min -> max" : "max -> min",
                [&call](IRBuilder<> &builder, Value *original) {
                  Value *first = call.getArgOperand(0);
                  return builder.CreateSelect(
                      builder.CreateICmpEQ(original, first),
                      call.getArgOperand(1), first);
                });
  }
  for (unsigned k = 0, e = call.arg_size(); k != e; ++k) {
    addConstant(k, target + " argument " + Twine(k) + ": ");
    addNegation("negation", k);
  }
  if (call.use_empty() && !constructs && !call.hasStructRetAttr())
    found.push_back({&instr, Mutation::Removal, "call", target});
}

std::vector<Mutation> Finder::find() {
  if (auto *compare = dyn_cast<CmpInst>(&instr))
    visitCompare(*compare);
  else if (auto *operation = dyn_cast<BinaryOperator>(&instr))
    visitArithmetic(*operation);
  else if (auto *branch = dyn_cast<BranchInst>(&instr))
    visitBranch(*branch);
  else if (auto *branch = dyn_cast<SwitchInst>(&instr))
    visitSwitch(*branch);
  else if (auto *store = dyn_cast<StoreInst>(&instr))
    visitStore(*store);
  else if (auto *ret = dyn_cast<ReturnInst>(&instr))
    visitReturn(*ret);
  else if (auto *call = dyn_cast<CallInst>(&instr))
    visitCall(*call);
  return std::move(found);
}

std::vector<Mutation> mutation::listMutations(Instruction &instr) {
  return Finder(instr).find();
}

bool mutation::isLeftAlone(const Function &function) {
  if (function.isDeclarationForLinker() || function.isPresplitCoroutine() ||
      function.hasFnAttribute(Attribute::Naked) ||
      function.hasFnAttribute(Attribute::OptimizeNone) ||
      function.hasFnAttribute(Attribute::AlwaysInline))
    return true;
  FunctionName name(function);
  return name.isDestructor() || name.getMangled().starts_with("__cxx_global") ||
         name.getMangled().starts_with("_GLOBAL__") ||
         StringRef(name.getBase()).starts_with("dump");
}
