//===- ScalarOps.td - Element-wise operators ---------------------*- td -*-===//

//===- Arithmetic ---------------------------------------------------------===//

let Kinds = NumberKinds in {
  let IsCommutative = 1 in {
    def Add : Binary<"x + y", "Sum"> {
      let ScalarTraits = [FewInstructions, Homogeneous];
      let HasVariableRoles = 1;
      let Onnx = "Add";
      let HasCanonicalization = 1;
      let Caffe2 = ["Add"];
      let Source = "ONNX Add-14";
      let Gradients = ["gradient", "gradient"];
    }
    def Mul : Binary<"x * y", "Multiplication"> {
      let ScalarTraits = [FewInstructions, Multilinear];
      let ReadsQuantized = 1;
      let Onnx = "Mul";
      let HasCanonicalization = 1;
      let Caffe2 = ["Mul"];
      let Source = "ONNX Mul-14";
      let Gradients = ["gradient * y", "gradient * x"];
    }
    def Max : Binary<"max(x, y)", "Maximum; NaN if an operand is NaN"> {
      let ScalarTraits = [FewInstructions, Homogeneous];
      let IsExact = "true";
      let Onnx = "Max";
      let Source = "ONNX Max-13";
      let Gradients = [
        "select(x > y, gradient, select(x == y, gradient * 0.5, 0.0))",
        "select(y > x, gradient, select(x == y, gradient * 0.5, 0.0))"];
    }
    def Min : Binary<"min(x, y)", "Minimum; NaN if an operand is NaN"> {
      let ScalarTraits = [FewInstructions, Homogeneous];
      let IsExact = "true";
      let Onnx = "Min";
      let Source = "ONNX Min-13";
      let Gradients = [
        "select(x < y, gradient, select(x == y, gradient * 0.5, 0.0))",
        "select(y < x, gradient, select(x == y, gradient * 0.5, 0.0))"];
    }
  }
  def Sub : Binary<"x - y", "Difference"> {
    let ScalarTraits = [Homogeneous];
    let ScalarTraits = [FewInstructions];
    let Onnx = "Sub";
    let HasCanonicalization = 1;
    let Caffe2 = ["Sub"];
    let Source = "ONNX Sub-14";
    let Gradients = ["gradient", "-gradient"];
  }
  def Div : Binary<"x / y",
      "Quotient; of integers truncated towards zero, and 0 for x / 0"> {
    let ScalarTraits = [HasPole];
    let Onnx = "Div";
    let HasCanonicalization = 1;
    let Caffe2 = ["Div"];
    let Source = "ONNX Div-14";
    let Gradients = ["gradient / y", "-gradient * result / y"];
  }
  def Clip : Unary<"min(max(x, low), high)", "Clamps to [low, high]"> {
    let Attributes = [Attr<Float, "low", "lower bound">,
                      Attr<Float, "high", "upper bound">];
    let ScalarTraits = [FewInstructions, Homogeneous];
    let IsExact = "true";
    let Source = "ONNX Clip-13";
    let Gradients = ["select(x > low && x < high, gradient, 0.0)"];
  }
}
let Kinds = SignedKinds in {
  def Abs : Unary<"max(x, -x)", "Absolute value"> {
    let ScalarTraits = [FewInstructions, Homogeneous];
    let IsExact = "true";
    let Onnx = "Abs";
    let Caffe2 = ["Abs"];
    let TFLite = "ABS";
    let Source = "ONNX Abs-13";
    let Gradients = [
      "select(x > 0.0, gradient, select(x < 0.0, -gradient, 0.0))"];
  }
  def Neg : Unary<"-x", "Negation"> {
    let ScalarTraits = [FewInstructions, Homogeneous];
    let IsExact = "true";
    let Onnx = "Neg";
    let Caffe2 = ["Neg", "Negative"];
    let TFLite = "NEG";
    let Source = "ONNX Neg-13";
    let Gradients = ["-gradient"];
  }
  def Relu : Unary<"max(x, 0.0)", "Rectified linear unit"> {
    let ScalarTraits = [FewInstructions, Homogeneous];
    let IsExact = "true";
    let Caffe2 = ["Relu"];
    let Source = "ONNX Relu-14";
    let Gradients = ["select(result > 0.0, gradient, 0.0)"];
  }
  def Sign : Unary<"select(x > 0.0, x.like(1.0), select(x < 0.0, x.like(-1.0), x))",
                   "Sign: -1, 0 or 1; NaN of NaN"> {
    let IsExact = "true";
    let Onnx = "Sign";
    let OnnxSince = 9;
    let Caffe2 = ["Sign"];
    let TFLite = "SIGN";
    let Source = "ONNX Sign-13";
    let ZeroGradient = "it is piecewise constant";
  }
}

