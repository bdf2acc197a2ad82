"""The HTTP side of Syntagma: the only package that knows both the models and the grammars."""

__version__ = "0.1.0"
