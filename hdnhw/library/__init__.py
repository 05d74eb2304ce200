"""The library: functions with the names, options and keys of commands, and networks as objects.

What users import is ``hdnhw`` itself, which has the public names of these modules.
"""
