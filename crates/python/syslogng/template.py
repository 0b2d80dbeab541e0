"""LogTemplate: a template of the configuration's language, printed for a message."""

from syslogng import _wire
from syslogng.message import TEMPLATE, LogMessage

# How times are printed: in local-time-zone(), or in the time-zone() of the destination.
LTZ_LOCAL = 0
LTZ_SEND = 1

# Texts that are known to be templates.
_known = set()
_KNOWN_MAX = 4096


class LogTemplateException(Exception):
    """The text is no template."""


class LogTemplateOptions:
    """How templates print: `ts-format()`, `frac-digits()`, `time-zone()` and their kin. One that is made prints as the global
    options say; that of a destination, `self.template_options`, as its own do."""

    _of_driver = False


class LogTemplate:
    """`LogTemplate("${HOST} $(lowercase ${PROGRAM})").format(msg)`"""

    def __init__(self, template: str, options: LogTemplateOptions = None):
        if not isinstance(template, str):
            raise TypeError("a template is a str, not {}".format(type(template).__name__))
        template = str.__str__(template)
        self.options = _checked(options)
        if template not in _known:
            _encodable(template)
            why = _wire.wire.ask("template", template)
            if why is not None:
                raise LogTemplateException("`{}` is no template: {}".format(template, why))
            if len(_known) >= _KNOWN_MAX:
                _known.clear()
            _known.add(template)
        self.template = template

    def __str__(self) -> str:
        return self.template

    def format(self, msg: LogMessage, options=None, tz: int = LTZ_SEND, seqnum: int = 0) -> str:
        """The text for a message as it came; what was set since is not seen.

        `options` are those given here, else those of the constructor, else the global ones. `seqnum` is what $SEQNUM
        prints, nothing when it is 0.
        """
        if not isinstance(msg, LogMessage):
            raise TypeError("LogMessage expected in the first parameter")
        options = _checked(options) or self.options
        if tz != LTZ_LOCAL and tz != LTZ_SEND:
            raise ValueError("tz is LTZ_LOCAL or LTZ_SEND")
        batch = msg._batch
        number = "m" if seqnum and seqnum == batch.number else str(int(seqnum))
        zone = "s" if tz == LTZ_SEND else "l"
        if options is not None and options._of_driver:
            zone = zone.upper()
        value = msg._value("{}{}{}\0{}".format(TEMPLATE, zone, number, self.template))
        if value is None:
            raise LogTemplateException(
                "`{}` cannot be printed for a message that was made here: the program does not know it".format(self.template)
            )
        return value.decode("utf-8", "replace")


def _encodable(template):
    try:
        template.encode("utf-8")
    except UnicodeEncodeError as error:
        raise LogTemplateException("{!r} is no template: {}".format(template, error)) from None


def _checked(options):
    if options is not None and not isinstance(options, LogTemplateOptions):
        raise TypeError("LogTemplateOptions expected in the second parameter")
    return options
