"""What the public pages of other frameworks say their compilers cannot do, each with a program that needs it.

One file a framework; `limits` has the record, `page` makes `docs/lifted-limits.md` of all of them.
"""
