//===- ScalarOps.td - Element-wise operators -------------------*- td -*-===//

//===- Arithmetic -----------------------------------------------------------===//

let Kinds = NumberKinds in {
  let IsCommutative = 1 in {
    def Add : Binary<"x + y", "Sum"> {
      let Source = "ONNX Add-14";
      let Gradients = ["gradient", "gradient"];
    }
    def Mul : Binary<"x * y", "Product"> {
      let Source = "ONNX Mul-14";
      let Gradients = ["gradient * y", "gradient * x"];
    }
    def Max : Binary<"max(x, y)", "The larger; NaN if either is"> {
      let Source = "ONNX Max-13";
      let Gradients = [
        "select(x > y, gradient, select(x == y, gradient * 0.5, 0.0))",
        "select(y > x, gradient, select(x == y, gradient * 0.5, 0.0))"];
    }
    def Min : Binary<"min(x, y)", "The smaller; NaN if either is"> {
      let Source = "ONNX Min-13";
      let Gradients = [
        "select(x < y, gradient, select(x == y, gradient * 0.5, 0.0))",
        "select(y < x, gradient, select(x == y, gradient * 0.5, 0.0))"];
    }
  }
  def Sub : Binary<"x - y", "Difference"> {
    let Source = "ONNX Sub-14";
    let Gradients = ["gradient", "-gradient"];
  }
  def Div : Binary<"x / y",
      "Quotient; integers truncate towards zero, x / 0 is 0"> {
    let Source = "ONNX Div-14";
    let Gradients = ["gradient / y", "-gradient * result / y"];
  }
  def Clip : Unary<"min(max(x, low), high)", "Limits to [low, high]"> {
    let Attributes = [Attr<Float, "low", "lower bound">,
                      Attr<Float, "high", "upper bound">];
    let Source = "ONNX Clip-13";
    let Gradients = ["select(x > low && x < high, gradient, 0.0)"];
  }
}
let Kinds = SignedKinds in {
  def Abs : Unary<"max(x, -x)", "Magnitude"> {
    let Source = "ONNX Abs-13";
    let Gradients = [
      "select(x > 0.0, gradient, select(x < 0.0, -gradient, 0.0))"];
  }
  def Neg : Unary<"-x", "Negation"> {
    let Source = "ONNX Neg-13";
    let Gradients = ["-gradient"];
  }
  def Relu : Unary<"max(x, 0.0)", "Rectified linear unit"> {
    let Source = "ONNX Relu-14";
    let Gradients = ["select(result > 0.0, gradient, 0.0)"];
  }
  def Sign : Unary<"select(x > 0.0, x.like(1.0), select(x < 0.0, x.like(-1.0), x))",
                   "-1, 0 or 1"> {
    let Source = "ONNX Sign-13";
    let ZeroGradient = "it is constant between steps";
  }
}

//===- Functions ------------------------------------------------------------===//

