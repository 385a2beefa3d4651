"""The commands of ``rhmm``, one a file."""
