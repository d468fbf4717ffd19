//===- IRText.h - The IR's text form ----------------------------*- C++ -*-===//
//
//   ir "main" {
//     constant %w : float<64x7x7x3> = external 0
//     mutable %data : float<1x224x224x3> input "data"
//     activation %a : float<1x112x112x64>
//     view %v = %a offset 32 strides [802816, 7168, 64, 1]
//         : float<1x112x112x32>
//     code {
//       Alloc(@out %a)
//       "conv1" Convolution(@out %a, @in %data, @in %w, none) {...}
//       Dealloc(@out %a)
//     }
//   }
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_IR_IRTEXT_H
#define GLOWISH_IR_IRTEXT_H

#include "glowish/IR/IR.h"
#include "llvm/Support/MemoryBuffer.h"

namespace glowish {

/// Prints \p function; large constants go to \p sideFile, or are elided when
/// it is null.
void printIR(llvm::raw_ostream &os, const IRFunction &function,
             llvm::raw_ostream *sideFile);
/// One instruction as a line of the text form.
void printInstr(llvm::raw_ostream &os, const Instruction &instr);

/// Parses what printIR prints; the result is verified.
llvm::Expected<std::unique_ptr<IRFunction>>
parseIR(llvm::StringRef text, llvm::StringRef fileName,
        std::shared_ptr<llvm::MemoryBuffer> sideFile);

} // namespace glowish

#endif // GLOWISH_IR_IRTEXT_H
