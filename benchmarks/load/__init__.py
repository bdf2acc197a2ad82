"""A load test of a running server, with locust."""
