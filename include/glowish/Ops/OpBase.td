//===- OpBase.td - Vocabulary of operator records --------------*- td -*-===//
//
// A record is the one place where an operator is declared. glowish-tblgen
// reads the records and writes classes, tables, scalar formulas and the
// operator reference from them; docs/adding-an-operator.md tells how.
//
//===----------------------------------------------------------------------===//

//===- Attributes -----------------------------------------------------------===//

/// How an attribute is stored (an alternative of glowish::AttrValue).
class AttrKind<string enumerator, string storage, string accessor> {
  string Enumerator = enumerator;
  string Storage = storage;
  string Accessor = accessor; // what the generated getter returns
}
def Int : AttrKind<"Int", "int64_t", "int64_t">;
def Ints : AttrKind<"Ints", "std::vector<int64_t>", "llvm::ArrayRef<int64_t>">;
def Float : AttrKind<"Float", "double", "double">;
def Bool : AttrKind<"Bool", "bool", "bool">;
def String : AttrKind<"String", "std::string", "llvm::StringRef">;
def Kind : AttrKind<"Kind", "glowish::ElemKind", "glowish::ElemKind">;
def Program : AttrKind<"Program", "glowish::ScalarProgram",
                       "const glowish::ScalarProgram &">;
def Body : AttrKind<"Body", "std::shared_ptr<glowish::Body>",
                    "const std::shared_ptr<glowish::Body> &">;

/// One attribute. An attribute with a default (a C++ expression) is the last
/// argument of the builders and is printed only where it differs. `allowed`
/// lists the accepted values of a String; empty for any.
class Attr<AttrKind kind, string name, string doc, string default = "",
           list<string> allowed = []> {
  AttrKind AttributeKind = kind;
  string Name = name;
  string Doc = doc;
  string Default = default;
  list<string> Allowed = allowed;
}

//===- Operands -------------------------------------------------------------===//

class Operand<string name, string doc = ""> {
  string Name = name;
  string Doc = doc;
  bit IsOptional = 0;
  bit IsVariadic = 0;
  string Role = "In"; // In, Out, InOut, Scratch
}
/// May be absent (written `none` in the text forms).
class OptionalOperand<string name, string doc = ""> : Operand<name, doc> {
  let IsOptional = 1;
}
/// Any number of values; only the last operand of a record can be variadic,
/// unless it has SegmentsAttr.
class VariadicOperand<string name, string doc = ""> : Operand<name, doc> {
  let IsVariadic = 1;
}
class OutOperand<string name, string doc = ""> : Operand<name, doc> {
  let Role = "Out";
}
class VariadicOutOperand<string name, string doc = "">
    : VariadicOperand<name, doc> {
  let Role = "Out";
}
class InOutOperand<string name, string doc = ""> : Operand<name, doc> {
  let Role = "InOut";
}
class ScratchOperand<string name, string doc = ""> : Operand<name, doc> {
  let Role = "Scratch";
}

/// Lets an instruction have several variadic operands. The builders fill it in
/// from the lists that they get.
defvar SegmentsAttr = Attr<Ints, "segments",
    "how many values each operand of the record has">;

/// The operands and the attribute of an anchor: an operator whose result
/// elements pass through a scalar program before they are stored. Value 0 of
/// the program is the anchor's element, values 1... are the elements of
/// `fused` at the same index, broadcast to the result's shape.
defvar FusedOperands = [VariadicOperand<"fused",
    "further inputs of the epilogue, each broadcast to the result">];
defvar EpilogueAttr = Attr<Program, "epilogue",
    "what happens to each element before it is stored", "{}">;

//===- Nodes ----------------------------------------------------------------===//

/// Fields that nodes and instructions have in common.
class Op<string summary> {
  string Summary = summary;
  string Description = ""; // shapes, kinds, errors
  string Source = "";      // the ONNX operator and opset, or the paper
  list<Operand> Operands = [];
  list<Attr> Attributes = [];
  /// The function that infers and checks types; NAME is the record's name.
  string TypeRule = "infer" # NAME;
  /// Multiply-adds for one element of the (first) result, where profiles are to
  /// count them: a C++ expression over `op`, the typed view of operands and
  /// attributes that the type rule gets.
  string MultiplyAdds = "";
}

/// The gradient of a node is the function differentiateNAME of lib/Autodiff;
/// where that is missing, the linker says so.
class Node<string summary> : Op<summary> {
  list<string> Results = ["result"];
  /// Why nothing flows back through the node, which has no such function then:
  /// "the result is an integer".
  string ZeroGradient = "";
  /// Why it is an error to differentiate through the node, which has no such
  /// function then.
  string NoGradient = "";
}

/// Which element kinds an element-wise operator takes.
class ElementKinds<string predicate> { string Predicate = predicate; }
def FloatKinds : ElementKinds<"Float">;         // float16, bfloat16, float, double
def NumberKinds : ElementKinds<"Number">;       // floats and integers
def SignedKinds : ElementKinds<"Signed">;       // floats and signed integers
def IntegerKinds : ElementKinds<"Integer">;
def UInt64Kind : ElementKinds<"UInt64">;
def BoolKind : ElementKinds<"Bool">;
def AnyKinds : ElementKinds<"Any">;             // numbers and bool

/// An element-wise operator: one formula says what it computes, on both back
/// ends. The formula is a C++ expression over the operands' names, each a
/// scalar of type S, and over the Float attributes' names; see
/// glowish/Ops/Scalar.h for the functions it can use. Operands broadcast as
/// numpy's do.
class ElementWise<list<string> arguments, string formula, string summary>
    : Node<summary> {
  let Operands = !foreach(argument, arguments, Operand<argument>);
  let TypeRule = "inferElementWise";
  string Formula = formula;
  ElementKinds Kinds = FloatKinds;
  /// "Same": the arguments' kind; "Bool"; "To": the Kind attribute `to`.
  string ResultKind = "Same";
  /// The first argument is bool whatever the others are.
  bit FirstIsBool = 0;
  /// Operand order does not change the result.
  bit IsCommutative = 0;
  /// What flows back to each operand: formulas over the operands, the
  /// attributes, `result` and `gradient`, which is what flows back to the
  /// result. Empty for an operand that nothing flows to. Without a list the
  /// node has a function as other nodes have.
  list<string> Gradients = [];
}
class Unary<string formula, string summary>
    : ElementWise<["x"], formula, summary>;
class Binary<string formula, string summary>
    : ElementWise<["x", "y"], formula, summary>;

//===- Instructions ---------------------------------------------------------===//

class Instr<string summary> : Op<summary> {
  /// Names of operands that may be views with any strides. All others are
  /// dense: row-major without gaps.
  list<string> Strided = [];
  /// Names of @in operands whose buffer may also be the @out buffer, because
  /// an element is read before it, and only it, is written.
  list<string> InPlace = [];
  Node FromNode = ?;
}

/// The instruction that computes a node: the same attributes, one @out operand
/// a result, then the node's operands as @in. IRGen makes it without a word
/// of code.
class InstrFor<Node node> : Instr<node.Summary> {
  let FromNode = node;
  let Description = node.Description;
  let Source = node.Source;
  let Attributes = node.Attributes;
  let Operands = !listconcat(
      !foreach(result, node.Results, OutOperand<result>), node.Operands);
  let TypeRule = node.TypeRule;
  let MultiplyAdds = node.MultiplyAdds;
}
