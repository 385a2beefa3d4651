"""Work behind the pages: jobs, runs, sweeps, and what is kept of them."""