//===- Functions ----------------------------------------------------------===//

def Exp : Unary<"exp(x)", "Exponential function"> {
  let Onnx = "Exp";
  let Caffe2 = ["Exp"];
  let Aten = ["exp"];
  let Source = "ONNX Exp-13";
  let Gradients = ["gradient * result"];
}
def Expm1 : Unary<"expm1(x)", "e^x - 1, exact near 0"> {
  let Aten = ["expm1"];
  let Source = "torch.expm1";
  let Gradients = ["gradient * exp(x)"];
}
def Log : Unary<"log(x)", "Natural logarithm"> {
  let ScalarTraits = [HasPole];
  let DomainLow = "0";
  let Onnx = "Log";
  let Caffe2 = ["Log"];
  let Aten = ["log"];
  let Source = "ONNX Log-13";
  let Gradients = ["gradient / x"];
}
def Log1p : Unary<"log1p(x)", "Natural logarithm of 1 + x, exact near 0"> {
  let ScalarTraits = [HasPole];
  let DomainLow = "-1";
  let Caffe2 = ["Log1p"];
  let Aten = ["log1p"];
  let Source = "torch.log1p";
  let Gradients = ["gradient / (1.0 + x)"];
}
def Sqrt : Unary<"sqrt(x)", "Square root"> {
  let ScalarTraits = [HasPole];
  let DomainLow = "0";
  let Onnx = "Sqrt";
  let Caffe2 = ["Sqrt"];
  let TFLite = "SQRT";
  let Aten = ["sqrt"];
  let Source = "ONNX Sqrt-13";
}
def Reciprocal : Unary<"1.0 / x", "1 / x"> {
  let ScalarTraits = [HasPole];
  let Onnx = "Reciprocal";
  let Caffe2 = ["Reciprocal"];
  let Aten = ["reciprocal"];
  let Source = "ONNX Reciprocal-13";
  let Gradients = ["-gradient * result * result"];
}
def Floor : Unary<"floor(x)", "Largest integer not greater than x"> {
  let IsExact = "true";
  let Onnx = "Floor";
  let Caffe2 = ["Floor"];
  let TFLite = "FLOOR";
  let Source = "ONNX Floor-13";
  let ZeroGradient = "it is piecewise constant";
}
def Ceil : Unary<"ceil(x)", "Smallest integer not less than x"> {
  let IsExact = "true";
  let Onnx = "Ceil";
  let Caffe2 = ["Ceil"];
  let TFLite = "CEIL";
  let Source = "ONNX Ceil-13";
  let ZeroGradient = "it is piecewise constant";
}
def Round : Unary<"rint(x)", "Nearest integer, ties to even"> {
  let IsExact = "true";
  let Onnx = "Round";
  let OnnxSince = 11;
  let TFLite = "ROUND";
  let Source = "ONNX Round-11";
  let ZeroGradient = "it is piecewise constant";
}
def Tanh : Unary<"tanh(x)", "Hyperbolic tangent"> {
  let Onnx = "Tanh";
  let Caffe2 = ["Tanh"];
  let Aten = ["tanh"];
  let Source = "ONNX Tanh-13";
  let Gradients = ["gradient * (1.0 - result * result)"];
}
def Erf : Unary<"erf(x)", "Error function"> {
  let Onnx = "Erf";
  let OnnxSince = 9;
  let Caffe2 = ["Erf"];
  let Aten = ["erf"];
  let Source = "ONNX Erf-13";
  let Gradients = ["gradient * exp(-(x * x)) * 1.1283791670955126"];
}
def Erfc : Unary<"erfc(x)", "1 - erf(x), exact where that is small"> {
  let Aten = ["erfc"];
  let Source = "torch.erfc";
  let Gradients = ["-gradient * exp(-(x * x)) * 1.1283791670955126"];
}
def Sin : Unary<"sin(x)", "Sine of radians"> {
  let Onnx = "Sin";
  let OnnxSince = 7;
  let Caffe2 = ["Sin"];
  let TFLite = "SIN";
  let Aten = ["sin"];
  let Source = "ONNX Sin-7";
  let Gradients = ["gradient * cos(x)"];
}
def Cos : Unary<"cos(x)", "Cosine of radians"> {
  let Onnx = "Cos";
  let OnnxSince = 7;
  let Caffe2 = ["Cos"];
  let TFLite = "COS";
  let Aten = ["cos"];
  let Source = "ONNX Cos-7";
  let Gradients = ["-gradient * sin(x)"];
}
def Pow : Binary<"pow(x, y)", "x to the power y; of integers, 1 / x^-y is truncated towards zero, and 0 for x = 0"> {
  let Kinds = NumberKinds;
  let ScalarTraits = [HasPole];
  let DomainLow = "0";
  let Onnx = "Pow";
  let HasCanonicalization = 1;
  let TFLite = "POW";
  let Source = "ONNX Pow-15";
}
def Tan : Unary<"tan(x)", "Tangent of radians"> {
  let ScalarTraits = [HasPole];
  let Onnx = "Tan";
  let OnnxSince = 7;
  let Caffe2 = ["Tan"];
  let Aten = ["tan"];
  let Source = "ONNX Tan-7";
  let Gradients = ["gradient * (1.0 + result * result)"];
}
// Near x = 1 and -1 the factors 1 - x and 1 + x are exact, unlike 1 - x * x.
def Asin : Unary<"asin(x)", "Inverse sine"> {
  let ScalarTraits = [HasPole];
  let DomainLow = "-1";
  let DomainHigh = "1";
  let Onnx = "Asin";
  let OnnxSince = 7;
  let Caffe2 = ["Asin"];
  let Aten = ["asin"];
  let Source = "ONNX Asin-7";
  let Gradients = ["gradient / sqrt((1.0 - x) * (1.0 + x))"];
}
def Acos : Unary<"acos(x)", "Inverse cosine"> {
  let ScalarTraits = [HasPole];
  let DomainLow = "-1";
  let DomainHigh = "1";
  let Onnx = "Acos";
  let OnnxSince = 7;
  let Caffe2 = ["Acos"];
  let Aten = ["acos"];
  let Source = "ONNX Acos-7";
  let Gradients = ["-gradient / sqrt((1.0 - x) * (1.0 + x))"];
}
def Atan : Unary<"atan(x)", "Inverse tangent"> {
  let Onnx = "Atan";
  let OnnxSince = 7;
  let Caffe2 = ["Atan"];
  let Aten = ["atan"];
  let Source = "ONNX Atan-7";
  let Gradients = ["gradient / (1.0 + x * x)"];
}
def Sinh : Unary<"sinh(x)", "Hyperbolic sine"> {
  let Onnx = "Sinh";
  let OnnxSince = 9;
  let Caffe2 = ["Sinh"];
  let Aten = ["sinh"];
  let Source = "ONNX Sinh-9";
  let Gradients = ["gradient * cosh(x)"];
}
def Cosh : Unary<"cosh(x)", "Hyperbolic cosine"> {
  let Onnx = "Cosh";
  let OnnxSince = 9;
  let Caffe2 = ["Cosh"];
  let Aten = ["cosh"];
  let Source = "ONNX Cosh-9";
  let Gradients = ["gradient * sinh(x)"];
}
def Asinh : Unary<"asinh(x)", "Inverse hyperbolic sine"> {
  let Onnx = "Asinh";
  let OnnxSince = 9;
  let Aten = ["asinh"];
  let Source = "ONNX Asinh-9";
  let Gradients = ["gradient / sqrt(x * x + 1.0)"];
}
def Acosh : Unary<"acosh(x)", "Inverse hyperbolic cosine"> {
  let ScalarTraits = [HasPole];
  let DomainLow = "1";
  let Onnx = "Acosh";
  let OnnxSince = 9;
  let Aten = ["acosh"];
  let Source = "ONNX Acosh-9";
  let Gradients = ["gradient / sqrt((x - 1.0) * (x + 1.0))"];
}
def Atanh : Unary<"atanh(x)", "Inverse hyperbolic tangent"> {
  let ScalarTraits = [HasPole];
  let DomainLow = "-1";
  let DomainHigh = "1";
  let Onnx = "Atanh";
  let OnnxSince = 9;
  let Aten = ["atanh"];
  let Source = "ONNX Atanh-9";
  let Gradients = ["gradient / ((1.0 - x) * (1.0 + x))"];
}

