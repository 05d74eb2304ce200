"""What a design in another language or style puts around a fabric, made from the manifest alone."""
