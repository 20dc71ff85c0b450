"""Benchmarks: what weft costs, as a ratio to raw JAX measured in the same run.

`python -m bench` prints the table; a row that exceeds its limit makes the exit status 1.
"""

import os

# what is compiled is compiled, on both sides; the rows about the compile cache turn it on where they need it
os.environ["MS_COMPILER_CACHE_ENABLE"] = "0"
