"""What the pages share: how things look, and nothing about Streamlit or the mathematics."""
