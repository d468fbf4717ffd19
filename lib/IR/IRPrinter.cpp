//===- IRPrinter.cpp - Printing the IR's text form ------------------------===//

#include "glowish/IR/IRText.h"
#include "glowish/IR/Instrs.h"
#include "glowish/Ops/TextForm.h"

using namespace glowish;

static void printInts(llvm::raw_ostream &os, DimsRef values) {
  os << '[';
  llvm::interleaveComma(values, os);
  os << ']';
}

static void printBuffer(llvm::raw_ostream &os, const Buffer &buffer,
                        ConstantWriter &writer) {
  switch (buffer.getKind()) {
  case Buffer::Kind::Constant:
    os << "constant ";
    printName(os, buffer.getName());
    os << " : " << buffer.getType() << " = ";
    writer.print(os, buffer.getTensor());
    return;
  case Buffer::Kind::Mutable:
    os << "mutable ";
    printName(os, buffer.getName());
    os << " : " << buffer.getType() << (buffer.isInput() ? " input" : "")
       << (buffer.isOutput() ? " output" : "") << ' ';
    printQuoted(os, buffer.getModelName());
    return;
  case Buffer::Kind::Activation:
    os << "activation ";
    printName(os, buffer.getName());
    os << " : " << buffer.getType();
    return;
  case Buffer::Kind::View:
    os << "view ";
    printName(os, buffer.getName());
    os << " = ";
    printName(os, buffer.getRoot()->getName());
    os << " offset " << buffer.getOffset() << " strides ";
    printInts(os, buffer.getStrides());
    os << " : " << buffer.getType();
    return;
  }
}

void glowish::printInstr(llvm::raw_ostream &os, const Instruction &instr) {
  if (!instr.getName().empty()) {
    printQuoted(os, instr.getName());
    os << ' ';
  }
  os << instr.getKindName() << '(';
  for (unsigned i = 0; i < instr.getNumOperands(); ++i) {
    if (i)
      os << ", ";
    if (!instr.getOperand(i)) {
      os << "none";
      continue;
    }
    os << '@' << getRoleName(instr.getOperandInfo(i).role) << ' ';
    printName(os, instr.getOperand(i)->getName());
  }
  os << ')';
  printAttrs(os, instr.getInfo(), instr.getAttrs(),
             instr.getNumProgramInputs());
}

void glowish::printIR(llvm::raw_ostream &os, const IRFunction &function,
                      llvm::raw_ostream *sideFile) {
  ConstantWriter writer(sideFile);
  os << "ir ";
  printQuoted(os, function.getName());
  os << " {\n";
  for (const auto &buffer : function.getBuffers()) {
    os << "  ";
    printBuffer(os, *buffer, writer);
    os << '\n';
  }
  os << "  code {\n";
  for (const Instruction &instr : function.getInstrs()) {
    os << "    ";
    printInstr(os, instr);
    os << '\n';
  }
  os << "  }\n}\n";
}
