"""Finding text: beams over splices, hard rules, the swap baseline, and what comes out."""
