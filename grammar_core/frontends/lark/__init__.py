"""Grammars in the Lark dialect: text to IR."""
