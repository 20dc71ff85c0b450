"""Fixtures of the tests here."""

from tests.helpers.data_settings import settings_of_pipelines  # noqa: F401
