"""Commands that look at grammars and need no model."""
