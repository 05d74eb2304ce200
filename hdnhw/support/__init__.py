"""How a program behaves on a computer: files, processes, signals, progress, ranks, and what it raises."""
