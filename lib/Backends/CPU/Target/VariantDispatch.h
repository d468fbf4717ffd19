//===- VariantDispatch.h - Entry that selects a variant ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_TARGET_VARIANTDISPATCH_H
#define GLOWISH_LIB_BACKENDS_CPU_TARGET_VARIANTDISPATCH_H

#include "glowish/Backends/CPU/TargetDescription.h"
#include "glowish/Backends/Variants.h"

namespace glowish {

/// The entry of a variant, and the values that it is for.
struct VariantEntry {
  llvm::ArrayRef<int64_t> values;
  llvm::Function *entry;
};

/// Adds to \p module
///   int NAME(int64_t value, ..., the arguments of the entries)
/// which calls the entry for these values; for others it returns
/// EntryStatus::Dimension. The \p entries have one type and become internal.
llvm::Function *emitVariantDispatch(llvm::Module &module,
                                    const TargetDescription &target,
                                    llvm::StringRef name,
                                    llvm::ArrayRef<VariantEntry> entries);

/// Adds to \p module an entry that calls \p own, that of \p variant, for runs
/// that state its values (Variant::stated), and \p others for all others. Both
/// become internal.
llvm::Function *emitStatedDispatch(llvm::Module &module,
                                   const TargetDescription &target,
                                   const Variant &variant, llvm::Function *own,
                                   llvm::Function *others);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_TARGET_VARIANTDISPATCH_H
