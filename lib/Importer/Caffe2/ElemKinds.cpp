//===- ElemKinds.cpp - Caffe2 element types -------------------------------===//

#include "Caffe2/ElemKinds.h"
#include "Common/ProtobufFile.h"

using namespace glowish;
using namespace glowish::caffe2;

namespace {
struct DataType {
  int64_t number;
  llvm::StringLiteral name;
  ElemKind kind;
};
} // namespace

static constexpr DataType dataTypes[] = {
    {1, "FLOAT", ElemKind::Float},    {2, "INT32", ElemKind::Int32},
    {3, "BYTE", ElemKind::UInt8},     {5, "BOOL", ElemKind::Bool},
    {6, "UINT8", ElemKind::UInt8},    {7, "INT8", ElemKind::Int8},
    {8, "UINT16", ElemKind::UInt16},  {9, "INT16", ElemKind::Int16},
    {10, "INT64", ElemKind::Int64},   {12, "FLOAT16", ElemKind::Float16},
    {13, "DOUBLE", ElemKind::Double}, {1, "FLOAT32", ElemKind::Float},
};

llvm::Expected<ElemKind> caffe2::readKind(NetOp &op, llvm::StringRef name,
                                          ElemKind otherwise) {
  const schema::Argument *arg = op.findArg(name);
  if (!arg)
    return otherwise;
  for (const DataType &type : dataTypes)
    if (arg->has_s() ? type.name.equals_insensitive(arg->s())
                     : arg->has_i() && type.number == arg->i())
      return type.kind;
  return makeError("argument '{0}' is {1}, no element type; accepted: FLOAT "
                   "(1), INT32 (2), BOOL (5), UINT8 (6), INT8 (7), UINT16 (8), "
                   "INT16 (9), INT64 (10), FLOAT16 (12), DOUBLE (13)",
                   name,
                   arg->has_s() ? quote(arg->s()) : std::to_string(arg->i()));
}
