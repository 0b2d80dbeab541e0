"""LogDestination: the base of classes for python() destinations, which this version cannot run yet; it is here
so that a module with parsers and destinations can be imported for its parsers."""

from syslogng.message import LogMessage


class LogDestination:
    """A destination of one's own."""

    DROP, ERROR, SUCCESS, QUEUED, NOT_CONNECTED, RETRY = range(6)

    def init(self, options: dict) -> bool:
        return True

    def deinit(self) -> None:
        pass

    def open(self) -> bool:
        return True

    def close(self) -> None:
        pass

    def is_opened(self) -> bool:
        return True

    def send(self, msg: LogMessage):
        raise NotImplementedError

    def flush(self):
        return self.SUCCESS
