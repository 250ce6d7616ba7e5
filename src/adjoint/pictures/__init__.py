"""Pictures of graphs and pages of HTML, as text, without a dependency."""
