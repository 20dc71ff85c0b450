"""Parallel programs as far as one process makes sense of them: who takes part, groups, settings, layouts.

A program is rank 0 of 1. What needs another process is refused with one error, `SeveralProcesses`.
"""
