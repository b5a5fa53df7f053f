"""meshdesk: lend this computer to a mesh that runs large language models."""

__version__ = "0.1.0"
