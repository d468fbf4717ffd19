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
    printStored(os, buffer);
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

static void printFunction(llvm::raw_ostream &os, const IRFunction &function,
                          ConstantWriter &writer, unsigned indent);

/// Prints `bounds {result[1] = "2*length + past + 3"}`.
static void printLoopBounds(llvm::raw_ostream &os, const Instruction &instr) {
  if (instr.getLoopBounds().empty())
    return;
  os << " bounds {";
  llvm::interleaveComma(instr.getLoopBounds(), os, [&](const LoopBound &bound) {
    os << instr.getOperandInfo(bound.operand).name << '[' << bound.dim
       << "] = ";
    printQuoted(os, bound.extent.str());
  });
  os << '}';
}

/// \p writer: of the constants of bodies, at column \p indent; without it, only
/// their types are printed.
static void print(llvm::raw_ostream &os, const Instruction &instr,
                  ConstantWriter *writer, unsigned indent) {
  if (!instr.getName().empty()) {
    printQuoted(os, instr.getName());
    os << ' ';
  }
  os << instr.getKindName() << '(';
  for (unsigned i = 0; i < instr.getNumRecordOperands(); ++i) {
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
  auto printBody = [&](const Body &body) {
    printFunction(os, static_cast<const IRBody &>(body).getFunction(), *writer,
                  indent);
  };
  if (writer)
    printAttrs(os, instr.getInfo(), instr.getAttrs(),
               instr.getNumProgramInputs(), printBody);
  else
    printAttrs(os, instr.getInfo(), instr.getAttrs(),
               instr.getNumProgramInputs());
  printLoopBounds(os, instr);
  if (const Buffer *predicate = instr.getPredicate()) {
    os << " predicate(";
    printName(os, predicate->getName());
    os << ')';
  }
}

void glowish::printInstr(llvm::raw_ostream &os, const Instruction &instr) {
  print(os, instr, /*writer=*/nullptr, /*indent=*/0);
}

static void printFunction(llvm::raw_ostream &os, const IRFunction &function,
                          ConstantWriter &writer, unsigned indent) {
  os << "ir ";
  printQuoted(os, function.getName());
  os << " {\n";
  for (const auto &buffer : function.getBuffers()) {
    os.indent(indent + 2);
    printBuffer(os, *buffer, writer);
    os << '\n';
  }
  os.indent(indent + 2) << "code {\n";
  for (const Instruction &instr : function.getInstrs()) {
    os.indent(indent + 4);
    print(os, instr, &writer, indent + 4);
    os << '\n';
  }
  os.indent(indent + 2) << "}\n";
  os.indent(indent) << '}';
}

void glowish::printIR(llvm::raw_ostream &os, const IRFunction &function,
                      llvm::raw_ostream *sideFile) {
  ConstantWriter writer(sideFile);
  printFunction(os, function, writer, /*indent=*/0);
  os << '\n';
}
