"""What presents the engine: scenarios, lessons, views and panels."""
