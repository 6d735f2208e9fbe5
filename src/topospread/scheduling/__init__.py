"""The scheduling cycle: profile → plugins, filter → score → choose → bind, and the verdict as data. No I/O."""
