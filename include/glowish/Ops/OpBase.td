//===- OpBase.td - Classes of operator records -------------------*- td -*-===//
//
// Each operator is declared by one record. glowish-tblgen generates classes,
// tables, scalar formulas and the operator reference from the records;
// docs/adding-an-operator.md is a guide.
//
//===----------------------------------------------------------------------===//

//===- Traits -------------------------------------------------------------===//

/// A property that passes and back ends test instead of the kind:
/// `info.has(OpTrait::NAME)`.
class Trait<string doc> { string Doc = doc; }

def LifetimeMarker : Trait<"begins or ends the lifetime of an activation">;
def HasSideEffects : Trait<"has an effect besides its results">;
def CallsFunction
    : Trait<"calls a function that is not part of the compiled program">;
def Collective
    : Trait<"all processes of a group execute it, in the same order and as often">;
def StaticDataMovement
    : Trait<"copies elements between positions that are known at compile time">;
def DynamicDataMovement
    : Trait<"copies elements between positions that operands state">;
def View : Trait<"the result is a view of the operand">;
def StatesExtents : Trait<"an attribute states the extents of the result">;
def ReadsAnyStrides
    : Trait<"IRGen makes copies of it, which read views with any strides">;
def ElementByElement
    : Trait<"processes one element after the other, in any order">;
def CheapToRecompute
    : Trait<"takes about as long as reading its operands and writing its results">;
def SuperLinear
    : Trait<"takes more time than reading its operands and writing its results">;
def FewInstructions
    : Trait<"computing an element is no more work than loading one">;
def Homogeneous
    : Trait<"operands and Float attributes times a > 0 give the result times a">;
def Multilinear : Trait<"any one operand times a gives the result times a">;
def HasPole : Trait<"rounding of an operand may make the result infinite or NaN">;
def PermutesAxes
    : Trait<"commutes with permutations of the dimensions of its HasAxes operands">;

//===- Attributes ---------------------------------------------------------===//

/// The relation of an attribute to the dimensions of the HasAxes operands, by
/// which passes rewrite it when they permute or cut dimensions.
class AxisRole<string enumerator> { string Enumerator = enumerator; }
def NoAxes : AxisRole<"None">;
/// A dimension.
def Axis : AxisRole<"Axis">;
/// Several dimensions, in ascending order.
def AxisList : AxisRole<"AxisList">;
/// One value per dimension.
def PerAxis : AxisRole<"PerAxis">;
/// One value per dimension, the extents of the result.
def ResultExtents : AxisRole<"ResultExtents">;
/// One value per dimension for its start, then one per dimension for its end.
def PerAxisPads : AxisRole<"PerAxisPads">;
/// Pads of the dimensions 1 and 2: [top, left, bottom, right].
def ImagePads : AxisRole<"ImagePads">;

/// Storage of an attribute: an alternative of glowish::AttrValue.
class AttrKind<string enumerator, string storage, string accessor> {
  string Enumerator = enumerator;
  string Storage = storage;
  string Accessor = accessor; // return type of the generated getter
  string CustomType = "";     // of a CustomKind
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
def Types : AttrKind<"Types", "std::vector<glowish::Type>",
                     "llvm::ArrayRef<glowish::Type>">;
/// Attributes of an operator that glowish does not know.
def Values : AttrKind<"Values", "glowish::NamedValues",
                      "const glowish::NamedValues &">;

/// A value of a type of the back end, a C++ class that has attrType
/// (glowish/Ops/CustomAttr.h). The text forms have it as a string.
class CustomKind<string type>
    : AttrKind<"Custom", "glowish::CustomAttr", "const " # type # " &"> {
  let CustomType = type;
}

/// An attribute. One with a default (a C++ expression) is the last argument of
/// the builders and is printed only if it differs from the default. `allowed`
/// lists the accepted values of a String; empty for any.
class Attr<AttrKind kind, string name, string doc, string default = "",
           list<string> allowed = []> {
  AttrKind AttributeKind = kind;
  string Name = name;
  string Doc = doc;
  string Default = default;
  list<string> Allowed = allowed;
  AxisRole Axes = NoAxes;
}
/// An attribute with a relation to dimensions.
class AxesAttr<AxisRole axes, AttrKind kind, string name, string doc>
    : Attr<kind, name, doc> {
  let Axes = axes;
}

//===- Operands -----------------------------------------------------------===//

