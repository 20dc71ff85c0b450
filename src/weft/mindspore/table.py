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
    "bool_ bool=bool_ qint4x2 "
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16 complex64 complex128 "
    "int_=int64 uint=uint64 float_=float64 half=float16 short=int16 int=int32 long=int64 float=float32 double=float64 "
    "byte=int8 ubyte=uint8 ushort=uint16 intc=int32 uintc=uint32 intp=int64 uintp=uint64 single=float32 "
    "float8_e4m3fn float8_e5m2 TensorType Type Int get_py_obj_dtype "
    "cfloat=complex64 cdouble=complex128 string type_none tensor_type list_ tuple_ number "
    "dtype_to_nptype=to_np dtype_to_pytype=to_python pytype_to_dtype=of"
)
_KINDS: Final = {"weft.mindspore.kinds": "QuantDtype"}
#: what the file of element types has besides
_OF_TYPES: Final = {
    "weft.dtypes": f"{_DTYPES} Float",
    "weft.mindspore.kinds": "* _issubclass_=is_subclass",
    "mindspore._c_expression.typing": "typing=.",
}
_CONTEXT: Final = (
    "set_context get_context set_auto_parallel_context get_auto_parallel_context reset_auto_parallel_context "
    "set_ps_context get_ps_context reset_ps_context ParallelMode GRAPH_MODE PYNATIVE_MODE STRICT COMPATIBLE LAX DEBUG "
    "RELEASE"
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
#: what compiles and runs functions
_API: Final = {**_JIT, **_FUNCTION, "weft.mindspore.executor": "_pynative_executor"}
_SEED: Final = {"weft.ops.random": "set_seed get_seed"}
_GENERATOR: Final = {"weft.ops.generator": "*"}
_SPARSE: Final = {"weft.ops.sparse": "COOTensor CSRTensor RowTensor SparseTensor=COOTensor"}
_ROW_TENSORS: Final = {**_SPARSE, "weft.ops.sparse": "COOTensor CSRTensor RowTensor RowTensorInner=RowTensor"}
_SERIALIZATION: Final = "save_checkpoint load_checkpoint load_param_into_net"
_MINDIR: Final = {"weft.mindir": "export load"}

_EXTRAS: Final = (
    "JitConfig from_numpy get_current_device run_check set_deterministic set_device set_recursion_limit tensor "
    "set_dump swap_tensors no_inline enable_dynamic"
)
_SCALES: Final = "DynamicLossScaleManager FixedLossScaleManager LossScaleManager"
_CALLBACKS: Final = (
    "Callback CheckpointConfig EarlyStopping History LambdaCallback LearningRateScheduler LossMonitor ModelCheckpoint "
    "RunContext TimeMonitor BackupAndRestore ReduceLROnPlateau"
)
_CONVERTING: Final = (
    "async_ckpt_thread_status build_train_network ckpt_to_safetensors load_checkpoint_async safetensors_to_ckpt"
)
#: checkpoints of programs for many devices
_DISTRIBUTED: Final = (
    "build_searched_strategy get_ckpt_path_with_strategy load_distributed_checkpoint load_segmented_checkpoints "
    "merge_pipeline_strategys "
    "merge_sliced_parameter rank_list_for_transform restore_group_info_list transform_checkpoint_by_rank "
    "transform_checkpoints unified_safetensors"
)
_EXIT: Final = {"weft.mindspore.request_exit": "OnRequestExit"}
_METRICS: Final = (
    "Accuracy F1 Loss MAE MSE Metric Precision Recall Top1CategoricalAccuracy Top5CategoricalAccuracy "
    "TopKCategoricalAccuracy ROC auc get_metric_fn names rearrange_inputs BleuScore ConfusionMatrix "
    "ConfusionMatrixMetric CosineSimilarity Dice Fbeta HausdorffDistance MeanSurfaceDistance OcclusionSensitivity "
    "Perplexity RootMeanSquareDistance"
)
_FEEDING: Final = "DatasetHelper connect_network_with_dataset data_sink"
_TRAIN: Final = {"weft.train": "*"}

_PRIMITIVE: Final = {
    "weft.core.operators": (
        "Primitive=Operator PrimitiveWithCheck PrimitiveWithInfer prim_attr_register "
        "prim_arg_register=prim_attr_register"
    ),
    "weft.mindspore.extras": "constexpr _primexpr=constexpr",
}
_OPERATIONS: Final = {
    "weft.ops.operations": "* Gelu=GeLU SparseGatherV2=Gather",
    "weft.ops.legacy": "Morph",
    "weft.ops.collectives": "ReduceOp",
    "weft.autodiff.custom": "HookBackward InsertGradientOf",
    "weft.autodiff.composite": "Partial",
}
_OPS_EXTRAS: Final = (
    "add_flags constexpr core is_sequence_shape_unknown is_sequence_value_unknown mixed_precision_cast switch"
)
_OPS: Final = {
    **_OPERATIONS,
    "weft.ops": "* pows=pow",
    "weft.ops.sparse": "COOTensor CSRTensor RowTensor",
    "weft.autodiff.grad": "GradOperation grad value_and_grad get_grad vjp jvp",
    "weft.autodiff.jacobian": "jacfwd jacrev",
    "weft.autodiff.higher": "jet derivative linearize",
    "weft.autodiff.composite": "HyperMap Map MultitypeFuncGraph Partial partial",
    "weft.autodiff.custom": "HookBackward InsertGradientOf",
    "weft.vectorize": "vmap",
    **_PRIMITIVE,
    "weft.mindspore.extras": _OPS_EXTRAS,
    "weft.mindspore.custom_info": "*",
}
#: what files of `ops` have besides
_GENERATED: Final = {
    **_OPS,
    "weft.mint.extended": "*",
    "weft.ops.experts": "* grouped_matmul_v4",
    "weft.ops.former": "format_cast",
    "weft.mindspore.extras": (
        f"{_OPS_EXTRAS} inplace_copy_op=inplace_copy select_ext_view_op=select_view slice_ext_view_op=slice_view"
    ),
    "weft.mint": (
        "rand_ext=rand randn_ext=randn rand_like_ext=rand_like randn_like_ext=randn_like randint_ext=randint "
        "randint_like_ext=randint_like normal_ext=normal randperm_ext=randperm chunk_view=chunk split_view=split "
        "unsqueeze_view=unsqueeze transpose_ext_view=transpose broadcast_to_view=broadcast_to narrow_view=narrow "
        "select_ext_view=select"
    ),
    "weft.ops.many_heads": "multi_head_attention_forward _expand=expanded _check_same_type=same_type",
}
#: names of NumPy whose operation takes the same arguments in the same order
_NUMPY: Final = "sinc fmax fmin degrees=rad2deg nan_to_num real imag conj sort argsort in1d"
#: cells of parallel programs
_PARALLEL_CELLS: Final = (
    "DistributedGradReducer MicroBatchInterleaved PipelineGradReducer SyncBatchNorm "
    "PipelineCell=Pipeline GradAccumulationCell=GradAccumulation"
)
_CELLS: Final = {
    "weft.nn": "*",
    "weft.mint.layers": "Linear",
    "weft.mindir": "GraphCell",
    "weft.nn.parallel": _PARALLEL_CELLS,
}
#: layers of `mint` under the names that `nn` has for them
_EXTENDED: Final = {
    "weft.mint.nn": (
        "AvgPool1dExt=AvgPool1d AvgPool2dExt=AvgPool2d AvgPool3dExt=AvgPool3d Dropout2dExt=Dropout2d "
        "DropoutExt=Dropout EmbeddingExt=Embedding L1LossExt=L1Loss LayerNormExt=LayerNorm "
        "LogSoftmaxExt=LogSoftmax MaxPool2dExt=MaxPool2d PReLUExt=PReLU"
    )
}
_LAYERS: Final = {**_CELLS, **_EXTENDED}
#: what `mindspore.nn` itself offers besides: metrics, which moved to `mindspore.train` later
_NN: Final = {
    **_CELLS,
    "weft.mindspore.extras": "no_init_parameters",
    **_EXTENDED,
    "weft.train": f"{_METRICS} get_metrics",
    "weft.nn.loss": "MAELoss=L1Loss",
    "weft.nn.helpers": "ResizeBilinear",
}
_METRIC_FILES: Final = (
    "accuracy auc bleu_score confusion_matrix cosine_similarity dice error evaluation fbeta hausdorff_distance loss "
    "mean_surface_distance metric occlusion_sensitivity perplexity precision recall roc "
    "root_mean_square_surface_distance topk"
)
#: files of MindSpore's packages: programs import from them what the package offers
_FILES: Final[dict[str, str]] = {
    "mindspore.experimental.optim": "adadelta adagrad adam adamax adamw asgd nadam radam rmsprop rprop sgd",
    "mindspore.nn.layer": (
        "activation basic channel_shuffle combined container conv dense embedding image math normalization padding "
        "pooling rnn_cells rnns thor_layer timedistributed transformer"
    ),
    "mindspore.nn.metrics": _METRIC_FILES,
    "mindspore.nn.optim": (
        "ada_grad adadelta adafactor adam adamax adasum asgd ftrl lamb lars lazyadam momentum proximal_ada_grad "
        "rmsprop rprop sgd thor"
    ),
    "mindspore.nn.probability.distribution": (
        "bernoulli beta categorical cauchy distribution exponential gamma geometric gumbel half_normal laplace "
        "log_normal logistic normal poisson student_t transformed_distribution uniform"
    ),
    "mindspore.nn.probability.bijector": "bijector exp gumbel_cdf invert power_transform scalar_affine softplus",
    "mindspore.nn.wrap": "cell_wrapper grad_reducer loss_scale",
    "mindspore.numpy": "array_creations array_ops dtypes logic_ops math_ops utils",
    "mindspore.ops.operations": (
        "_grad_ops _infer_ops _inner_ops _rl_inner_ops _scalar_ops "
        "array_ops comm_ops control_ops custom_ops debug_ops image_ops inner_ops linalg_ops "
        "math_ops nn_ops other_ops random_ops sparse_ops spectral_ops"
    ),
    "mindspore.train.callback": (
        "_callback _checkpoint _early_stop _history _lambda_callback _landscape _loss_monitor _lr_scheduler_callback "
        "_summary_collector _time_monitor"
    ),
    "mindspore.train.metrics": _METRIC_FILES,
}
#: settings are read where they are set
_DATA: Final = {"weft.data": "*", "weft.train.waited": "WaitedDSCallback"}
_RECORDS: Final = {"weft.data.mindrecord": "*", "weft.data.mindrecord.errors": "*"}
#: files of MindSpore's `mindrecord.tools`, each of one converter
_CONVERTED: Final = ("cifar10", "cifar100", "csv", "imagenet", "mnist", "tfrecord")
_DATA_CONFIG: Final = {"weft.data.config": "*"}
#: files of MindSpore's `dataset.engine` that programs import from
_DATA_MODULES: Final = (
    *("", ".datasets", ".datasets_audio", ".datasets_standard_format", ".datasets_text", ".datasets_user_defined"),
    *(".datasets_vision", ".cache_client", ".graphdata", ".iterators", ".samplers", ".serializer_deserializer"),
)

#: who takes part: `mindspore.communication`
_COMMUNICATION: Final = {"weft.parallel.communication": "*"}
#: helpers for the settings of parallel programs, which scripts import under these names
_PARALLEL_UTILS: Final = {
    "weft.parallel.modes": (
        "_get_device_num=get_device_num _get_global_rank=get_global_rank _get_gradients_mean=get_gradients_mean "
        "_get_parallel_mode=get_parallel_mode _get_parameter_broadcast=get_parameter_broadcast "
        "_get_full_batch=get_full_batch _get_enable_parallel_optimizer=get_enable_parallel_optimizer "
        "_get_pipeline_stages=get_pipeline_stages _get_stage_device_num=get_stage_device_num "
        "_is_sharding_propagation=is_sharding_propagation "
        "_is_in_auto_parallel_mode=is_in_auto_parallel_mode _is_in_data_parallel_mode=is_in_data_parallel_mode "
        "_check_full_batch=check_full_batch _need_to_full=need_to_full "
        "_parameter_broadcast_check=parameter_broadcast_check _device_number_check=device_number_check"
    ),
    "weft.parallel.communication": "_is_initialized=is_initialized",
}
_PARALLEL_CONTEXT: Final = {
    "weft.context": (
        "_set_auto_parallel_context=set_auto_parallel_context _get_auto_parallel_context=get_auto_parallel_context "
        "_reset_auto_parallel_context=reset_auto_parallel_context"
    ),
    "weft.parallel.settings": "auto_parallel_context",
}

#: files of MindSpore's `ops` that programs import functions from
_FUNCTION_MODULES: Final = (
    *("function", "function.array_func", "function.clip_func", "function.grad", "function.linalg_func"),
    *("function.math_func", "function.nn_func", "function.other_func", "function.parameter_func"),
    *("function.random_func", "auto_generate", "auto_generate.gen_ops_def", "auto_generate.gen_ops_prim"),
)

_DEVICES: Final = "weft.mindspore.devices"
_RUNTIME: Final = "dispatch_threads_num launch_blocking set_cpu_affinity set_kernel_launch_group set_memory"
_DEVICE_SETTINGS: Final = "weft.mindspore.device_settings"
_COMMON_HAL: Final = (
    "Event Stream StreamCtx communication_stream current_stream default_stream empty_cache max_memory_allocated "
    "max_memory_reserved memory_allocated memory_reserved memory_stats memory_summary reset_max_memory_allocated "
    "reset_max_memory_reserved reset_peak_memory_stats set_cur_stream synchronize"
)
#: settings of each kind of devices: kind, file of MindSpore's, names
_DEVICE_CONTEXT: Final = {
    "cpu": {"op_tuning": "threads_num"},
    "gpu": {
        "op_precision": "conv_allow_tf32 matmul_allow_tf32",
        "op_tuning": "conv_fprop_algo conv_wgrad_algo conv_dgrad_algo",
    },
    "ascend": {
        "op_precision": "precision_mode op_precision_mode matmul_allow_hf32 conv_allow_hf32",
        "op_tuning": "op_compile aoe_tune_mode aoe_job_type aclnn_cache",
        "op_debug": "execute_timeout debug_option aclinit_config",
    },
}
_PROFILER: Final = "weft.mindspore.profiler"

_VISION: Final = {"weft.data.vision": "*"}
_FORMER_VISION: Final = {**_VISION, "weft.data.vision.py_transforms": "CutOut Cutout Decode Normalize NormalizePad"}
_TRANSFORMS: Final = {"weft.data.transforms": "*"}
_BASES: Final = {"weft.data.operation": "PyTensorOperation TensorOperation=Operation"}
_IMAGE_BASES: Final = {"weft.data.vision.image_operation": "ImageTensorOperation=ImageOperation"}
_TEXT: Final = {"weft.data.text": "*"}
_AUDIO: Final = {"weft.data.audio": "*"}
#: operations on data, also where older releases had them; there, those that Python computed let channels come first
_DATA_OPERATIONS: Final[dict[str, dict[str, str]]] = {
    "mindspore.dataset": {},
    "mindspore.dataset.debug": {"weft.data.debug": "DebugHook PrintDataHook PrintMetaDataHook"},
    "mindspore.dataset.utils": {"weft.data.utils": "LineReader imshow_det_bbox"},
    "mindspore.dataset.audio": _AUDIO,
    "mindspore.dataset.audio.transforms": _AUDIO,
    "mindspore.dataset.audio.utils": _AUDIO,
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
    "mindspore.dataset.vision.c_transforms": {**_VISION, **_IMAGE_BASES},
    "mindspore.dataset.vision.py_transforms": _FORMER_VISION,
    "mindspore.dataset.vision.py_transforms_util": {
        "weft.data.operation": "is_pil",
        "weft.mindspore.helpers": "hwc_to_chw is_numpy",
        "weft.data.vision.image_operation": "augment_error_message",
        "weft.data.vision.on_pil": (
            "adjust_brightness=brightness adjust_contrast=contrast adjust_hue=hue adjust_saturation=saturation"
        ),
    },
    "mindspore.dataset.vision.transforms": {**_VISION, **_BASES, **_IMAGE_BASES},
    "mindspore.dataset.vision.utils": {"weft.data.vision.enums": "*", "weft.data.vision.files": "*"},
}

_ROWS: Final[dict[str, dict[str, str]]] = (
    _DATA_OPERATIONS
    | {
        "mindspore": {
            "weft.dtypes": _DTYPES,
            "weft.core.tensor": "Tensor",
            "weft.core.parameters": "Parameter ParameterTuple",
            "weft.core.containers": "mutable",
            "weft.context": _CONTEXT,
            "weft.jit": "jit jit_class ms_class=jit_class ms_function",
            "weft.mindspore.extras": f"{_EXTRAS} DeviceCtx",
            **_KINDS,
            _DEVICES: f"{_COMMON_HAL} {_RUNTIME} ms_memory_recycle=empty_cache",
            "weft.mindspore.log": "get_level get_log_config",
            **_EXIT,
            "weft.train": (
                f"Model {_FEEDING} {_SERIALIZATION} {_SCALES} {_CALLBACKS} SummaryCollector SummaryRecord {_METRICS} "
                f"{_CONVERTING} {_DISTRIBUTED}"
            ),
            "weft.core.symbol": "Symbol",
            "weft.ops": "is_tensor",
            "weft.mindspore.buffers": "frombuffer",
            "weft.mindspore.profiler": "Profiler",
            **_MINDIR,
            **_LAZY,
            **_GRAD,
            **_FUNCTION,
            **_SEED,
            **_GENERATOR,
            **_SPARSE,
            "weft.parallel.algorithms": "*",
            "weft.parallel.layout": "*",
            "weft.nn.parallel": "shard sync_pipeline_shared_parameters",
        },
        "mindspore.dtype": _OF_TYPES,
        "mindspore._checkparam": {"weft.mindspore.checkparam": "*"},
        "mindspore.version": {"weft.mindspore.table": "__version__=API_VERSION"},
        "mindspore.common": {
            "weft.dtypes": _DTYPES,
            "weft.core.tensor": "Tensor",
            "weft.core.parameters": "Parameter ParameterTuple",
            "weft.core.containers": "mutable",
            **_JIT,
            **_LAZY,
            **_FUNCTION,
            **_SEED,
            **_SPARSE,
            **_GENERATOR,
            "weft.core.symbol": "Symbol",
            "weft.ops": "is_tensor",
            "weft.autodiff.recompute": "recompute",
            "weft.mindspore.extras": "JitConfig from_numpy set_dump set_recursion_limit swap_tensors",
        },
        "mindspore.common.generator": _GENERATOR,
        "mindspore.common.sparse_tensor": _ROW_TENSORS,
        "mindspore.common.dtype": _OF_TYPES,
        "mindspore.common._grad_function": _FUNCTION,
        "mindspore.common._stub_tensor": {"weft.mindspore.executor": "StubTensor"},
        "mindspore.common.tensor": {"weft.core.tensor": "Tensor", "weft.mindspore.extras": "swap_tensors tensor"},
        "mindspore.common.np_dtype": {"ml_dtypes": "bfloat16"},
        "mindspore.common.symbol": {"weft.core.symbol": "Symbol"},
        "mindspore.common.parameter": {"weft.core.parameters": "Parameter ParameterTuple"},
        "mindspore.common.initializer": {
            "weft.nn.initializer": (
                "* _calculate_fan_in_and_fan_out=fans _calculate_correct_fan=fan _calculate_gain=calculate_gain "
                "_init_random_normal=normal_values _init_random_uniform=uniform_values"
            )
        },
        "mindspore.common.api": _API,
        "mindspore.graph": {},
        "mindspore.graph.api": _API,
        "mindspore._c_expression": {
            "weft.mindspore.bytecode": "*",
            "weft.mindspore.executor": "MSContext",
            "weft.core.tensor": "Tensor TensorPy=Tensor",
            _DEVICES: "current_stream default_stream _ms_memory_recycle=empty_cache",
        },
        "mindspore._c_expression.typing": {
            "weft.dtypes": "BFloat Bool Complex Float Int TensorType Type UInt",
            "weft.mindspore.kinds": "is_subclass str_to_type type_size_in_bytes",
        },
        "mindspore._extends": {"weft.mindspore.helpers": "cell_attr_register"},
        "mindspore._extends.parse": {"weft.mindspore.compile_settings": "compile_config=."},
        "mindspore.multiprocessing": {"multiprocessing": "*"},
        "mindspore.common.jit_begin_end": {"weft.mindspore.extras": "_jit_begin=jit_begin _jit_end=jit_end"},
        "mindspore.common.mutable": {"weft.core.containers": "mutable"},
        "mindspore.common.lazy_inline": _LAZY,
        "mindspore.graph.lazy_inline": _LAZY,
        "mindspore.common.no_inline": {"weft.mindspore.extras": "no_inline"},
        "mindspore.graph.no_inline": {"weft.mindspore.extras": "no_inline"},
        "mindspore.common.seed": _SEED,
        "mindspore.common.jit_config": {"weft.mindspore.extras": "JitConfig"},
        "mindspore.communication": _COMMUNICATION,
        "mindspore.communication._comm_helper": {
            "weft.parallel.communication": "* _is_initialized=is_initialized _get_group_ranks=get_process_group_ranks",
            "weft.parallel.modes": "_is_mpi_available=mpi_available",
        },
        "mindspore.communication.management": _COMMUNICATION,
        "mindspore.communication.comm_func": {"weft.ops.exchanges": "*"},
        "mindspore.mint": {
            "weft.mint": "*",
            "weft.core.tensor": "Tensor",
            "mindspore.mint.nn.functional": "functional=.",
        },
        "mindspore.mint.linalg": {"weft.mint.linalg": "*"},
        "mindspore.mint.nn": {"weft.mint.nn": "*", "weft.nn": "Cell", "mindspore.mint.nn.functional": "F=."},
        "mindspore.mint.nn.functional": {"weft.mint.functional": "*"},
        "mindspore.mint.optim": {"weft.mint.optim": "*"},
        "mindspore.mint.special": {"weft.mint.special": "*"},
        "mindspore.mint.distributed": {"weft.ops.distributed": "*"},
        "mindspore.mint.distributed.distributed": {"weft.ops.distributed": "*"},
        "mindspore.ops.communication": {"weft.ops.distributed": "*"},
        "mindspore.parallel": {
            "weft.parallel.algorithms": "*",
            "weft.parallel.layout": "*",
            "weft.nn.parallel": "shard sync_pipeline_shared_parameters",
            "weft.train": _DISTRIBUTED,
        },
        "mindspore.parallel.auto_parallel": {"weft.nn.parallel": "AutoParallel"},
        "mindspore.parallel.checkpoint_transform": {
            "weft.nn.parallel": "sync_pipeline_shared_parameters",
            "weft.train": _DISTRIBUTED,
        },
        "mindspore.parallel.nn": {
            "weft.nn.parallel": f"{_PARALLEL_CELLS.replace('SyncBatchNorm ', '')} Pipeline GradAccumulation"
        },
        "mindspore.parallel.function": {"weft.parallel.layout": "reshard"},
        "mindspore.parallel.function.reshard": {"weft.parallel.layout": "*"},
        "mindspore.parallel.shard": {"weft.parallel.layout": "*", "weft.nn.parallel": "shard"},
        "mindspore.parallel._auto_parallel_context": _PARALLEL_CONTEXT,
        "mindspore.parallel._ps_context": {
            "weft.parallel.modes": (
                "_is_role_pserver=serves_parameters _is_role_sched=serves_parameters "
                "_is_role_worker=serves_parameters _is_ps_mode=serves_parameters"
            )
        },
        "mindspore.parallel._utils": _PARALLEL_UTILS,
        "mindspore.parallel.algo_parameter_config": {"weft.parallel.algorithms": "*"},
        "mindspore.device_context": {},
        "mindspore.hal": {
            _DEVICES: (
                f"{_COMMON_HAL} device_count get_arch_list get_device_capability get_device_name "
                "get_device_properties is_available is_initialized"
            )
        },
        "mindspore.runtime": {
            _DEVICES: f"{_COMMON_HAL} {_RUNTIME}",
            _DEVICE_SETTINGS: (
                "StreamLimitCtx get_device_limit get_stream_limit reset_stream_limit set_device_limit "
                "set_kernel_launch_capture set_stream_limit"
            ),
        },
        "mindspore.profiler": {_PROFILER: "* _ExperimentalConfig"},
        "mindspore.profiler.common": {},
        "mindspore.profiler.common.constant": {_PROFILER: "AicoreMetrics ExportType ProfilerActivity ProfilerLevel"},
        "mindspore.profiler.schedule": {_PROFILER: "ProfilerAction Schedule=schedule"},
        "mindspore.profiler.profiler": {_PROFILER: "*"},
        "mindspore.context": {"weft.context": f"{_CONTEXT} _get_mode=mode"},
        "mindspore.ops": {
            **_OPS,
            "weft.ops.distributed": "*",  # `gather` and `scatter` are those of tensors, which come first
            "mindspore.ops.operations": "P=.",
            "mindspore.ops.functional": "F=.",
            "mindspore.ops.composite": "C=.",
        },
        "mindspore.ops._primitive_cache": {"weft.mindspore.helpers": "_get_cache_prim=cached_operator"},
        "mindspore.ops.operations": _OPERATIONS,
        "mindspore.ops.functional": _OPS,
        "mindspore.ops.composite": _OPS,
        "mindspore.ops.composite.base": _OPS,
        "mindspore.ops.primitive": _PRIMITIVE,
        "mindspore.ops.functional_overload": {"weft.mint": "*"},
        "mindspore.ops._grad": {},
        "mindspore.ops._grad.grad_base": {"weft.autodiff.registry": "bprop_getters"},
        "mindspore.nn": _NN,
        "mindspore.nn.probability": {},
        "mindspore.nn.probability.distribution": {
            "weft.nn.probability.distribution": "*",
            "weft.nn.probability.gammas": "*",
        },
        "mindspore.nn.probability.bijector": {"weft.nn.probability.bijector": "*"},
        "mindspore.nn.grad": {"weft.nn": "Jvp Vjp"},
        "mindspore.nn.grad.cell_grad": {"weft.nn": "Jvp Vjp"},
        "mindspore.nn.metrics": {"weft.train": f"{_METRICS} get_metrics"},
        "mindspore.nn.utils": {"weft.mindspore.extras": "no_init_parameters"},
        "mindspore.nn.cell": {"weft.nn": "Cell"},
        "mindspore.nn.layer": _LAYERS,
        "mindspore.nn.loss": _NN,
        "mindspore.nn.loss.loss": {**_NN, "weft.nn.helpers": "_Loss=Loss _check_is_tensor=check_is_tensor"},
        "mindspore.nn.layer.container": {
            **_LAYERS,
            "weft.nn.helpers": (
                "_get_prefix_and_index=prefix_and_index _valid_cell=valid_cell _valid_index=valid_index"
            ),
        },
        "mindspore.nn.layer.rnn_cells": {
            **_LAYERS,
            "weft.nn.helpers": (
                "RNNCellBase _gru_cell=gru_cell _lstm_cell=lstm_cell _rnn_relu_cell=rnn_relu_cell "
                "_rnn_tanh_cell=rnn_tanh_cell"
            ),
        },
        "mindspore.nn.layer.rnns": {
            **_LAYERS,
            "weft.nn.helpers": (
                "_DynamicGRUAscend=DynamicGRU _DynamicGRUCPUGPU=DynamicGRU _DynamicLSTMAscend=DynamicLSTM "
                "_DynamicLSTMCPUGPU=DynamicLSTM _DynamicRNNRelu=DynamicRNNRelu _DynamicRNNTanh=DynamicRNNTanh"
            ),
        },
        "mindspore.nn.optim": _CELLS,
        "mindspore.nn.optim.optimizer": {**_CELLS, "weft.nn.optim.optimizer": "opt_init_args_register"},
        "mindspore.nn.wrap": _CELLS,
        "mindspore.nn.learning_rate_schedule": _CELLS,
        "mindspore.nn.dynamic_lr": _CELLS,
        "mindspore.numpy": {
            "weft.ops": _NUMPY,
            "weft.mindspore.numpy": "*",
            "weft.mindspore.numpy_arrays": "* max=amax min=amin",
            "weft.mindspore.numpy_functions": "*",
            "weft.mindspore.numpy_selection": "*",
            "weft.mindspore.numpy_signatures": "*",
            "weft.mindspore.numpy_statistics": "*",
            "weft.dtypes": _DTYPES,
        },
        "mindspore.numpy.fft": {"weft.mindspore.numpy_fft": "*"},
        "mindspore.scipy": {},
        "mindspore.scipy.ops": {"weft.mindspore.scipy_linalg": "SolveTriangular"},
        "mindspore.scipy.fft": {"weft.mindspore.scipy_fft": "*"},
        "mindspore.utils": {
            "weft.mindspore.buffers": "from_dlpack to_dlpack",
            _DEVICE_SETTINGS: "comm_exec_order_check get_sdc_detect_result sdc_detect_start sdc_detect_stop",
        },
        "mindspore.utils.dlpack": {"weft.mindspore.buffers": "from_dlpack to_dlpack"},
        "mindspore.scipy.linalg": {"weft.mindspore.scipy_linalg": "*"},
        "mindspore.scipy.optimize": {"weft.mindspore.scipy_optimize": "*"},
        "mindspore.boost": {
            "weft.nn.accumulation": "GradientAccumulation",
            "weft.nn": (
                "BoostTrainOneStepCell=TrainOneStepCell "
                "BoostTrainOneStepWithLossScaleCell=TrainOneStepWithLossScaleCell"
            ),
        },
        "mindspore.boost.grad_accumulation": {"weft.nn.accumulation": "*"},
        "mindspore.log": {"weft.mindspore.log": "* _get_logger=get_logger", "logging": "logging=."},
        "mindspore.amp": {"weft.train.amp": "*", "weft.train": _SCALES},
        "mindspore.dataset": {**_DATA, "weft.mindspore.helpers": "Implementation"},
        "mindspore.dataset.samplers": _DATA,
        "mindspore.dataset.callback": _DATA,
        "mindspore.dataset.core": {},
        "mindspore.dataset.core.config": _DATA_CONFIG,
        "mindspore.dataset.config": _DATA_CONFIG,
        "mindspore.experimental": {},
        "mindspore.experimental.optim": {"weft.nn.experimental": "*"},
        "mindspore.experimental.optim.lr_scheduler": {"weft.nn.experimental.lr_scheduler": "*"},
        "mindspore.experimental.optim.optimizer": {"weft.nn.experimental": "Optimizer"},
        "mindspore.rewrite": {"weft.rewrite": "*"},
        "mindspore.mindrecord": _RECORDS,
        "mindspore.mindrecord.filereader": _RECORDS,
        "mindspore.mindrecord.filewriter": _RECORDS,
        "mindspore.mindrecord.mindpage": _RECORDS,
        "mindspore.mindrecord.tools": {},
        "mindspore.mindrecord.common": {},
        "mindspore.mindrecord.common.exceptions": {"weft.data.mindrecord.errors": "*"},
        "mindspore.train": {**_TRAIN, **_MINDIR, **_EXIT, "weft.mindspore.extras": "ConvertModelUtils"},
        "mindspore.train.amp": {"weft.train.amp": "* AMP_WHITE_LIST=HALF_CELLS AMP_BLACK_LIST=FULL_CELLS"},
        "mindspore.train.callback": {
            "weft.train": _CALLBACKS,
            **_EXIT,
            "weft.train.summary": "SummaryCollector",
            "weft.mindspore.helpers": "_handle_loss=loss_to_show",
            "weft.train.callback_manager": (
                "_CallbackManager=CallbackManager CallbackManager _InternalCallbackParam=RunFacts "
                "InternalCallbackParam=RunFacts"
            ),
        },
        "mindspore.train.summary": {"weft.train.summary": "SummaryRecord"},
        "mindspore.train.summary.summary_record": {
            "weft.train.summary": "SummaryRecord",
            "weft.mindspore.helpers": "_get_summary_tensor_data=latest_summaries",
        },
        "mindspore.train.data_sink": {"weft.train": _FEEDING},
        "mindspore.train.dataset_helper": {"weft.train": _FEEDING},
        "mindspore.train.loss_scale_manager": {"weft.train": _SCALES},
        "mindspore.train.metrics": {"weft.train": _METRICS},
        "mindspore.train.train_thor": {"weft.mindspore.extras": "ConvertModelUtils"},
        "mindspore.train.train_thor.convert_utils": {"weft.mindspore.extras": "ConvertModelUtils"},
        "mindspore.train._utils": {"weft.mindspore.helpers": "_make_directory=make_directory check_value_type"},
        "mindspore.train.model": {"weft.train": "Model RunContext", "weft.context": "ParallelMode"},
        "mindspore.train.serialization": {
            "weft.train": (
                f"{_SERIALIZATION} {_CONVERTING.replace('build_train_network ', '')} build_searched_strategy "
                "get_ckpt_path_with_strategy "
                "load_distributed_checkpoint merge_sliced_parameter restore_group_info_list"
            ),
            "weft.core.tensor": "Tensor",
            "weft.core.parameters": "Parameter",
            "mindspore.context": "context=.",
            **_MINDIR,
        },
    }
    | {f"mindspore.dataset.engine{part}": _DATA for part in _DATA_MODULES}
    | {f"mindspore.mindrecord.tools.{kind}_to_mr": _RECORDS for kind in _CONVERTED}
    | {f"mindspore.ops.{part}": _GENERATED for part in _FUNCTION_MODULES}
    | {
        f"mindspore.device_context.{kind}": {
            _DEVICES: f"is_available={kind.upper()}.is_available device_count={kind.upper()}.device_count",
            _DEVICE_SETTINGS: " ".join(files.values()),
        }
        for kind, files in _DEVICE_CONTEXT.items()
    }
    | {
        f"mindspore.device_context.{kind}.{file}": {_DEVICE_SETTINGS: names}
        for kind, files in _DEVICE_CONTEXT.items()
        for file, names in files.items()
    }
)

#: every module
MODULES: Final[dict[str, dict[str, str]]] = {
    f"{package}.{file}": _ROWS[package] for package, files in _FILES.items() for file in files.split()
} | _ROWS
