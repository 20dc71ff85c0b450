"""What stands behind each MindSpore module: one row a module.

A row maps weft modules to the names taken from them, separated by spaces: ``name``, ``name=other`` (what weft calls
`other`), or ``*`` (everything in ``__all__``). A later entry wins over an earlier one, a named one over ``*``.
Modules inside a module are attributes of it without being listed.
"""

from __future__ import annotations

from typing import Final

#: the release of MindSpore whose public API the rows follow
API_VERSION: Final = "2.4.0"

_DTYPES: Final = (
    "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16 complex64 complex128 "
    "int_=int64 uint=uint64 float_=float64 string type_none tensor_type list_ tuple_ number "
    "dtype_to_nptype=to_np dtype_to_pytype=to_python pytype_to_dtype=of"
)
_CONTEXT: Final = (
    "set_context get_context set_auto_parallel_context get_auto_parallel_context reset_auto_parallel_context "
    "set_ps_context get_ps_context reset_ps_context ParallelMode GRAPH_MODE PYNATIVE_MODE STRICT COMPATIBLE LAX"
)
_JIT: Final = {"weft.jit": "jit jit_class ms_function", "weft.mindspore.extras": "JitConfig"}
_LAZY: Final = {"weft.nn.lazy_inline": "lazy_inline"}
_GRAD: Final = {
    "weft.autodiff.grad": "grad value_and_grad get_grad vjp jvp",
    "weft.autodiff.jacobian": "jacfwd jacrev",
    "weft.autodiff.recompute": "recompute",
    "weft.vectorize": "vmap",
}
_FUNCTION: Final = {"weft.autodiff.function": "_Function=Function", "weft.autodiff.pausing": "_no_grad=no_grad no_grad"}
_SEED: Final = {"weft.ops.random": "set_seed get_seed"}
_SERIALIZATION: Final = "save_checkpoint load_checkpoint load_param_into_net"
_MINDIR: Final = {"weft.mindir": "export load"}

_CALLBACKS: Final = (
    "Callback CheckpointConfig EarlyStopping History LambdaCallback LossMonitor ModelCheckpoint RunContext TimeMonitor"
)
_METRICS: Final = (
    "Accuracy F1 Loss MAE MSE Metric Precision Recall Top1CategoricalAccuracy Top5CategoricalAccuracy "
    "TopKCategoricalAccuracy get_metric_fn names"
)
_TRAIN: Final = {"weft.train": "*"}

