"""Documents on `report.html`: what is quoted of each, where it stands, and what lies along the rest."""
