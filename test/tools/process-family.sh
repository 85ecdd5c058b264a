#!/bin/sh
# A command with descendants that are hard to get rid of: process-family.sh KIND FOLDER THEN
# Every descendant writes its pid to FOLDER/pids and holds the output pipes. When all have, it says
# "ready" and goes on as THEN says: `exit` (leaving them behind) or `stay`.

kind=$1
pids=$2/pids
then=$3
linger='echo $$ >>"$0"; exec sleep 300'
deaf='trap "" TERM HUP INT; echo $$ >>"$0"; while :; do sleep 1; done'
expected=1
: >>"$pids"
chmod 666 "$pids" 2>/dev/null

case $kind in
  plain) sh -c "$linger" "$pids" & ;;
  deaf)
    trap '' TERM HUP INT
    sh -c "$deaf" "$pids" &
    ;;
  session) setsid sh -c "$linger" "$pids" & ;;
  deaf-session) setsid sh -c "$deaf" "$pids" & ;;
  daemon) (setsid sh -c 'sh -c "$1" "$0" & exit 0' "$pids" "$linger" &) ;;
  silent-daemon)
    (setsid sh -c 'exec >/dev/null 2>&1; sh -c "$1" "$0" & exit 0' "$pids" "$linger" &)
    ;;
  stopped)
    sh -c 'echo $$ >>"$0"; kill -STOP $$; exec sleep 300' "$pids" &
    ;;
  scrubbed) env -i sh -c "$linger" "$pids" & ;;
  scrubbed-job)
    # A group of its own in the same session; sh would want a terminal for that.
    shell=$(command -v bash || command -v sh)
    "$shell" -c 'set -m; env -i sh -c "$1" "$0" & exit 0' "$pids" "$linger"
    ;;
  scrubbed-session)
    # Recognisable by its parent only, so the parent has to stay.
    sh -c 'trap "" TERM; env -i setsid sh -c "$1" "$0"; :' "$pids" "$linger" &
    ;;
  respawning)
    sh -c 'trap "" TERM; echo $$ >>"$0"; while :; do sh -c "trap : TERM; sleep 0.2" & sleep 0.02; done' "$pids" &
    ;;
  many)
    expected=15
    count=0
    while [ $count -lt 5 ]; do
      sh -c "$linger" "$pids" &
      setsid sh -c "$linger" "$pids" &
      setsid sh -c "$deaf" "$pids" &
      count=$((count + 1))
    done
    ;;
esac

until [ "$(wc -l <"$pids")" -ge $expected ]; do sleep 0.02; done
echo ready
[ "$then" = exit ] && exit 0
while :; do sleep 1; done
