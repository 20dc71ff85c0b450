"""What can go wrong with MindRecord files, as classes."""

from __future__ import annotations

from typing import ClassVar


class MindRecordException(Exception):
    """Something that went wrong with MindRecord files.

    Args:
        detail: what exactly; nothing where the class says it all.

    Example:
        >>> print(MRMOpenError())
        [MRMOpenError]: MindRecord File could not open successfully.
    """

    text: ClassVar[str] = "Unknown Error."

    def __init__(self, *detail: object) -> None:
        super().__init__(f"[{type(self).__name__}]: {self.text.format(*detail)}")


def _declared(name: str, text: str) -> type[MindRecordException]:
    return type(
        name, (MindRecordException,), {"text": text, "__module__": __name__, "__doc__": text.format("...", "...")}
    )


UnknownError = _declared("UnknownError", "Unknown Error.")
ParamMissError = _declared("ParamMissError", "Param missing. '{}' is required.")
ParamTypeError = _declared("ParamTypeError", "Invalid parameter type. '{}' expect {} type.")
ParamValueError = _declared("ParamValueError", "Invalid parameter value. {}")
PathNotExistsError = _declared("PathNotExistsError", "Invalid path. {}")
DbConnectionError = _declared("DbConnectionError", "Db connection is error. Detail: {}")
MRMAddIndexError = _declared("MRMAddIndexError", "Failed to add index field.")
MRMAddSchemaError = _declared("MRMAddSchemaError", "Failed to add schema.")
MRMBuildSchemaError = _declared("MRMBuildSchemaError", "Failed to build schema.")
MRMCloseError = _declared("MRMCloseError", "Failed to close.")
MRMCommitError = _declared("MRMCommitError", "Failed to commit.")
MRMDefineBlobError = _declared("MRMDefineBlobError", "Failed to define blob field. Detail: {}")
MRMDefineCategoryError = _declared("MRMDefineCategoryError", "Failed to define category field. Detail: {}")
MRMDefineIndexError = _declared("MRMDefineIndexError", "Failed to define index field. Detail: {}")
MRMFetchCandidateFieldsError = _declared("MRMFetchCandidateFieldsError", "Failed to fetch candidate category fields.")
MRMFetchDataError = _declared("MRMFetchDataError", "Failed to fetch data by category.")
MRMFinishError = _declared("MRMFinishError", "Failed to finish.")
MRMGenerateIndexError = _declared("MRMGenerateIndexError", "Failed to generate index.")
MRMGetMetaError = _declared("MRMGetMetaError", "Failed to get meta info.")
MRMIndexGeneratorError = _declared("MRMIndexGeneratorError", "Failed to create index generator.")
MRMInitSegmentError = _declared("MRMInitSegmentError", "Failed to initialize segment.")
MRMInvalidHeaderSizeError = _declared("MRMInvalidHeaderSizeError", "Failed to set header size.")
MRMInvalidPageSizeError = _declared("MRMInvalidPageSizeError", "Failed to set page size.")
MRMInvalidSchemaError = _declared("MRMInvalidSchemaError", "Schema format is error. Detail: {}")
MRMLaunchError = _declared("MRMLaunchError", "Failed to launch.")
MRMOpenError = _declared("MRMOpenError", "MindRecord File could not open successfully.")
MRMOpenForAppendError = _declared("MRMOpenForAppendError", "MindRecord File could not open successfully for append.")
MRMReadCategoryInfoError = _declared("MRMReadCategoryInfoError", "Failed to read category information.")
MRMSetHeaderError = _declared("MRMSetHeaderError", "Failed to set header.")
MRMUnsupportedSchemaError = _declared("MRMUnsupportedSchemaError", "Schema is not supported. Detail: {}")
MRMValidateDataError = _declared("MRMValidateDataError", "Raw data do not match the schema. Detail: {}")
MRMWriteDatasetError = _declared("MRMWriteDatasetError", "Failed to write dataset.")

__all__ = [
    "DbConnectionError",
    "MRMAddIndexError",
    "MRMAddSchemaError",
    "MRMBuildSchemaError",
    "MRMCloseError",
    "MRMCommitError",
    "MRMDefineBlobError",
    "MRMDefineCategoryError",
    "MRMDefineIndexError",
    "MRMFetchCandidateFieldsError",
    "MRMFetchDataError",
    "MRMFinishError",
    "MRMGenerateIndexError",
    "MRMGetMetaError",
    "MRMIndexGeneratorError",
    "MRMInitSegmentError",
    "MRMInvalidHeaderSizeError",
    "MRMInvalidPageSizeError",
    "MRMInvalidSchemaError",
    "MRMLaunchError",
    "MRMOpenError",
    "MRMOpenForAppendError",
    "MRMReadCategoryInfoError",
    "MRMSetHeaderError",
    "MRMUnsupportedSchemaError",
    "MRMValidateDataError",
    "MRMWriteDatasetError",
    "MindRecordException",
    "ParamMissError",
    "ParamTypeError",
    "ParamValueError",
    "PathNotExistsError",
    "UnknownError",
]
