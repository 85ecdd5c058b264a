// The watchdog's program, in the shell every POSIX system has: it starts faster and takes far less
// memory than a second Node would. Where `grep` is missing the shell reads by itself, and where there is
// no /proc it asks `ps`, which is best effort as in ps-table.ts.

/**
 * Arguments: the two halves of the runtime's token. In one piece it would be on the watchdog's own
 * command line, where `ps` shows it beside the environment, and the watchdog would find itself.
 * Standard input: `+N` and `-N`, a process group to end and one that has ended. Its end means that the
 * runtime is gone, however that came about.
 *
 * Rounds are a tenth of a second: asked in the first, woken where stopped and waited for in the next
 * ones, killed from the sixth on, over after the 22nd.
 * Twice in a row nobody must be found, because a program that is just being started shows no marker.
 */
export const WATCHDOG_SCRIPT = `
unset SCRIPT
trap '' TERM INT HUP QUIT PIPE TSTP TTIN TTOU USR1 USR2 ALRM
token=$1$2
groups=' '
while IFS= read -r line; do
  number=\${line#?}
  case $line in
    +*) groups="$groups$number " ;;
    -*) case $groups in *" $number "*) groups="\${groups%%" $number "*} \${groups#*" $number "}" ;; esac ;;
  esac
done
exec </dev/null 2>/dev/null

strangers=' '
look() {
  if [ ! -r /proc/self/environ ]; then
    found=$(ps -axEww -o pid= -o command= | while read -r pid rest; do
      case $rest in *"$token"*) echo "$pid" ;; esac
    done)
  elif command -v grep >/dev/null; then
    found=$(grep -lsF -e "$token" /proc/[0-9]*/environ)
  else
    found=
    for file in /proc/[0-9]*/environ; do
      case $strangers in *" $file "*) continue ;; esac
      kind=unknown
      while IFS= read -r text || [ "$text" ]; do
        case $text in *"$token"*) kind=ours; break ;; ?*) kind=stranger ;; esac
      done <"$file"
      case $kind in ours) found="$found $file" ;; stranger) strangers="$strangers$file " ;; esac
    done
  fi
}

strike() {
  struck=1
  for group in $groups; do
    kill -s "$1" -- "-$group" && struck=0
  done
  look
  for file in $found; do
    pid=\${file#/proc/}
    kill -s "$1" "\${pid%/environ}" && struck=0
  done
  return $struck
}

round=0
quiet=0
while [ $round -lt 22 ] && [ $quiet -lt 2 ]; do
  case $round in
    0) strike TERM ;;
    [1-4]) strike CONT ;;
    *) strike KILL ;;
  esac && quiet=0 || quiet=$((quiet + 1))
  round=$((round + 1))
  sleep 0.1
done
`;
