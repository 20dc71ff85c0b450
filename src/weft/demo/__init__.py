"""`weft demo`: one network, one training step, run three ways."""
