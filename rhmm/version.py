"""The version of the engine: in files, on the command line and in `rhmm.__version__`."""

__version__ = "0.6.0"
