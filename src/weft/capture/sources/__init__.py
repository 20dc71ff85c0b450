"""Where outside values come from, and what must still hold at the next call."""