//===- Activations --------------------------------------------------------===//

def Sigmoid : Unary<"1.0 / (1.0 + exp(-x))", "Logistic function"> {
  let Onnx = "Sigmoid";
  let Caffe2 = ["Sigmoid"];
  let Aten = ["sigmoid"];
  let Source = "ONNX Sigmoid-13";
  let Gradients = ["gradient * result * (1.0 - result)"];
}
def Silu : Unary<"x / (1.0 + exp(-x))", "x * sigmoid(x)"> {
  let HasLowering = 1;
  let Caffe2 = ["Swish"];
  let Aten = ["silu"];
  let Source = "Elfwing et al., arXiv 1702.03118";
  let Gradients = ["gradient * (sigmoid(x) + result * (1.0 - sigmoid(x)))"];
}
def Swish : Unary<"x / (1.0 + exp(x * -alpha))", "x * sigmoid(alpha * x)"> {
  let Attributes = [Attr<Float, "alpha", "slope of the sigmoid's argument">];
  let HasLowering = 1;
  let Source = "ONNX Swish-24";
  let Gradients = [
    "gradient * (sigmoid(x * alpha) + result * alpha * (1.0 - sigmoid(x * alpha)))"];
}
def Gelu : Unary<"x * 0.5 * (1.0 + erf(x * 0.70710678118654752))",
                 "x / 2 * (1 + erf(x / sqrt(2)))"> {
  let HasLowering = 1;
  let Source = "ONNX Gelu-20 with approximate = none";
  let Gradients = [
    "gradient * (0.5 * (1.0 + erf(x * 0.70710678118654752)) + x * exp(x * x * -0.5) * 0.39894228040143268)"];
}
// (1 + tanh(u)) / 2 is sigmoid(2 u), with u = sqrt(2 / pi) (x + 0.044715 x^3).
def GeluTanh : Unary<"x / (1.0 + exp(x * (x * x * -0.071354816272600248 - 1.5957691216057308)))",
                     "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))"> {
  let HasLowering = 1;
  let Source = "ONNX Gelu-20 with approximate = tanh";
  let Gradients = ["geluTanhGradient(x, result, gradient)"];
}
def HardSigmoid : Unary<"min(max(x * alpha + beta, 0.0), 1.0)",
                        "Piecewise linear sigmoid"> {
  let Attributes = [Attr<Float, "alpha", "slope">,
                    Attr<Float, "beta", "value at 0">];
  let Onnx = "HardSigmoid";
  let Defaults = ["0.2", "0.5"];
  let Caffe2 = ["HardSigmoid"];
  let Source = "ONNX HardSigmoid-6";
  let Gradients = [
    "select(result > 0.0 && result < 1.0, gradient * alpha, 0.0)"];
}
def HardSwish : Unary<"x * min(max(x * (1.0 / 6.0) + 0.5, 0.0), 1.0)",
                      "x * hardSigmoid(x) with slope 1/6"> {
  let Onnx = "HardSwish";
  let OnnxSince = 14;
  let HasLowering = 1;
  let Aten = ["hardswish"];
  let Source = "ONNX HardSwish-14";
  let Gradients = [
    "select(x > 3.0, gradient, select(x < -3.0, 0.0, gradient * (x * (1.0 / 3.0) + 0.5)))"];
}
def LeakyRelu : Unary<"select(x < 0.0, x * alpha, x)",
                      "alpha * x below 0, else x"> {
  let Attributes = [Attr<Float, "alpha", "slope below 0">];
  let Onnx = "LeakyRelu";
  let Defaults = ["0.01"];
  let Caffe2 = ["LeakyRelu"];
  let Source = "ONNX LeakyRelu-16";
  let Gradients = ["select(x > 0.0, gradient, gradient * alpha)"];
}
def PRelu : Binary<"select(x < 0.0, x * y, x)", "y * x below 0, else x"> {
  let HasLowering = 1;
  let Source = "ONNX PRelu-16";
  let Gradients = [
    "select(x > 0.0, gradient, gradient * y)",
    "select(x > 0.0, 0.0, gradient * x)"];
}
def Softplus : Unary<"softplus(x)", "ln(1 + e^x)"> {
  let Onnx = "Softplus";
  let Caffe2 = ["Softplus"];
  let Source = "ONNX Softplus-1";
  let Gradients = ["gradient * sigmoid(x)"];
}
def LogSigmoid : Unary<"-softplus(-x)", "Logarithm of the logistic function"> {
  let Caffe2 = ["LogSigmoid"];
  let TFLite = "LogSigmoid";
  let Aten = ["log_sigmoid"];
  let Source = "torch.nn.LogSigmoid";
  let Gradients = ["gradient / (1.0 + exp(x))"];
}
def Mish : Unary<"mish(x)", "x * tanh(ln(1 + e^x))"> {
  let Aten = ["mish"];
  let Source = "ONNX Mish-18";
  let Gradients = ["gradient * mishSlope(x)"];
}
def Elu : Unary<"select(x < 0.0, expm1(min(x, 0.0)) * alpha, x)",
                "alpha * (e^x - 1) below 0, else x"> {
  let Attributes = [Attr<Float, "alpha", "limit towards -infinity, negated">];
  let Onnx = "Elu";
  let Defaults = ["1.0"];
  let Caffe2 = ["Elu"];
  let Source = "ONNX Elu-6";
  let Gradients = [
    "select(x > 0.0, gradient, gradient * exp(min(x, 0.0)) * alpha)"];
}

