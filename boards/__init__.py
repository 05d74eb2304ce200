"""Board tops: a fabric that tests itself and reports over UART."""
