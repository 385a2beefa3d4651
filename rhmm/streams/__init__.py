"""What online learners are made of: starts, races, traces, and runners on the same stream."""