def Selu : Unary<"select(x > 0.0, x, expm1(min(x, 0.0)) * alpha) * gamma",
                 "Scaled exponential linear unit"> {
  let Attributes = [Attr<Float, "alpha", "limit towards -infinity, negated">,
                    Attr<Float, "gamma", "factor of the result">];
  let Onnx = "Selu";
  let Defaults = ["1.67326319217681884765625",
                      "1.05070102214813232421875"];
  let Source = "ONNX Selu-6";
  let Gradients = [
    "gradient * select(x > 0.0, gamma, exp(min(x, 0.0)) * (alpha * gamma))"];
}

//===- Bits ---------------------------------------------------------------===//

let Kinds = IntegerKinds, ZeroGradient = "the result is an integer" in {
  let IsCommutative = 1 in {
    def BitAnd : Binary<"x & y", "Bitwise and"> {
      let Source = "ONNX BitwiseAnd-18";
    }
    def BitOr : Binary<"x | y", "Bitwise or"> {
      let Source = "ONNX BitwiseOr-18";
    }
    def BitXor : Binary<"x ^ y", "Bitwise exclusive or"> {
      let Source = "ONNX BitwiseXor-18";
    }
  }
  def ShiftLeft : Binary<"shiftLeft(x, y)",
      "x << y; 0 if y is at least the number of bits"> {
    let Source = "ONNX BitShift-11";
  }
  def ShiftRight : Binary<"shiftRight(x, y)",
      "Logical x >> y; 0 if y is at least the number of bits"> {
    let Source = "ONNX BitShift-11";
  }
}

