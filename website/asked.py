"""An extension of griffe: functions that ask for options have the parameters and docstrings that they have when run."""

import inspect
from importlib import import_module
from typing import Any

from griffe import Extension, Function, Parameter, ParameterKind, Parameters


class AskedOptions(Extension):
    """Looks at functions with the decorator ``asks`` themselves, not at the text of their module."""

    def on_function(self, *, func: Function, **_: Any) -> None:
        """Put in what is derived from the class of options."""
        if all(str(decorator.value) != "asks" for decorator in func.decorators):
            return
        made = getattr(import_module(func.module.path), func.name)
        written = {parameter.name: parameter for parameter in func.parameters}
        taken = inspect.signature(made).parameters
        func.parameters = Parameters(*(written.get(name) or _parameter(one) for name, one in taken.items()))
        if func.docstring is not None:
            func.docstring.value = inspect.getdoc(made)


def _parameter(one: inspect.Parameter) -> Parameter:
    """Return an option as griffe has parameters."""
    default = None if one.default is one.empty else repr(one.default)
    annotation = inspect.formatannotation(one.annotation)
    return Parameter(one.name, annotation=annotation, kind=ParameterKind.keyword_only, default=default)