class Operand<string name, string doc = ""> {
  string Name = name;
  string Doc = doc;
  bit IsOptional = 0;
  bit IsVariadic = 0;
  string Role = "In"; // In, Out, InOut, Scratch
  /// The operand has the dimensions that attributes with an AxisRole, and
  /// FixedDims, count.
  bit HasAxes = 0;
  /// Further inputs of an epilogue.
  bit IsFused = 0;
}
/// An operand with HasAxes.
class AxesOperand<string name, string doc = ""> : Operand<name, doc> {
  let HasAxes = 1;
}
/// May be absent (written `none` in the text forms).
class OptionalOperand<string name, string doc = ""> : Operand<name, doc> {
  let IsOptional = 1;
}
/// Any number of values. Only the last operand of a record can be variadic,
/// unless the record has SegmentsAttr.
class VariadicOperand<string name, string doc = ""> : Operand<name, doc> {
  let IsVariadic = 1;
}
class VariadicAxesOperand<string name, string doc = "">
    : VariadicOperand<name, doc> {
  let HasAxes = 1;
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

/// Allows several variadic operands in an instruction. The builders compute it
/// from the lengths of their arguments.
defvar SegmentsAttr = Attr<Ints, "segments",
    "number of values of each operand of the record">;

/// Operands and attribute of an anchor, an instruction with an epilogue: a
/// scalar program that is applied to each result element before it is stored.
/// Value 0 of the program is the instruction's element; values 1... are the
/// elements of `fused` at the same index. They are the last operands and the
/// last attribute. The type rule that the record names does not see them.
class FusedOperand : VariadicOperand<"fused", "further inputs of the epilogue"> {
  let IsFused = 1;
}
def Fused : FusedOperand;
defvar EpilogueAttr = Attr<Program, "epilogue",
    "applied to each element before it is stored", "{}">;

//===- Nodes --------------------------------------------------------------===//

/// Fields that nodes and instructions have in common.
class Op<string summary> {
  string Summary = summary;
  string Description = ""; // shapes, kinds, errors
  string Source = "";      // the ONNX operator and opset, or the paper
  list<Operand> Operands = [];
  list<Attr> Attributes = [];
  /// The function that infers and checks types; NAME is the record's name.
  string TypeRule = "infer" # NAME;
  /// Multiply-adds per element of the (first) result, for profiles: a C++
  /// expression over `op`, the typed view of operands and attributes that is
  /// passed to the type rule. Empty if they are not counted.
  string MultiplyAdds = "";
  list<Trait> Traits = [];
}

/// The gradient of a node is the function differentiateNAME of lib/Autodiff; if
/// it is not defined, linking fails.
class Node<string summary> : Op<summary> {
  list<string> Results = ["result"];
  /// Why the gradient is zero ("the result is an integer"); the node then needs
  /// no such function.
  string ZeroGradient = "";
  /// Why differentiating through the node is an error; the node then needs no
  /// such function.
  string NoGradient = "";

  /// Whether the results have no roundings of their own: a C++ expression over
  /// `op`. Empty: only if the node is element-wise and its result is no float.
  string IsExact = "";
  /// The function that tells how the dimensions of the operands follow those of
  /// the result (glowish/Ops/AxisMap.h). Empty: parts of the result cannot be
  /// computed from parts of the operands.
  string AxisRule = "";
  /// The function that tells the results' extents where a run decides some of
  /// the operands' (glowish/Ops/ExtentRules.h). Empty: operands must have none.
  string ExtentRule = "";
  /// The function that tells which elements beyond an extent matter
  /// (OpInfo::findFiller). Empty: it has HasExtentLowering, or operands have
  /// no extents.
  string Filler = "";
  /// Dimensions that permutations must leave in place (PermutesAxes).
  list<int> FixedDims = [];

  /// \name Functions of the node that the generated declarations ask for
  /// @{
  /// canonicalizeNAME in lib/Optimizer: a rewrite that is always right.
  bit HasCanonicalization = 0;
  /// lowerNAME in lib/Optimizer: other nodes that compute the same, for back
  /// ends that do not support the node.
  bit HasLowering = 0;
  /// lowerExtentsOfNAME in lib/Optimizer: nodes without extents that compute the
  /// same as the node with extents.
  bit HasExtentLowering = 0;
  /// IRGenerator::generateNAME in lib/IRGen, for nodes that are not simply the
  /// instruction of the same name: when it can be applied, a C++ expression
  /// over `op`.
  string IRGeneration = "";
  /// traceNAME in lib/Graph: the operand's element that an element of the
  /// result is.
  bit TracesElements = 0;
  /// getVariableRoleNAME in lib/Autodiff: how operands are initialized.
  bit HasVariableRoles = 0;
  /// describeWeightsNAME in lib/Optimizer/Quantize: which operands are constant
  /// weights of the node, which multiplies integers if these are quantized.
  bit HasQuantizedWeights = 0;
  /// quantizeNAME in lib/Optimizer/Quantize: the integers that the node takes
  /// from quantized operands as they are.
  bit MovesQuantized = 0;
  /// @}
  /// The node is worth reading quantized operands, though it computes in float.
  bit ReadsQuantized = 0;
}

/// The element kinds that an element-wise operator accepts.
class ElementKinds<string predicate> { string Predicate = predicate; }
def FloatKinds : ElementKinds<"Float">;   // float16, bfloat16, float, double
def NumberKinds : ElementKinds<"Number">; // floats and integers
def SignedKinds : ElementKinds<"Signed">; // floats and signed integers
def IntegerKinds : ElementKinds<"Integer">;
def Int32Kind : ElementKinds<"Int32">;
def UInt64Kind : ElementKinds<"UInt64">;
def BoolKind : ElementKinds<"Bool">;
def ByteKinds : ElementKinds<"Byte">;     // int8 and uint8
def AnyKinds : ElementKinds<"Any">;       // numbers and bool
def StoredKinds : ElementKinds<"Stored">; // these and those of low precision

/// An element-wise operator, defined for both back ends by one formula: a C++
/// expression over the operands' names, each a scalar of type S, and over the
/// Float attributes' names; see glowish/Ops/Scalar.h for the functions it can
/// use. Operands broadcast by NumPy's rules.
class ElementWise<list<string> arguments, string formula, string summary>
    : Node<summary> {
  let Operands = !foreach(argument, arguments, Operand<argument>);
  let TypeRule = "inferElementWise";
  string Formula = formula;
  ElementKinds Kinds = FloatKinds;
  /// "Same": the arguments' kind; "Bool"; "To": the Kind attribute `to`.
  string ResultKind = "Same";
  /// The first argument is bool, independently of the others.
  bit FirstIsBool = 0;
  /// Operand order does not change the result.
  bit IsCommutative = 0;
  /// The numbers in the Ints attribute `table`, which the formula has by this
  /// name: an array of doubles; 0 for an operator without one.
  int TableSize = 0;
  /// The adjoint of each operand: formulas over the operands, the attributes,
  /// `result`, and `gradient`, the adjoint of the result. An empty string means
  /// that the adjoint is zero. Without a list the gradient is a function, as of
  /// other nodes.
  list<string> Gradients = [];
  /// The ONNX operator that computes the same, as which the node is exported and
  /// of which it is imported; empty if there is none. Its inputs are the
  /// operands, its attributes the node's, which are Floats.
  string Onnx = "";
  /// The first opset that has it.
  int OnnxSince = 1;
  /// The operators of Caffe2, the one of TensorFlow Lite, which may be a custom
  /// one, and those of ATen that compute the same and of which the node is
  /// imported. Their arguments or options, if any, have the names of the node's
  /// attributes.
  list<string> Caffe2 = [];
  string TFLite = "";
  list<string> Aten = [];
  /// The values of attributes where a model leaves them out, as C++ expressions,
  /// one for each.
  list<string> Defaults = [];
  /// The interval on which the operator is defined, as C++ expressions.
  string DomainLow = "-HUGE_VAL";
  string DomainHigh = "HUGE_VAL";
  list<Trait> ScalarTraits = [];
  let Traits = [PermutesAxes] # ScalarTraits;
  let AxisRule = "followBroadcast";
  let ExtentRule = "extendBroadcast";
  let Filler = "fillNothing";
}
class Unary<string formula, string summary>
    : ElementWise<["x"], formula, summary>;
class Binary<string formula, string summary>
    : ElementWise<["x", "y"], formula, summary>;

//===- Instructions -------------------------------------------------------===//

class Instr<string summary> : Op<summary> {
  /// Names of operands that may be views with any strides. All others are
  /// contiguous: row-major without gaps.
  list<string> Strided = [];
  /// Names of @in operands that may be the @out buffer (in-place), because each
  /// element is read before it, and only it, is written.
  list<string> InPlace = [];
  /// Names of operands that are packed before they are computed with, so that
  /// their strides do not matter for speed.
  list<string> Packed = [];
  /// The back end that the instruction belongs to; empty for all of them.
  string Dialect = "";
}

/// The instruction that computes a node: the same attributes, one @out operand
/// per result, then the node's operands as @in. IRGen creates it without code
/// specific to the node.
class InstrFor<Node node> : Instr<node.Summary> {
  Node FromNode = node;
  /// When the instruction can compute the node: a C++ expression over `op`.
  string Requires = "true";
  let Description = node.Description;
  let Source = node.Source;
  let Attributes = node.Attributes;
  let Operands = !listconcat(
      !foreach(result, node.Results, OutOperand<result>), node.Operands);
  let TypeRule = node.TypeRule;
  let MultiplyAdds = node.MultiplyAdds;
}
/// The same with an epilogue.
class AnchorFor<Node node> : InstrFor<node> {
  let Attributes = node.Attributes # [EpilogueAttr];
  let Operands = !listconcat(
      !foreach(result, node.Results, OutOperand<result>), node.Operands,
      [Fused]);
}

//===- Back ends ----------------------------------------------------------===//

/// In the records of a back end: whether it supports the node of \p instr is a
/// function supportsNAME of the back end. It supports all others that have an
/// instruction.
class SupportsFor<InstrFor instr> { InstrFor Instruction = instr; }

/// In the records of a back end: its passes put other instructions in the place
/// of \p instr, so that there is no function emitNAME. Generating code of one
/// that is left is an error.
class Replaces<Instr instr> { Instr Instruction = instr; }

/// In the records of a back end: the floating-point operations of \p instr,
/// without its epilogue, are a function countNAME of the back end. Those of all
/// others are the multiply-adds that their records state.
class CountsOperationsOf<Instr instr> { Instr Instruction = instr; }
