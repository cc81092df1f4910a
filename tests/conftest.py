"""How Hypothesis draws cases: the same ones in every run, so that a change is what breaks a test and never the draw.

`pytest --hypothesis-profile=search` draws new ones.
"""

from hypothesis import settings

settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile("same")
