"""Hardware that sends a total exchange through a fabric, packet by packet, and checks what comes out."""
