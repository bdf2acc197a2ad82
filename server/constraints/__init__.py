"""From the constraint fields of a request to the one grammar that its answer must obey."""

from server.constraints.constraint import Constraint, Source
from server.constraints.resolve import ConfiguredGrammars, requested_constraint

__all__ = ["ConfiguredGrammars", "Constraint", "Source", "requested_constraint"]
