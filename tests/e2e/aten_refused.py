"""What aten_arguments.py accepts without a comparison."""

# {overload: why it has no cases}
NO_CASES = dict.fromkeys([
    "_assert_async", "_assert_async.msg", "_assert_scalar", "_assert_tensor_metadata",
    "sym_constrain_range", "sym_constrain_range_for_size"],
    "a check that was made when the program was exported: it has no result")
NO_CASES.update(dict.fromkeys("""bernoulli bernoulli.p multinomial rand rand_like randint
    randint.low randint_like randint_like.low_dtype randn randn_like uniform""".split(),
    "random: tests/e2e/torchscript.py looks at distributions"))
NO_CASES.update(dict.fromkeys("""_conj _fft_c2c _fft_c2r _fft_r2c angle blackman_window
    blackman_window.periodic complex conj conj_physical fft_fft fft_fft2 fft_fftn fft_ifft
    fft_ifft2 fft_ifftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn
    hamming_window hamming_window.periodic hann_window hann_window.periodic imag istft polar real
    stft stft.center view_as_complex view_as_real""".split(),
    "complex, or beside it: tests/e2e/torchscript_complex.py has modules with it"))
NO_CASES.update(dict.fromkeys([f"prepacked::{name}_{step}" for name in
    ["conv2d_clamp", "conv2d_transpose_clamp", "linear_clamp"] for step in ["prepack", "run"]],
    "packed weights, objects of C++: tests/e2e/torchscript_mobile.py"))
NO_CASES.update(dict.fromkeys("""dequantize.list dequantize.self dequantize.tensor
    dequantize.tensors int_repr q_per_channel_axis q_per_channel_scales
    q_per_channel_zero_points q_scale q_zero_point quantize_per_channel quantize_per_tensor
    quantize_per_tensor.tensor_qparams quantize_per_tensor_dynamic quantized::add
    quantized::add_relu quantized::cat quantized::conv1d quantized::conv1d_relu
    quantized::conv2d quantized::conv2d.new quantized::conv2d_prepack quantized::conv2d_relu
    quantized::conv2d_relu.new quantized::conv2d_unpack quantized::hardswish quantized::linear
    quantized::linear_dynamic quantized::linear_dynamic_fp16 quantized::linear_prepack
    quantized::linear_prepack_fp16 quantized::linear_relu quantized::linear_relu_dynamic
    quantized::linear_relu_dynamic_fp16 quantized::linear_unpack quantized::linear_unpack_fp16
    quantized::mul quantized::mul_relu""".split(),
    "quantized tensors: tests/e2e/torchscript_quantized.py"))
# {overload: {part of a message that refuses calls of it: why}}
BOOL_MATMULS = {"bool<": "PyTorch multiplies no matrices of bools, but for empty ones"}
COUNTED = {"a list that is known": "the extent of the result depends on elements"}
COMPUTED = {"known when the model is compiled":
            "there are no nodes for these functions of single doubles"}
REFUSED = {
    "repeat_interleave.Tensor": COUNTED,
    **dict.fromkeys(["bmm", "mm", "mv"], BOOL_MATMULS),
    **dict.fromkeys([f"{name}.Scalar" for name in """atan cos degrees log10 log1p
radians round sin tan tanh""".split()], COMPUTED),
    **dict.fromkeys(["atan2.Scalar_Scalar", "copysign", "fmod", "log.Scalar_Scalar"],
                    COMPUTED)}
# Overloads with results whose strides are not known, which TorchScript can ask for: they
# follow from what PyTorch's implementation does inside, or from strides of operands with
# gaps.
STRIDES = """
_cdist_forward _embedding_bag _embedding_bag_forward_only _native_multi_head_attention
_scaled_dot_product_attention _transformer_encoder_layer_fwd all.dim amax amin any.dim
argmax argmin argsort argsort.stable cdist channel_shuffle col2im constant_pad_nd copy
cosine_similarity count_nonzero.dim_IntList cumprod cumsum diagonal einsum embedding_bag
embedding_bag.padding_idx flip frobenius_norm.dim gather glu grid_sampler
grid_sampler_2d group_norm gru.input hstack im2col index.Tensor index_add index_copy
index_fill.int_Scalar index_fill.int_Tensor index_put index_select instance_norm l1_loss
layer_norm linalg_vector_norm logsumexp lstm.input lstm_cell max.dim mean.dim min.dim
mse_loss narrow native_dropout native_layer_norm norm.ScalarOpt_dim
norm.ScalarOpt_dim_dtype pad pixel_shuffle pixel_unshuffle prelu prod.dim_int
reflection_pad1d reflection_pad2d reflection_pad3d repeat_interleave.self_int
replication_pad1d replication_pad2d replication_pad3d rnn_relu.input rnn_tanh.input roll
scatter.reduce scatter.src scatter.value scatter.value_reduce scatter_add
scatter_reduce.two select_scatter slice.Tensor slice_scatter sort sort.stable
std.correction std.dim std_mean.correction std_mean.dim sum.dim_IntList take_along_dim
topk tril triu var.correction var.dim var_mean.correction var_mean.dim vstack
""".split()
