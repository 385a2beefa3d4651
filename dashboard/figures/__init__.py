"""Pictures that stand still: Plotly figures and SVG."""
