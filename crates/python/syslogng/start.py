# What `python3 -c` runs: takes the sources of the package from the program, and serves.
import marshal
import os
import socket
import sys
import types


def begin():
    stream = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    file = stream.makefile("rb", 1 << 18)
    size = int.from_bytes(file.read(4), "little")
    sources, version, paths = marshal.loads(file.read(size))
    sys.path[:0] = paths
    # Of `-c` comes an entry that is the working directory.
    sys.path[:] = [path for path in sys.path if path]
    for name, source in sources:
        module = types.ModuleType(name)
        module.__file__ = "<penstock>/" + name.replace(".", "/") + ".py"
        if name == "syslogng":
            module.__path__ = []
        sys.modules[name] = module
        exec(compile(source, module.__file__, "exec"), module.__dict__)
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, module)
    sys.modules["syslogng._serve"].serve(stream, file, version)


begin()
