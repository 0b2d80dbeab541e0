"""The names of the package, put there when all its parts are."""

import sys

import syslogng
from syslogng import _wire
from syslogng.confgen import register_config_generator, register_jinja_config_generator
from syslogng.dest import LogDestination
from syslogng.logger import Logger
from syslogng.message import LogMessage
from syslogng.parser import LogParser
from syslogng.persist import Persist
from syslogng.source import BatchedAckTracker, ConsecutiveAckTracker, InstantAckTracker, LogFetcher, LogSource
from syslogng.template import LTZ_LOCAL, LTZ_SEND, LogTemplate, LogTemplateException, LogTemplateOptions

syslogng.__all__ = [
    "BatchedAckTracker",
    "ConsecutiveAckTracker",
    "InstantAckTracker",
    "LTZ_LOCAL",
    "LTZ_SEND",
    "LogDestination",
    "LogFetcher",
    "LogMessage",
    "LogParser",
    "LogSource",
    "LogTemplate",
    "LogTemplateException",
    "LogTemplateOptions",
    "Logger",
    "Persist",
    "register_config_generator",
    "register_jinja_config_generator",
]
for _name in syslogng.__all__:
    setattr(syslogng, _name, globals()[_name])
# 0: no debugging; 1: --debug or --verbose; 2: --trace.
syslogng.debuglevel = 0
# The module that syslog-ng's own parts use.
sys.modules["_syslogng"] = syslogng
