"""Functions that make text of the configuration: `register_config_generator("source", "my-source", function)` makes
`source s { my-source(option(value)); };` stand for what `function({"option": "value"})` returns."""

from typing import Callable, Dict

# (context, name) -> function.
_registered: Dict[tuple, Callable] = {}


def _key(context, name):
    # Both are one name in a configuration.
    return str(context), str(name).replace("_", "-")


def register_config_generator(context: str, name: str, config_generator: Callable[[Dict[str, str]], str]) -> None:
    """Defines a call. The function gets the arguments, values as they are written, and returns the text that the
    call stands for. Of two with one name the later counts."""
    if not callable(config_generator):
        raise TypeError("config_generator is no function")
    _registered[_key(context, name)] = config_generator


def register_jinja_config_generator(context: str, name: str, template: str) -> None:
    """The same from a template of Jinja2, which has to be installed: `{{ args.option }}` is an argument."""
    from jinja2 import BaseLoader, Environment

    compiled = Environment(loader=BaseLoader()).from_string(template)
    register_config_generator(context, name, lambda args: compiled.render(args=args))


def _generate(context, name, arguments):
    made = _registered[_key(context, name)](dict(arguments))
    if not isinstance(made, str):
        raise TypeError("the function of `{}` returned {}, not str".format(name, type(made).__name__))
    return str.__str__(made)