_PRIMITIVE: Final = {
    "weft.core.operators": "Primitive=Operator PrimitiveWithCheck PrimitiveWithInfer prim_attr_register",
    "weft.mindspore.extras": "constexpr",
}
_OPERATIONS: Final = {
    "weft.ops.operations": "*",
    "weft.autodiff.custom": "HookBackward InsertGradientOf",
    "weft.autodiff.composite": "Partial",
}
_OPS: Final = {
    **_OPERATIONS,
    "weft.ops": "*",
    "weft.autodiff.grad": "GradOperation grad value_and_grad get_grad vjp jvp",
    "weft.autodiff.jacobian": "jacfwd jacrev",
    "weft.autodiff.higher": "jet derivative linearize",
    "weft.autodiff.composite": "HyperMap Map MultitypeFuncGraph Partial partial",
    "weft.autodiff.custom": "HookBackward InsertGradientOf",
    "weft.vectorize": "vmap",
    **_PRIMITIVE,
    "weft.mindspore.extras": "add_flags constexpr core switch",
    "weft.mindspore.custom_info": "CustomRegOp DataType",
}
#: names of NumPy whose operation takes the same arguments in the same order
_NUMPY: Final = (
    "abs absolute=abs exp exp2 expm1 log log10 log1p log2 sqrt cbrt square reciprocal sin cos tan sinh cosh tanh "
    "arcsin=asin arccos=acos arctan=atan arcsinh=asinh arccosh=acosh arctanh=atanh arctan2=atan2 hypot sinc "
    "add subtract=sub multiply=mul divide=div true_divide=div floor_divide=floor_div mod=floor_mod "
    "remainder=floor_mod fmod power=pow float_power negative=neg positive sign floor ceil trunc rint fix=trunc "
    "around=round maximum minimum fmax fmin heaviside logaddexp logaddexp2 gcd lcm "
    "deg2rad rad2deg radians=deg2rad degrees=rad2deg nan_to_num real imag conj "
    "equal not_equal less less_equal greater greater_equal isnan isinf isfinite isclose isposinf isneginf "
    "logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor invert "
    "matmul inner outer kron tensordot=tensor_dot squeeze tile repeat=repeat_interleave roll flip fliplr flipud rot90 "
    "broadcast_to swapaxes moveaxis tril triu diagonal diag diff sort argsort searchsorted meshgrid "
    "hstack vstack dstack column_stack isin in1d bincount"
)
_CELLS: Final = {"weft.nn": "*", "weft.mindir": "GraphCell"}
#: files of MindSpore's `nn` and `ops.operations` that programs import from
_CELL_MODULES: Final = (
    *("layer.activation", "layer.basic", "layer.container", "layer.conv", "layer.embedding", "layer.math"),
    *("layer.normalization", "layer.pooling", "layer.rnns"),
    *("optim.adam", "optim.momentum", "optim.optimizer", "optim.rmsprop", "optim.sgd"),
)
_OPERATION_MODULES: Final = (
    *("_inner_ops", "_scalar_ops", "array_ops", "comm_ops", "control_ops", "debug_ops", "math_ops", "nn_ops"),
    *("other_ops", "random_ops"),
)

_VISION: Final = {"weft.data.vision": "*"}
_FORMER_VISION: Final = {**_VISION, "weft.data.vision.py_transforms": "CutOut Cutout Decode Normalize NormalizePad"}
_TRANSFORMS: Final = {"weft.data.transforms": "*"}
_BASES: Final = {"weft.data.operation": "PyTensorOperation TensorOperation=Operation"}
_TEXT: Final = {"weft.data.text": "*"}
#: operations on data, also where older releases had them; there, those that Python computed let channels come first
_DATA_OPERATIONS: Final[dict[str, dict[str, str]]] = {
    "mindspore.dataset": {},
    "mindspore.dataset.text": _TEXT,
    "mindspore.dataset.text.transforms": _TEXT,
    "mindspore.dataset.text.utils": _TEXT,
    "mindspore.dataset.transforms": _TRANSFORMS,
    "mindspore.dataset.transforms.c_transforms": _TRANSFORMS,
    "mindspore.dataset.transforms.py_transforms": {"weft.data.transforms": "* OneHotOp=OneHot", **_BASES},
    "mindspore.dataset.transforms.transforms": {**_TRANSFORMS, **_BASES},
    "mindspore.dataset.transforms.vision": _VISION,
    "mindspore.dataset.transforms.vision.c_transforms": _VISION,
    "mindspore.dataset.transforms.vision.py_transforms": _FORMER_VISION,
    "mindspore.dataset.vision": _VISION,
    "mindspore.dataset.vision.c_transforms": _VISION,
    "mindspore.dataset.vision.py_transforms": _FORMER_VISION,
    "mindspore.dataset.vision.py_transforms_util": {
        "weft.data.operation": "is_pil",
        "weft.data.vision.image_operation": "augment_error_message",
        "weft.data.vision.on_pil": (
            "adjust_brightness=brightness adjust_contrast=contrast adjust_hue=hue adjust_saturation=saturation"
        ),
    },
    "mindspore.dataset.vision.transforms": {**_VISION, **_BASES},
    "mindspore.dataset.vision.utils": {"weft.data.vision.enums": "*", "weft.data.vision.files": "*"},
}

