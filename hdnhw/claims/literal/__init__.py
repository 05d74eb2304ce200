"""What the papers print, followed to the letter: witnesses of where it holds."""
