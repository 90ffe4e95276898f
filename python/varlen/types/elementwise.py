"""Functions of torch that work on each number."""

# Functions of torch that work on each number, beside those that are called as a ufunc of NumPy is.
EACH_NUMBER = {
    "abs", "absolute", "acos", "acosh", "add", "alpha_dropout", "asin", "asinh", "atan", "atan2", "atanh",
    "bernoulli", "bfloat16", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "bool", "byte",
    "ceil", "celu", "clamp", "clamp_max", "clamp_min", "clip", "clone", "contiguous", "copysign", "cos",
    "cosh", "cpu", "cuda", "deg2rad", "detach", "digamma", "div", "divide", "double", "dropout", "elu",
    "eq", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "fix", "float", "float_power", "floor",
    "floor_divide", "fmax", "fmin", "fmod", "frac", "frexp", "ge", "gelu", "greater", "greater_equal", "gt",
    "half", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "heaviside", "hypot", "int", "isclose",
    "isfinite", "isinf", "isnan", "isneginf", "isposinf", "ldexp", "le", "leaky_relu", "less", "less_equal",
    "lgamma", "log", "log10", "log1p", "log2", "log_sigmoid", "logaddexp", "logaddexp2", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logit", "logsigmoid", "long", "lt", "maximum", "minimum",
    "mish", "mul", "multiply", "nan_to_num", "ne", "neg", "negative", "nextafter", "not_equal", "ones_like",
    "positive", "pow", "rad2deg", "rand_like", "randn_like", "reciprocal", "relu", "relu6", "remainder",
    "round", "rrelu", "rsqrt", "rsub", "selu", "sgn", "short", "sigmoid", "sign", "signbit", "silu", "sin",
    "sinc", "sinh", "softplus", "softshrink", "softsign", "sqrt", "square", "sub", "subtract", "tan",
    "tanh", "tanhshrink", "threshold", "to", "true_divide", "trunc", "type_as", "where", "xlogy",
    "zeros_like", "full_like", "empty_like", "masked_fill", "lerp",
    "and", "floordiv", "invert", "lshift", "mod", "or", "rshift", "truediv", "xor",  # Python's operators
    "bitwise_left_shift", "bitwise_right_shift",
}  # fmt: skip
