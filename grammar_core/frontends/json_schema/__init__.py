"""JSON Schema, drafts 4 to 2020-12, to grammars of the JSON texts of the values it allows."""