//===- Fixed-point numbers ------------------------------------------------===//

let Kinds = Int32Kind, ZeroGradient = "the result is an integer" in
def Rescale : ElementWise<["x", "multiplier", "shift"],
    "rescale(x, multiplier, shift)",
    "x * multiplier * 2^(shift - 31) in integers, rounded twice"> {
  let Description = [{
    x, times 2^shift where shift is positive, is multiplied by multiplier / 2^31
    and rounded to the nearest integer, halves up; then it is divided by 2^-shift
    where shift is negative, -31 at least, and rounded to the nearest again,
    halves away from zero. What does not fit into 32 bits wraps.
  }];
  let IsExact = "true";
  let Source = "MultiplyByQuantizedMultiplier of TensorFlow Lite; Jacob et al., arXiv 1712.05877";
}

//===- Tables -------------------------------------------------------------===//

def Lookup : Unary<"lookup(x, table)",
                   "The number of a table that the bits of x choose"> {
  let Kinds = ByteKinds;
  let TableSize = 256;
  let Description = [{
    Any function of a byte. table[i] is the result for i read as a uint8: that
    of int8 -1 is table[255]. Numbers of the table are of x's kind.
  }];
  let Attributes = [Attr<Ints, "table", "256 numbers">];
  let ScalarTraits = [FewInstructions];
  let IsExact = "true";
  let ZeroGradient = "the result is an integer";
  let Source = "ONNX Gather-13 of a constant";
}

