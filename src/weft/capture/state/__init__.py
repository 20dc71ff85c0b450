"""What a capture in progress consists of: frames, the journal of writes, guards, events."""
