"""The learners, one a file: `learner` has their common interface, `registry` lists them."""
