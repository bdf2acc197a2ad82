"""The Responses API: conversations of items, told as chat completions and answered in items again."""
