"""From recurrent nets to linear attention: models of like size, side by side, on two small tasks."""