def Exp : Unary<"exp(x)", "e to the power x"> {
  let Source = "ONNX Exp-13";
  let Gradients = ["gradient * result"];
}
def Log : Unary<"log(x)", "Natural logarithm"> {
  let Source = "ONNX Log-13";
  let Gradients = ["gradient / x"];
}
def Sqrt : Unary<"sqrt(x)", "Square root"> {
  let Source = "ONNX Sqrt-13";
  let Gradients = ["gradient * 0.5 / result"];
}
def Reciprocal : Unary<"1.0 / x", "1 / x"> {
  let Source = "ONNX Reciprocal-13";
  let Gradients = ["-gradient * result * result"];
}
def Floor : Unary<"floor(x)", "Largest integer not above"> {
  let Source = "ONNX Floor-13";
  let ZeroGradient = "it is constant between steps";
}
def Ceil : Unary<"ceil(x)", "Smallest integer not below"> {
  let Source = "ONNX Ceil-13";
  let ZeroGradient = "it is constant between steps";
}
def Round : Unary<"rint(x)", "Nearest integer, ties to even"> {
  let Source = "ONNX Round-11";
  let ZeroGradient = "it is constant between steps";
}
def Tanh : Unary<"tanh(x)", "Hyperbolic tangent"> {
  let Source = "ONNX Tanh-13";
  let Gradients = ["gradient * (1.0 - result * result)"];
}
def Erf : Unary<"erf(x)", "Error function"> {
  let Source = "ONNX Erf-13";
  let Gradients = ["gradient * exp(-(x * x)) * 1.1283791670955126"];
}
def Sin : Unary<"sin(x)", "Sine of radians"> {
  let Source = "ONNX Sin-7";
  let Gradients = ["gradient * cos(x)"];
}
def Cos : Unary<"cos(x)", "Cosine of radians"> {
  let Source = "ONNX Cos-7";
  let Gradients = ["-gradient * sin(x)"];
}
def Pow : Binary<"pow(x, y)", "x to the power y"> {
  let Source = "ONNX Pow-15";
  let Gradients = [
    "select(y == 0.0, 0.0, gradient * y * pow(x, y - 1.0))",
    "select(x == 0.0 && y >= 0.0, 0.0, gradient * result * log(x))"];
}
def Tan : Unary<"sin(x) / cos(x)", "Tangent of radians"> {
  let Source = "ONNX Tan-7";
  let Gradients = ["gradient * (1.0 + result * result)"];
}
// Differences such as 1 - x are exact where the result is near its zero.
def Asin : Unary<"atan(x / sqrt((1.0 - x) * (1.0 + x)))", "Inverse of the sine"> {
  let Source = "ONNX Asin-7";
  let Gradients = ["gradient / sqrt((1.0 - x) * (1.0 + x))"];
}
def Acos : Unary<"atan(sqrt((1.0 - x) / (1.0 + x))) * 2.0",
                 "Inverse of the cosine"> {
  let Source = "ONNX Acos-7";
  let Gradients = ["-gradient / sqrt((1.0 - x) * (1.0 + x))"];
}
def Atan : Unary<"atan(x)", "Inverse of the tangent"> {
  let Source = "ONNX Atan-7";
  let Gradients = ["gradient / (1.0 + x * x)"];
}
def Sinh : Unary<"hyperbolicSine(x)", "Hyperbolic sine"> {
  let Source = "ONNX Sinh-9";
  let Gradients = ["gradient * cosh(x)"];
}
def Cosh : Unary<"hyperbolicCosine(x)", "Hyperbolic cosine"> {
  let Source = "ONNX Cosh-9";
  let Gradients = ["gradient * sinh(x)"];
}
def Asinh : Unary<"inverseHyperbolicSine(x)", "Inverse of the hyperbolic sine"> {
  let Source = "ONNX Asinh-9";
  let Gradients = ["gradient / sqrt(x * x + 1.0)"];
}
def Acosh : Unary<"inverseHyperbolicCosine(x)",
                  "Inverse of the hyperbolic cosine"> {
  let Source = "ONNX Acosh-9";
  let Gradients = ["gradient / sqrt((x - 1.0) * (x + 1.0))"];
}
def Atanh : Unary<"inverseHyperbolicTangent(x)",
                  "Inverse of the hyperbolic tangent"> {
  let Source = "ONNX Atanh-9";
  let Gradients = ["gradient / ((1.0 - x) * (1.0 + x))"];
}

//===- Activations ----------------------------------------------------------===//

def Sigmoid : Unary<"1.0 / (1.0 + exp(-x))", "Logistic function"> {
  let Source = "ONNX Sigmoid-13";
  let Gradients = ["gradient * result * (1.0 - result)"];
}
def Silu : Unary<"x / (1.0 + exp(-x))", "x * sigmoid(x)"> {
  let Source = "Elfwing et al., arXiv 1702.03118";
  let Gradients = ["gradient * (sigmoid(x) + result * (1.0 - sigmoid(x)))"];
}
def Swish : Unary<"x / (1.0 + exp(x * -alpha))", "x * sigmoid(alpha * x)"> {
  let Attributes = [Attr<Float, "alpha", "slope of the sigmoid's argument">];
  let Source = "ONNX Swish-24";
  let Gradients = [
    "gradient * (sigmoid(x * alpha) + result * alpha * (1.0 - sigmoid(x * alpha)))"];
}
def Gelu : Unary<"x * 0.5 * (1.0 + erf(x * 0.70710678118654752))",
                 "x / 2 * (1 + erf(x / sqrt(2)))"> {
  let Source = "ONNX Gelu-20 with approximate = none";
  let Gradients = [
    "gradient * (0.5 * (1.0 + erf(x * 0.70710678118654752)) + x * exp(x * x * -0.5) * 0.39894228040143268)"];
}
// (1 + tanh(u)) / 2 is sigmoid(2 u), with u = sqrt(2 / pi) (x + 0.044715 x^3).
def GeluTanh : Unary<"x / (1.0 + exp(x * (x * x * -0.071354816272600248 - 1.5957691216057308)))",
                     "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))"> {
  let Source = "ONNX Gelu-20 with approximate = tanh";
  let Gradients = ["geluTanhGradient(x, result, gradient)"];
}
def HardSigmoid : Unary<"min(max(x * alpha + beta, 0.0), 1.0)",
                        "Piecewise linear sigmoid"> {
  let Attributes = [Attr<Float, "alpha", "slope">,
                    Attr<Float, "beta", "value at 0">];
  let Source = "ONNX HardSigmoid-6";
  let Gradients = [
    "select(result > 0.0 && result < 1.0, gradient * alpha, 0.0)"];
}
def HardSwish : Unary<"x * min(max(x * (1.0 / 6.0) + 0.5, 0.0), 1.0)",
                      "x * hardSigmoid(x) with slope 1/6"> {
  let Source = "ONNX HardSwish-14";
  let Gradients = [
    "select(x > 3.0, gradient, select(x < -3.0, 0.0, gradient * (x * (1.0 / 3.0) + 0.5)))"];
}
def LeakyRelu : Unary<"select(x < 0.0, x * alpha, x)",
                      "alpha * x below 0, else x"> {
  let Attributes = [Attr<Float, "alpha", "slope below 0">];
  let Source = "ONNX LeakyRelu-16";
  let Gradients = ["select(x > 0.0, gradient, gradient * alpha)"];
}
def PRelu : Binary<"select(x < 0.0, x * y, x)", "y * x below 0, else x"> {
  let Source = "ONNX PRelu-16";
  let Gradients = [
    "select(x > 0.0, gradient, gradient * y)",
    "select(x > 0.0, 0.0, gradient * x)"];
}
def Elu : Unary<"select(x < 0.0, (exp(min(x, 0.0)) - 1.0) * alpha, x)",
                "alpha * (e^x - 1) below 0, else x"> {
  let Attributes = [Attr<Float, "alpha", "limit towards -infinity, negated">];
  let Source = "ONNX Elu-6";
  let Gradients = [
    "select(x > 0.0, gradient, gradient * (result + alpha))"];
}

