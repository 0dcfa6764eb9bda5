"""The paper's experiments, one module each with a function `run`.

Each takes systems by name: a `Splicer` (or anything that `Generates`), a function that opens one, or the path
of a file of generations. It keeps new texts in the folder `out`, writes its results there as JSON, Markdown
and figures, and returns them.

>>> from textsplice.evaluate.experiments import automatic
>>> found = automatic.run({"full": Splicer.load("runs/full")}, "prepared/e2e", out=Path("results"))
>>> print(found.markdown)
"""
