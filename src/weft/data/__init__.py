"""Data: pipelines that read, change and batch what a network is trained on."""

from weft.data.annotated import CocoDataset, VOCDataset
from weft.data.batches import (
    BatchDataset,
    BatchInfo,
    BucketBatchByLengthDataset,
    PaddedBatchDataset,
)
from weft.data.callbacks import DatasetCache, DSCallback
from weft.data.corpora import (
    AGNewsDataset,
    AmazonReviewDataset,
    DBpediaDataset,
    IMDBDataset,
    PennTreebankDataset,
    SogouNewsDataset,
    WikiTextDataset,
    YahooAnswersDataset,
    YelpReviewDataset,
)
from weft.data.dataset import (
    Dataset,
)
from weft.data.files import (
    Cifar10Dataset,
    Cifar100Dataset,
    FashionMnistDataset,
    ImageFolderDataset,
    KMnistDataset,
    MnistDataset,
)
from weft.data.iterators import (
    DictIterator,
    TupleIterator,
)
from weft.data.kinds import AudioBaseDataset, TextBaseDataset, UnionBaseDataset, VisionBaseDataset
from weft.data.listed import CelebADataset, ManifestDataset
from weft.data.mindrecords import MindDataset
from weft.data.operations import (
    ConcatDataset,
    FilterDataset,
    MapDataset,
    ProjectDataset,
    RenameDataset,
    RepeatDataset,
    ShuffleDataset,
    SkipDataset,
    SyncWaitDataset,
    TakeDataset,
    ZipDataset,
)
from weft.data.operations import zip_datasets as zip
from weft.data.records import TFRecordDataset
from weft.data.samplers import (
    BuiltinSampler,
    DistributedSampler,
    IterSampler,
    PKSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Shuffle,
    SubsetRandomSampler,
    SubsetSampler,
    WeightedRandomSampler,
)
from weft.data.schema import Schema
from weft.data.sources import (
    GeneratorDataset,
    MappableDataset,
    NumpySlicesDataset,
    PaddedDataset,
    SourceDataset,
)
from weft.data.texts import (
    CSVDataset,
    TextFileDataset,
)

__all__ = [
    "BatchDataset",
    "BatchInfo",
    "BucketBatchByLengthDataset",
    "PaddedBatchDataset",
    "Dataset",
    "Cifar10Dataset",
    "Cifar100Dataset",
    "FashionMnistDataset",
    "ImageFolderDataset",
    "KMnistDataset",
    "MnistDataset",
    "DictIterator",
    "TupleIterator",
    "ConcatDataset",
    "FilterDataset",
    "MapDataset",
    "ProjectDataset",
    "RenameDataset",
    "RepeatDataset",
    "ShuffleDataset",
    "SkipDataset",
    "SyncWaitDataset",
    "TakeDataset",
    "ZipDataset",
    "BuiltinSampler",
    "DistributedSampler",
    "IterSampler",
    "PKSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Shuffle",
    "SubsetRandomSampler",
    "SubsetSampler",
    "WeightedRandomSampler",
    "GeneratorDataset",
    "MappableDataset",
    "NumpySlicesDataset",
    "PaddedDataset",
    "SourceDataset",
    "CSVDataset",
    "TextFileDataset",
    "CocoDataset",
    "VOCDataset",
    "DSCallback",
    "DatasetCache",
    "MindDataset",
    "AGNewsDataset",
    "AmazonReviewDataset",
    "DBpediaDataset",
    "IMDBDataset",
    "PennTreebankDataset",
    "SogouNewsDataset",
    "WikiTextDataset",
    "YahooAnswersDataset",
    "YelpReviewDataset",
    "CelebADataset",
    "ManifestDataset",
    "Schema",
    "TFRecordDataset",
    "AudioBaseDataset",
    "TextBaseDataset",
    "UnionBaseDataset",
    "VisionBaseDataset",
    "zip",
]
