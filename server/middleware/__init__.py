"""What happens to every request before its route and after it, one concern a file."""
