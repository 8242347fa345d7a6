"""Fakes of model APIs and of tools' own servers."""
