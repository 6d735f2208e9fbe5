"""What the engine answers, in the form of the programs that judge it: tools of development, in no wheel."""
