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
    """How a destination prints: `ts-format()`, `frac-digits()`, `time-zone()` and their kin."""


class LogTemplate:
    """`LogTemplate("${HOST} $(lowercase ${PROGRAM})").format(msg)`"""

    def __init__(self, template: str):
        if template not in _known:
            why = _wire.wire.ask("template", template)
            if why is not None:
                raise LogTemplateException("`{}` is no template: {}".format(template, why))
            if len(_known) >= _KNOWN_MAX:
                _known.clear()
            _known.add(template)
        self.template = template

    def __str__(self) -> str:
        return self.template

    def format(self, msg: LogMessage, options=None, tz: int = LTZ_LOCAL, seqnum: int = 0) -> str:
        """The text for a message as it came; what was set since is not seen.

        It is printed with the options of the destination, or of the parser's configuration, whatever `options`
        is. `seqnum` is what $SEQNUM prints, nothing when it is 0.
        """
        if tz != LTZ_LOCAL and tz != LTZ_SEND:
            raise ValueError("tz is LTZ_LOCAL or LTZ_SEND")
        batch = msg._batch
        number = "m" if seqnum and seqnum == batch.number else str(int(seqnum))
        name = "{}{}{}\0{}".format(TEMPLATE, "s" if tz == LTZ_SEND else "l", number, self.template)
        value = batch.column(name)[msg._at]
        if value is None:
            raise LogTemplateException("`{}` is no template".format(self.template))
        return value.decode("utf-8", "replace")
