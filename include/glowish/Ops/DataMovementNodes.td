//===- DataMovementNodes.td - Data movement ----------------------*- td -*-===//
//
// Nodes that move elements, a part of Nodes.td.
//
//===----------------------------------------------------------------------===//

def Concat : Node<"Concatenates tensors along one dimension"> {
  let Operands = [VariadicAxesOperand<"inputs", "at least one">];
  let Attributes = [AxesAttr<Axis, Int, "axis", "dimension, counted from 0">];
  let Traits = [StaticDataMovement, ReadsAnyStrides, CheapToRecompute,
                  PermutesAxes];
  let IsExact = "true";
  let AxisRule = "followConcat";
  let ExtentRule = "extendConcat";
  let HasExtentLowering = 1;
  let HasCanonicalization = 1;
  let IRGeneration = "true";
  let TracesElements = 1;
  let MovesQuantized = 1;
  let Source = "ONNX Concat-13";
}
def Slice : Node<"Extracts a strided slice"> {
  let Operands = [AxesOperand<"input">];
  let Attributes = [AxesAttr<PerAxis, Ints, "starts",
                             "first index of each dimension">,
                    AxesAttr<ResultExtents, Ints, "sizes",
                             "the result's extents">,
                    AxesAttr<PerAxis, Ints, "steps", "may be negative, not 0">];
  let Traits = [StaticDataMovement, ReadsAnyStrides, CheapToRecompute,
                  PermutesAxes];
  let IsExact = "true";
  let AxisRule = "followSlice";
  let ExtentRule = "extendSlice";
  let Filler = "fillNothing";
  let HasCanonicalization = 1;
  let IRGeneration = "true";
  let TracesElements = 1;
  let Source = "ONNX Slice-13";
}
def Transpose : Node<"Permutes dimensions"> {
  let Description = [{
    Dimension i of the result is dimension permutation[i] of the input.
  }];
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Ints, "permutation", "a permutation of 0 ... rank-1">];
  let Traits = [StaticDataMovement, ReadsAnyStrides, CheapToRecompute];
  let IsExact = "true";
  let AxisRule = "followTranspose";
  let ExtentRule = "extendTranspose";
  let Filler = "fillNothing";
  let HasCanonicalization = 1;
  let IRGeneration = "true";
  let Source = "ONNX Transpose-13";
}
def Reshape
    : Node<"Reinterprets the row-major elements as another shape"> {
  let Operands = [Operand<"input">];
  let Attributes = [AxesAttr<ResultExtents, Ints, "shape",
                             "extents of the result">];
  let Traits = [StaticDataMovement, View, CheapToRecompute];
  let AxisRule = "followReshape";
  let ExtentRule = "extendReshape";
  let Filler = "fillNothing";
  let IsExact = "true";
  let HasCanonicalization = 1;
  let IRGeneration = "true";
  let TracesElements = 1;
  let Source = "ONNX Reshape-14";
}
def Broadcast : Node<"Broadcasts to a shape by NumPy's rules"> {
  let Operands = [Operand<"input">];
  let Attributes = [AxesAttr<ResultExtents, Ints, "shape",
                             "shape of the result">];
  let Traits = [StaticDataMovement, ReadsAnyStrides, CheapToRecompute];
  let AxisRule = "followBroadcast";
  let ExtentRule = "extendBroadcast";
  let Filler = "fillNothing";
  let IsExact = "true";
  let HasCanonicalization = 1;
  let IRGeneration = "true";
  let TracesElements = 1;
  let Source = "ONNX Expand-13";
}
def Tile : Node<"Repeats a tensor along its dimensions"> {
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Ints, "repeats", "one count per dimension">];
  let Traits = [StaticDataMovement, CheapToRecompute];
  let IsExact = "true";
  let AxisRule = "followTile";
  let ExtentRule = "extendTile";
  let Filler = "fillNothing";
  let HasLowering = 1;
  let IRGeneration = "true";
  let Source = "ONNX Tile-13";
}
def Pad : Node<"Pads or crops a tensor"> {
  let Description = "Negative pads crop; they need mode constant.";
  let Operands = [AxesOperand<"input">];
  let Attributes = [AxesAttr<PerAxisPads, Ints, "pads",
                             "before, then after each dimension">,
                    Attr<String, "mode", "", "",
                         ["constant", "reflect", "edge"]>,
                    Attr<Float, "value", "padding of mode constant">];
  let Traits = [StaticDataMovement, ReadsAnyStrides, CheapToRecompute,
                  PermutesAxes];
  let IsExact = "true";
  let AxisRule = "followPad";
  let ExtentRule = "extendPad";
  let HasExtentLowering = 1;
  let HasCanonicalization = 1;
  let HasLowering = 1;
  let IRGeneration = [{op.getMode() == "constant"}];
  let Source = "ONNX Pad-13";
}
def Gather : Node<"Selects slices by index along one dimension"> {
  let Description = [{
    The result has the input's shape with the dimension `axis` replaced by the
    shape of indices (int32 or int64). Negative indices count from the end;
    indices out of range are clamped.
  }];
  let Operands = [Operand<"input">, Operand<"indices">];
  let Attributes = [Attr<Int, "axis", "dimension, counted from 0">];
  let Traits = [DynamicDataMovement];
  let IsExact = "true";
  let AxisRule = "followGather";
  let ExtentRule = "extendGather";
  let HasExtentLowering = 1;
  let HasCanonicalization = 1;
  let TracesElements = 1;
  let Source = "ONNX Gather-13";
}
def Scatter : Node<"Updates rows of a matrix by index"> {
  let Description = [{
    input [N, E], indices [M] (int32 or int64; negative ones count from the
    end), updates [M, E], result [N, E]: the input, with row i of updates
    combined into row indices[i], in the order of i. Updates with an index out
    of range are ignored. All modes but `replace` are for floats and integers; of
    max and min, the result is NaN if an element is.
  }];
  let Operands = [Operand<"input">, Operand<"indices">, Operand<"updates">];
  let Attributes = [Attr<String, "mode", "how updates are combined", "",
                         ["replace", "add", "mul", "max", "min"]>];
  let Traits = [DynamicDataMovement];
  let IsExact = [{op.getMode() == "replace" ||
                   !isFloatKind(op.getInput().getKind())}];
  let ExtentRule = "extendScatter";
  let HasExtentLowering = 1;
  let Source = "ONNX ScatterND-18, ScatterElements-18";
}
def DynamicUpdateSlice : Node<"Replaces a slice that begins at an index"> {
  let Description = [{
    The input, with `update` in place of the elements from index `start` on
    along dimension `axis`. The update has the input's shape, but for that
    dimension, of which it has at most as much. start: int32 or int64, one
    element, clamped so that the update lies in the input.
  }];
  let Operands = [Operand<"input">, Operand<"update">, Operand<"start">];
  let Attributes = [Attr<Int, "axis", "dimension, counted from 0">];
  let Traits = [DynamicDataMovement];
  let IsExact = "true";
  let AxisRule = "followDynamicUpdateSlice";
  let ExtentRule = "extendDynamicUpdateSlice";
  let HasExtentLowering = 1;
  let IRGeneration = "true";
  let Source = "StableHLO dynamic_update_slice; ONNX TensorScatter-24";
}
def TopK : Node<"Indices of the largest elements along the last dimension"> {
  let Description = [{
    input [..., N], result [..., count], int64, in descending order of the
    elements (ascending if not `largest`). Of equal elements the one with the
    lower index comes first. NaN compares greater than all numbers.
  }];
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Int, "count", "number of elements, at most N">,
                    Attr<Bool, "largest", "false: the smallest elements">];
  let IsExact = "true";
  let AxisRule = "followAllButLast";
  let ExtentRule = "extendTopK";
  let Filler = "fillTopK";
  let Source = "ONNX TopK-11";
  let ZeroGradient = "the result is an integer";
}
def NonMaxSuppression : Node<"Greedy selection of boxes that overlap little"> {
  let Description = [{
    boxes [B, N, 4], float, [top, left, bottom, right] with top <= bottom and
    left <= right. candidates [B, C, K], int64: indices of boxes of the same
    batch in descending order of preference; values that are no index are
    skipped. threshold: a float. A candidate is selected unless its intersection
    over union with a box selected before is above the threshold. result
    [B, C, count], int64: the indices of the first `count` selected boxes,
    followed by -1.
  }];
  let Operands = [Operand<"boxes">, Operand<"candidates">,
                  Operand<"threshold">];
  let Attributes = [Attr<Int, "count", "maximum number of boxes per class">];
  let ExtentRule = "extendNonMaxSuppression";
  let HasExtentLowering = 1;
  let Source = "ONNX NonMaxSuppression-11";
  let ZeroGradient = "the result is an integer";
}
def BitCast : Node<"Reinterprets the bits as another element kind"> {
  let Description = [{
    Both kinds have the same size. A bool is read as 0 or 1 and cannot be the
    result.
  }];
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Kind, "to", "the result's element kind">];
  let Traits = [CheapToRecompute];
  let IsExact = "true";
  let ExtentRule = "extendFirst";
  let Filler = "fillNothing";
  let Source = "ONNX BitCast-26";
  let NoGradient = "reinterpreting bits is not differentiable";
}
def Resize : Node<"Resizes NHWC images"> {
  let Description = "input [N, H, W, C], result [N, sizes[0], sizes[1], C].";
  let Operands = [Operand<"input">];
  let Attributes = [
    Attr<Ints, "sizes", "[height, width] of the result">,
    Attr<Float, "scaleH", "result height / input height, given by the model">,
    Attr<Float, "scaleW", "result width / input width">,
    Attr<String, "mode", "", "", ["nearest", "linear"]>,
    Attr<String, "coordinates", "mapping from result to input coordinates", "",
         ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]>,
    Attr<String, "nearestMode", "rounding of coordinates in mode nearest", "",
         ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]>];
  let IsExact = [{op.getMode() == "nearest"}];
  let AxisRule = "followImagesAndChannels";
  let ExtentRule = "extendResize";
  let HasExtentLowering = 1;
  let HasCanonicalization = 1;
  let Source = "ONNX Resize-13";
}
