#!/bin/sh
# Runs a command that stops with the process that started this script, however that one ends.
#
# Usage: stop_with_parent.sh COMMAND... with a pipe as standard input, whose other end the parent
# keeps open. The command is stopped when the pipe is closed, which the kernel does also for a parent
# that was killed with SIGKILL, and when the parent writes a line, which works although a forked child
# holds the pipe open. Exits with the code of the command.

exec 3<&0
"$@" </dev/null 3<&- &
command=$!
(
  read -r _ <&3
  kill -TERM "$command"
  sleep 2 # A command that runs a script without end does not react to SIGTERM.
  kill -KILL "$command"
) 2>/dev/null &
watcher=$!
wait "$command"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"
