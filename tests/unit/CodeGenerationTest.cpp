//===- CodeGenerationTest.cpp - What LLVM cannot make code of -------------===//

#include "CodeGeneration.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Backends/CPU/FatalErrors.h"
#include "glowish/Support/Error.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/ErrorHandling.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace glowish;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// Makes code for \p triple, which need not be accepted, of a function that
/// \p emit adds to; its argument is an int32.
static llvm::Error
makeCode(const std::string &triple,
         llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &, llvm::Value *)>
             emit) {
  // Has all targets of LLVM registered.
  llvm::cantFail(CPUBackend::create(TargetOptions()));
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return makeError("{0}", message);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, "", "", llvm::TargetOptions(), llvm::Reloc::PIC_));
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  llvm::Type *type = llvm::Type::getInt32Ty(context);
  auto *function = llvm::Function::Create(
      llvm::FunctionType::get(type, {type}, false),
      llvm::GlobalValue::ExternalLinkage, "kernel", module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", function));
  b.CreateRet(emit(b, function->getArg(0)));
  GLOWISH_RETURN_IF_ERROR(optimizeModule(module, *machine));
  llvm::SmallVector<char, 0> code;
  return emitCode(module, *machine, llvm::CodeGenFileType::ObjectFile, code);
}

/// Float arithmetic, which BPF does not have.
static llvm::Value *emitFloats(llvm::IRBuilder<> &b, llvm::Value *x) {
  llvm::Value *value = b.CreateSIToFP(x, b.getFloatTy());
  return b.CreateFPToSI(b.CreateFMul(value, value), b.getInt32Ty());
}

/// A count of zeros, which LLVM 19 cannot make code of for Xtensa.
static llvm::Value *emitCount(llvm::IRBuilder<> &b, llvm::Value *x) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, b.getFalse());
}

TEST(CodeGeneration, ReportsWhatLLVMReports) {
  std::string message = llvm::toString(makeCode("bpfel", emitFloats));
  EXPECT_THAT(message,
              MatchesRegex("target 'bpfel': LLVM cannot make code of function "
                           "'kernel': [^\n]*"));
  EXPECT_THAT(message, Not(HasSubstr("0x")));
}

TEST(CodeGenerationDeathTest, DescribesFatalErrors) {
  auto run = [] {
    llvm::install_fatal_error_handler([](void *, const char *reason, bool) {
      llvm::errs() << describeFatalError(reason) << "\n";
      exit(1);
    });
    llvm::consumeError(makeCode("xtensa", emitCount));
    exit(0);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(1),
              "^target 'xtensa': LLVM cannot make code of function 'kernel': "
              "Cannot select: i32 = ctlz\n$");
}

TEST(CodeGeneration, DescribesFatalErrorsOutsideIt) {
  EXPECT_EQ(describeFatalError("out of ideas\nand more"), "LLVM: out of ideas");
}
