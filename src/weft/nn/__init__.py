"""Networks: cells, layers, losses, optimizers and the cells that train.

A layer is a Cell whose `construct` calls operations; nothing here knows how graphs are captured or compiled.
"""

from typing import TYPE_CHECKING, Any

from weft import lazily
from weft.core import tensor as tensor_module
from weft.core.tensor import Tensor
from weft.nn.cell import Cell as Cell
from weft.nn.hooks import HookHandle as HookHandle

#: module -> its public names
_NAMES = lazily.by_module("""
weft.nn.dynamic_lr: cosine_decay_lr exponential_decay_lr inverse_decay_lr natural_exp_decay_lr piecewise_constant_lr
    polynomial_decay_lr warmup_lr
weft.nn.layer.activation: CELU ELU GELU GLU FastGelu Hardtanh HShrink HSigmoid HSwish LeakyReLU LogSigmoid LogSoftmax
    Mish PReLU RReLU ReLU ReLU6 SeLU Sigmoid SiLU Softmax Softmax2d Softmin Softplus SoftShrink Softsign Tanh Tanhshrink
    Threshold get_activation
weft.nn.layer.basic: ClipByNorm Dense Dropout Dropout1d Dropout2d Dropout3d Flatten Identity MatMul Norm OneHot Pad
weft.nn.layer.calculus: DiGamma IGamma ImageGradients Jvp LBeta LGamma MatDet MatInverse MatrixDiag MatrixDiagPart
    MatrixSetDiag Moments MultiFieldEmbeddingLookup Range TimeDistributed Vjp
weft.nn.layer.combined: Conv2dBnAct DenseBnAct
weft.nn.layer.container: CellDict CellList SequentialCell
weft.nn.layer.conv: Conv1d Conv1dTranspose Conv2d Conv2dTranspose Conv3d Conv3dTranspose
weft.nn.layer.embedding: Embedding EmbeddingLookup
weft.nn.layer.image: MSSSIM PSNR SSIM Unfold
weft.nn.layer.padding: ChannelShuffle ConstantPad1d ConstantPad2d ConstantPad3d PixelShuffle PixelUnshuffle
    ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad2d
weft.nn.layer.normalization: BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d
    LayerNorm
weft.nn.layer.pooling: AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d
    AvgPool1d AvgPool2d AvgPool3d MaxPool1d MaxPool2d MaxPool3d
weft.nn.layer.unpooling: AdaptiveMaxPool3d FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d MaxUnpool1d
    MaxUnpool2d MaxUnpool3d
weft.nn.layer.recurrent: GRU LSTM RNN GRUCell LSTMCell RNNCell
weft.nn.layer.single: BiDense CentralCrop L1Regularizer LRN ReduceLogSumExp Roll Tril Triu Unflatten Upsample
weft.nn.layer.sparse: SparseTensorDenseMatmul SparseToDense
weft.nn.layer.transformer: MultiheadAttention Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder
    TransformerEncoderLayer
weft.nn.learning_rate_schedule: CosineDecayLR ExponentialDecayLR InverseDecayLR LearningRateSchedule NaturalExpDecayLR
    PolynomialDecayLR WarmUpLR
weft.nn.loss: BCELoss BCEWithLogitsLoss CosineEmbeddingLoss CrossEntropyLoss DiceLoss FocalLoss HuberLoss
    MultiClassDiceLoss RMSELoss KLDivLoss L1Loss LossBase MarginRankingLoss MSELoss NLLLoss SmoothL1Loss SoftMarginLoss
    SoftmaxCrossEntropyWithLogits
weft.nn.loss_functions: CTCLoss GaussianNLLLoss HingeEmbeddingLoss MultiLabelSoftMarginLoss PoissonNLLLoss
    TripletMarginLoss MultiMarginLoss MultilabelMarginLoss SampledSoftmaxLoss TripletMarginWithDistanceLoss
weft.nn.loss_scale: DynamicLossScaleUpdateCell FixedLossScaleUpdateCell TrainOneStepWithLossScaleCell
weft.nn.optim: FTRL LARS SGD Adadelta Adagrad Adam AdaMax AdamWeightDecay Lamb Momentum Optimizer RMSProp ASGD AdaFactor
    AdamOffload LazyAdam ProximalAdagrad Rprop
weft.nn.wrap: ForwardValueAndGrad ParameterUpdate TrainOneStepCell WithEvalCell WithGradCell WithLossCell
""")

if TYPE_CHECKING:
    from weft.nn.dynamic_lr import *
    from weft.nn.layer.activation import *
    from weft.nn.layer.basic import *
    from weft.nn.layer.calculus import *
    from weft.nn.layer.combined import *
    from weft.nn.layer.container import *
    from weft.nn.layer.conv import *
    from weft.nn.layer.embedding import *
    from weft.nn.layer.image import *
    from weft.nn.layer.normalization import *
    from weft.nn.layer.padding import *
    from weft.nn.layer.pooling import *
    from weft.nn.layer.recurrent import *
    from weft.nn.layer.single import *
    from weft.nn.layer.sparse import *
    from weft.nn.layer.transformer import *
    from weft.nn.layer.unpooling import *
    from weft.nn.learning_rate_schedule import *
    from weft.nn.loss import *
    from weft.nn.loss_functions import *
    from weft.nn.loss_scale import *
    from weft.nn.optim import *
    from weft.nn.wrap import *
else:  # type checkers take for public what is imported above, and every star
    _MODULES = "dynamic_lr layer learning_rate_schedule loss loss_scale optim wrap"
    __getattr__, __dir__ = lazily.lazily(__name__, {__name__: _MODULES, **_NAMES})
    __all__ = ["Cell", "HookHandle"]
    __all__.extend(name for names in _NAMES.values() for name in names.split())

_initializers = lazily.deferred("weft.nn.initializer")


def _make_initial(*given: Any) -> Tensor:
    return _initializers.initializer(*given)


tensor_module.make_initial = _make_initial
