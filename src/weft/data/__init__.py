"""Data: pipelines that read, change and batch what a network is trained on."""
