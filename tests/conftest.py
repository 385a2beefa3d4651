from hypothesis import settings

# A slow machine must not fail a test, and the same commit must give the same verdict twice.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
