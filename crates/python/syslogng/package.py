"""What classes of the configuration import: messages, the bases of parsers, the log.

    from syslogng import LogParser, LogMessage, Logger
"""