//===- Random numbers -----------------------------------------------------===//

let Kinds = UInt64Kind, ZeroGradient = "the result is an integer" in
def RandomBits : Binary<"randomBits(x, y)",
    "64 random bits as a function of counter x and key y"> {
  let Description = [{
    The first two words of Philox 4x32-10 for the counter and the key, 64 bits
    each, low words first. Equal operands give equal bits on all targets.
  }];
  let Source =
      "Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011";
}

//===- Comparison and choice ----------------------------------------------===//

let ResultKind = "Bool", ZeroGradient = "the result is a bool" in {
  let Kinds = AnyKinds, IsCommutative = 1 in
  def Equal : Binary<"x == y", "x == y"> {
    let Onnx = "Equal";
    let Caffe2 = ["EQ"];
    let Aten = ["eq"];
    let Source = "ONNX Equal-13";
  }
  let Kinds = NumberKinds in {
    def Less : Binary<"x < y", "x < y"> {
      let Onnx = "Less";
      let Caffe2 = ["LT", "Less"];
      let Aten = ["lt", "less"];
      let Source = "ONNX Less-13";
    }
    def Greater : Binary<"x > y", "x > y"> {
      let Onnx = "Greater";
      let Caffe2 = ["GT"];
      let Aten = ["gt", "greater"];
      let Source = "ONNX Greater-13";
    }
    def LessOrEqual : Binary<"x <= y", "x <= y"> {
      let Onnx = "LessOrEqual";
      let OnnxSince = 12;
      let Caffe2 = ["LE"];
      let Aten = ["le", "less_equal"];
      let Source = "ONNX LessOrEqual-16";
    }
    def GreaterOrEqual : Binary<"x >= y", "x >= y"> {
      let Onnx = "GreaterOrEqual";
      let OnnxSince = 12;
      let Caffe2 = ["GE"];
      let Aten = ["ge", "greater_equal"];
      let Source = "ONNX GreaterOrEqual-16";
    }
  }
}
let Kinds = BoolKind, ZeroGradient = "the result is a bool" in {
  def Not : Unary<"!x", "Logical negation"> {
    let Onnx = "Not";
    let Caffe2 = ["Not"];
    let Source = "ONNX Not-1";
  }
  let IsCommutative = 1 in {
    def And : Binary<"x && y", "Logical and"> {
      let Onnx = "And";
      let Caffe2 = ["And"];
      let TFLite = "LOGICAL_AND";
      let Aten = ["logical_and"];
      let Source = "ONNX And-7";
    }
    def Or : Binary<"x || y", "Logical or"> {
      let Onnx = "Or";
      let Caffe2 = ["Or"];
      let TFLite = "LOGICAL_OR";
      let Aten = ["logical_or"];
      let Source = "ONNX Or-7";
    }
  }
}
def Select : ElementWise<["condition", "x", "y"], "select(condition, x, y)",
                         "x if the condition is true, else y"> {
  let Kinds = AnyKinds;
  let FirstIsBool = 1;
  let IsExact = "true";
  let HasCanonicalization = 1;
  let Onnx = "Where";
  let OnnxSince = 9;
  let Source = "ONNX Where-16";
  let Gradients = [
    "",
    "select(condition, gradient, 0.0)",
    "select(condition, 0.0, gradient)"];
}
def Cast : Unary<"x", "Conversion to another element kind"> {
  let Kinds = StoredKinds;
  let ResultKind = "To";
  let Description = [{
    Floats are converted to integers by truncation towards zero; values out of
    range saturate and NaN becomes 0. Integers wrap. Nonzero values become true.
    Integers under 8 bits have the low bits of what an int32 would be. Floats are
    rounded to nearest, ties to even; those too large become infinite, or NaN
    where a kind has no infinity, or the largest number where it has neither.
    Numbers become float8e8m0, powers of two, by rounding up, without their sign.
  }];
  let Attributes = [Attr<Kind, "to", "the result's element kind">];
  let ScalarTraits = [FewInstructions];
  let IsExact = "true";
  let HasCanonicalization = 1;
  let Source = "ONNX Cast-13";
}