MODULES: Final[dict[str, dict[str, str]]] = (
    _DATA_OPERATIONS
    | {
        "mindspore": {
            "weft.dtypes": _DTYPES,
            "weft.core.tensor": "Tensor",
            "weft.core.parameters": "Parameter ParameterTuple",
            "weft.core.containers": "mutable",
            "weft.context": _CONTEXT,
            "weft.jit": "jit jit_class ms_function",
            "weft.mindspore.extras": "JitConfig from_numpy set_device tensor",
            "weft.train": f"Model {_SERIALIZATION}",
            **_MINDIR,
            **_LAZY,
            **_GRAD,
            **_FUNCTION,
            **_SEED,
        },
        "mindspore.dtype": {"weft.dtypes": _DTYPES},
        "mindspore.common": {
            "weft.dtypes": _DTYPES,
            "weft.core.tensor": "Tensor",
            "weft.core.parameters": "Parameter ParameterTuple",
            "weft.core.containers": "mutable",
            **_JIT,
            **_LAZY,
            **_FUNCTION,
            **_SEED,
        },
        "mindspore.common.dtype": {"weft.dtypes": _DTYPES},
        "mindspore.common.tensor": {"weft.core.tensor": "Tensor", "weft.mindspore.extras": "tensor"},
        "mindspore.common.parameter": {"weft.core.parameters": "Parameter ParameterTuple"},
        "mindspore.common.initializer": {"weft.nn.initializer": "*"},
        "mindspore.common.api": {**_JIT, "weft.mindspore.executor": "_pynative_executor"},
        "mindspore.common.mutable": {"weft.core.containers": "mutable"},
        "mindspore.common.lazy_inline": _LAZY,
        "mindspore.common.seed": _SEED,
        "mindspore.common.jit_config": {"weft.mindspore.extras": "JitConfig"},
        "mindspore.context": {"weft.context": _CONTEXT},
        "mindspore.ops": _OPS,
        "mindspore.ops.operations": _OPERATIONS,
        "mindspore.ops.functional": _OPS,
        "mindspore.ops.composite": _OPS,
        "mindspore.ops.composite.base": _OPS,
        "mindspore.ops.primitive": _PRIMITIVE,
        "mindspore.ops._grad": {},
        "mindspore.ops._grad.grad_base": {"weft.autodiff.registry": "bprop_getters"},
        "mindspore.nn": _CELLS,
        "mindspore.nn.cell": {"weft.nn": "Cell"},
        "mindspore.nn.layer": _CELLS,
        "mindspore.nn.loss": _CELLS,
        "mindspore.nn.loss.loss": _CELLS,
        "mindspore.nn.optim": _CELLS,
        "mindspore.nn.wrap": _CELLS,
        "mindspore.nn.wrap.cell_wrapper": _CELLS,
        "mindspore.nn.wrap.loss_scale": _CELLS,
        "mindspore.nn.learning_rate_schedule": _CELLS,
        "mindspore.nn.dynamic_lr": _CELLS,
        "mindspore.numpy": {"weft.ops": _NUMPY, "weft.mindspore.numpy": "*", "weft.dtypes": _DTYPES},
        "mindspore.log": {"weft.mindspore.log": "*"},
        "mindspore.amp": {"weft.train.amp": "*"},
        "mindspore.train": _TRAIN,
        "mindspore.train.amp": {"weft.train.amp": "*"},
        "mindspore.train.callback": {"weft.train.callback": _CALLBACKS},
        "mindspore.train.loss_scale_manager": {
            "weft.train": "DynamicLossScaleManager FixedLossScaleManager LossScaleManager"
        },
        "mindspore.train.metrics": {"weft.train.metrics": _METRICS},
        "mindspore.train.model": {"weft.train": "Model"},
        "mindspore.train.serialization": {"weft.train": _SERIALIZATION, **_MINDIR},
    }
    | {f"mindspore.nn.{part}": _CELLS for part in _CELL_MODULES}
    | {f"mindspore.ops.operations.{part}": _OPERATIONS for part in _OPERATION_MODULES}
)
