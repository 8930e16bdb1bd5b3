"""The paper's three initial summarizers (Section 3.1), each usable alone, and the Lead-N baseline."""
