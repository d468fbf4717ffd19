//===- ControlNodes.td - Branches, loops and calls ---------------*- td -*-===//
//
// Nodes that execute other programs, a part of Nodes.td.
//
//===----------------------------------------------------------------------===//

//===- Control flow -------------------------------------------------------===//

def If : Node<"Executes one of two bodies"> {
  let Description = [{
    condition is a bool scalar. Both bodies take the captures as parameters and
    return the node's results.
  }];
  let Operands = [Operand<"condition">,
                  VariadicOperand<"captures", "parameters of both bodies">];
  let Attributes = [Attr<Body, "thenBody", "executed if the condition is true">,
                    Attr<Body, "elseBody", "executed if it is false">];
  let Results = [];
  let IRGeneration = "true";
  let Source = "ONNX If-19";
}
def Loop : Node<"Executes a body repeatedly"> {
  let Description = [{
    The body is executed while the iteration number is less than tripCount (an
    int64 scalar; absent: maxTripCount) and while the condition (a bool scalar;
    absent: true) holds, at most maxTripCount times: a run of the program in
    which the loop would go on after that fails. `values` are the initial
    states, then the captures. Parameters of the body: the iteration number from
    0 (int64), the condition, the states, the captures. Results of the body: the
    next condition, the next states, the scan outputs. Results of the node: the
    final states; for each scan output its values stacked along a new first
    dimension of extent maxTripCount, zeros beyond the last iteration; the
    number of iterations (int64).
  }];
  let Operands = [OptionalOperand<"tripCount">, OptionalOperand<"condition">,
                  VariadicOperand<"values", "initial states, then captures">];
  let Attributes = [Attr<Body, "body", "computes one iteration">,
                    Attr<Int, "numStates", "number of states among the values">,
                    Attr<Int, "maxTripCount", "upper bound of the iterations">,
                    Attr<String, "origin", "the node of the model, for messages",
                         "{}">];
  let Results = [];
  let IRGeneration = "true";
  let Source = "ONNX Loop-19, Scan-19";
}

//===- External operators -------------------------------------------------===//

def ExternalCall : Node<"Calls a function of a plug-in or of the application"> {
  let Description = [{
    The function computes the results from the inputs, all of them in row-major
    order, and has no other effect (glowish/Plugin/glowish_call.h). Inputs and
    results of any kinds but quantized ones.
  }];
  let Operands = [VariadicOperand<"inputs">];
  let Attributes = [Attr<String, "operatorName", "DOMAIN:NAME, for messages">,
                    Attr<String, "function", "the function's name in C">,
                    Attr<Types, "resultTypes", "one a result">,
                    Attr<Values, "values", "the operator's attributes", "{}">,
                    Attr<Ints, "absent",
                         "positions, among the operator's inputs, of those that "
                         "it does not have, in ascending order", "{}">];
  let Results = [];
  let NoGradient = "glowish does not know what the function computes";
  let Traits = [CallsFunction];
  let IRGeneration = "true";
}

//===- Processes ----------------------------------------------------------===//

def AllReduce : Node<"Averages over the processes of a group"> {
  let Description = [{
    Each process of the group (glowish/Distributed/ProcessGroup.h) has an input
    of the same type, and each gets the mean of all; a process without a group
    gets its input. float and double. All processes execute the same AllReduce
    nodes in the same order.
    The gradient is the mean of those of all processes, where the gradients of a
    process are of its own loss, of which the group learns the mean.
  }];
  let Operands = [Operand<"input">];
  let Traits = [CallsFunction, Collective];
  let IRGeneration = "true";
}
