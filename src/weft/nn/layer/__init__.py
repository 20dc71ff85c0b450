"""The layers, a file per family; `weft.nn` lists them."""
