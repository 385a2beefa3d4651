"""Addresses beside the pages, and what comes between the browser and Streamlit."""
