"""Entries as data: kept for the next process, and found again there."""
