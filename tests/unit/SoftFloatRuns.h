//===- SoftFloatRuns.h - Code for targets without floats --------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_SOFTFLOATRUNS_H
#define GLOWISH_TESTS_UNIT_SOFTFLOATRUNS_H

#include "JIT.h"
#include "Kernels/KernelBuilder.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "llvm/IR/Module.h"

namespace glowish {

/// Runs on this machine, with \p data, what \p emit generates for one that is
/// the same but has no floating-point unit. \p emit gets the address of the
/// data.
inline void runWithoutFloatUnit(
    void *data,
    llvm::function_ref<void(KernelBuilder &b, llvm::Value *address)> emit) {
  auto backend = llvm::cantFail(CPUBackend::create(TargetOptions()));
  TargetDescription target = backend->getTarget();
  target.hasFloat = target.hasDouble = false;
  llvm::LLVMContext context;
  llvm::Module module("test", context);
  module.setTargetTriple(backend->getTargetMachine().getTargetTriple().str());
  module.setDataLayout(backend->getTargetMachine().createDataLayout());
  llvm::Type *pointer = llvm::PointerType::getUnqual(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context),
                                       {pointer, pointer, pointer}, false);
  auto *entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                       jitEntryName, module);
  target.addFunctionAttributes(*entry);
  KernelBuilder b(*entry, target);
  emit(b, entry->getArg(1));
  b.CreateRet(b.getInt32(0));
  auto object = llvm::cantFail(backend->emitObject(module));
  auto program = llvm::cantFail(loadObject(object));
  llvm::cantFail(program->run(nullptr, static_cast<uint8_t *>(data), nullptr));
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_SOFTFLOATRUNS_H
