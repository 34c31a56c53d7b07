"""Read an agent's output: usage and cost of a run, and how it ended. listener.py has the table of formats."""

from ralph_tracker.agents.output.listener import Listener
from ralph_tracker.agents.output.run_report import Ending, ModelTokens, RunReport

__all__ = ["Ending", "Listener", "ModelTokens", "RunReport"]
