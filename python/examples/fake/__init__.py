"""What stands in for model APIs and for tools' own servers."""
