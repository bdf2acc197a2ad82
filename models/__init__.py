"""Loading, running and sampling Hugging Face causal language models.

Knows nothing of grammars or HTTP: a grammar reaches the sampler only as an int32 bitmask.
"""