def Selu : Unary<"select(x > 0.0, x, (exp(min(x, 0.0)) - 1.0) * alpha) * gamma",
                 "Scaled exponential linear unit"> {
  let Attributes = [Attr<Float, "alpha", "limit towards -infinity, negated">,
                    Attr<Float, "gamma", "factor of the result">];
  let Source = "ONNX Selu-6";
  let Gradients = [
    "select(x > 0.0, gradient * gamma, gradient * (result + alpha * gamma))"];
}

//===- Bits -----------------------------------------------------------------===//

let Kinds = IntegerKinds, ZeroGradient = "the result is an integer" in {
  let IsCommutative = 1 in {
    def BitAnd : Binary<"x & y", "Bits that both have"> {
      let Source = "ONNX BitwiseAnd-18";
    }
    def BitOr : Binary<"x | y", "Bits that either has"> {
      let Source = "ONNX BitwiseOr-18";
    }
    def BitXor : Binary<"x ^ y", "Bits in which they differ"> {
      let Source = "ONNX BitwiseXor-18";
    }
  }
  def ShiftLeft : Binary<"shiftLeft(x, y)",
      "x moved up by y bits; 0 where those are all"> {
    let Source = "ONNX BitShift-11";
  }
  def ShiftRight : Binary<"shiftRight(x, y)",
      "x, as if unsigned, moved down by y bits; 0 where those are all"> {
    let Source = "ONNX BitShift-11";
  }
}

//===- Random numbers ------------------------------------------------------===//

let Kinds = UInt64Kind, ZeroGradient = "the result is an integer" in
def RandomBits : Binary<"randomBits(x, y)",
    "64 random bits, a function of a counter x and a key y"> {
  let Description = [{
    The first two words of Philox 4x32-10 for the counter and the key, 64 bits
    each, low words first. Equal operands give equal bits everywhere.
  }];
  let Source =
      "Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011";
}

//===- Comparison and choice ------------------------------------------------===//

let ResultKind = "Bool", ZeroGradient = "the result is a bool" in {
  let Kinds = AnyKinds, IsCommutative = 1 in
  def Equal : Binary<"x == y", "x == y"> { let Source = "ONNX Equal-13"; }
  let Kinds = NumberKinds in {
    def Less : Binary<"x < y", "x < y"> { let Source = "ONNX Less-13"; }
    def Greater : Binary<"x > y", "x > y"> { let Source = "ONNX Greater-13"; }
    def LessOrEqual : Binary<"x <= y", "x <= y"> {
      let Source = "ONNX LessOrEqual-16";
    }
    def GreaterOrEqual : Binary<"x >= y", "x >= y"> {
      let Source = "ONNX GreaterOrEqual-16";
    }
  }
}
let Kinds = BoolKind, ZeroGradient = "the result is a bool" in {
  def Not : Unary<"!x", "Negation"> { let Source = "ONNX Not-1"; }
  let IsCommutative = 1 in {
    def And : Binary<"x && y", "Conjunction"> { let Source = "ONNX And-7"; }
    def Or : Binary<"x || y", "Disjunction"> { let Source = "ONNX Or-7"; }
  }
}
def Select : ElementWise<["condition", "x", "y"], "select(condition, x, y)",
                         "x where the condition holds, else y"> {
  let Kinds = AnyKinds;
  let FirstIsBool = 1;
  let Source = "ONNX Where-16";
  let Gradients = [
    "",
    "select(condition, gradient, 0.0)",
    "select(condition, 0.0, gradient)"];
}
def Cast : Unary<"x", "Conversion to another element kind"> {
  let Kinds = AnyKinds;
  let ResultKind = "To";
  let Description = [{
    A float becomes an integer by truncation towards zero; what does not fit
    saturates, NaN becomes 0. Integers wrap. Anything but 0 becomes true.
  }];
  let Attributes = [Attr<Kind, "to", "the result's element kind">];
  let Source = "ONNX Cast-13";
}
