"""Back-translation: the plan, the run folder that survives a crash, the engine that carries the plan out."""
