"""Between the engine and the world outside: message and trace formats. Nothing here is imported unless asked for."""
