"""The clients people use make a tour of the server's features: real HTTP, the real engine, a tiny model."""
