"""LogTemplate: a template of the configuration's language, printed for a message."""

from syslogng.message import TEMPLATE, LogMessage

# How times are printed: in the zone of the message, or in that of this machine.
LTZ_LOCAL = 0
LTZ_SEND = 1


class LogTemplateException(Exception):
    """The text is no template."""


class LogTemplate:
    """`LogTemplate("${HOST} $(lowercase ${PROGRAM})").format(msg)`"""

    def __init__(self, template: str):
        self.template = template

    def __str__(self) -> str:
        return self.template

    def format(self, msg: LogMessage, options=None, tz: int = LTZ_LOCAL, seqnum: int = 0) -> str:
        """The text for a message as it came; what was set since is not seen.

        It is printed with the options of the parser's configuration or of the destination, and with the number
        that the message has there, whatever the other arguments say.
        """
        value = msg._batch.column(TEMPLATE + self.template)[msg._at]
        if value is None:
            raise LogTemplateException("`{}` is no template".format(self.template))
        return value.decode("utf-8", "replace")
