import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { innerCommands } from "./inner-commands.ts";
import { readShellScript } from "./shell-script.ts";

/** `…` at the end of a command: further words may follow. */
function innerOf(argv: readonly string[], executable = `/usr/bin/${argv[0]}`): string[] {
  const { commands, opaque } = innerCommands(argv, executable);
  const named = commands.map(({ words, open }) => [...words, ...(open ? ["…"] : [])].join(" "));
  return [...named, ...(opaque ? ["?"] : [])];
}

describe("a program that runs the command in its arguments", () => {
  test.each<[string[], string[]]>([
    [["env", "rm", "a"], ["rm a"]],
    [["env", "-i", "-u", "X", "LANG=C", "rm", "a"], ["rm a"]],
    [["env", "-", "rm", "a"], ["rm a"]],
    [["env", "--uns", "X", "rm"], ["rm"]],
    [
      ["env", "PATH=/x", "rm", "a"],
      ["rm a", "?"],
    ],
    [["env", "-S", "rm a"], ["rm a"]],
    [["env", "--split-string=rm a"], ["rm a"]],
    [
      ["env", "-S", "git", "push"],
      ["git push …", "?"],
    ],
    [["env"], []],
    [["timeout", "-k", "5", "10", "rm", "a"], ["rm a"]],
    [
      ["timeout", "--signal=KILL", "10", "env", "rm"],
      ["env rm", "rm"],
    ],
    [["nohup", "rm", "a"], ["rm a"]],
    [["nice", "-n", "5", "rm"], ["rm"]],
    [["nice", "-5", "rm"], ["rm"]],
    [["ionice", "-c2", "-n", "7", "rm"], ["rm"]],
    [["setsid", "-w", "rm"], ["rm"]],
    [["stdbuf", "-oL", "rm"], ["rm"]],
    [["time", "-p", "rm"], ["rm"]],
    [
      ["sudo", "-u", "root", "A=b", "rm"],
      ["rm", "?"],
    ],
    [["sudo", "-n", "--", "rm"], ["rm"]],
    [["sudo", "-s", "rm", "a"], ["rm a"]],
    [["sudo", "-i"], ["?"]],
    [["doas", "-u", "me", "rm"], ["rm"]],
    [["su", "me", "-c", "rm a"], ["rm a …"]],
    [["su", "-"], ["?"]],
    [["runuser", "-u", "me", "--", "rm", "a"], ["rm a"]],
    [["chroot", "/x", "rm"], ["rm"]],
    [["chroot", "/x"], ["?"]],
    [["unshare", "-rm", "--fork", "rm"], ["rm"]],
    [["prlimit", "--nofile=5", "rm"], ["rm"]],
    [["prlimit", "-n5", "rm"], ["rm"]],
    [["taskset", "-c", "0", "rm"], ["rm"]],
    [["strace", "-f", "-e", "trace=all", "rm"], ["rm"]],
    [["strace", "-o", "|rm a", "ls"], ["?"]],
    [["watch", "-n", "1", "rm", "a"], ["rm a"]],
    [["script", "-qc", "rm a", "/dev/null"], ["rm a"]],
    [["script", "/dev/null", "-c", "rm a"], ["rm a"]],
    [["flock", "-n", "lock", "rm", "a"], ["rm a"]],
    [["flock", "lock", "-c", "rm a"], ["rm a"]],
    [["xargs", "rm"], ["rm …"]],
    [
      ["xargs", "-0", "-n1", "-a", "list", "git"],
      ["git …", "?"],
    ],
    [["xargs", "-I", "{}", "mv", "{}", "x"], ["mv …"]],
    [
      ["xargs", "-I%", "%", "x"],
      ["…", "?"],
    ],
    [["xargs"], []],
    [
      ["parallel", "-j", "2", "rm", ":::", "a"],
      ["rm ::: a", "?"],
    ],
    [
      ["parallel", "--j", "2", "rm", ":::", "a"],
      ["rm ::: a", "?"],
    ],
    [["busybox", "rm", "a"], ["rm a"]],
    [
      ["npx", "-y", "rm", "a"],
      ["rm a", "?"],
    ],
    [
      ["npx", "-c", "rm a"],
      ["rm a", "?"],
    ],
    [
      ["npm", "exec", "--", "rm", "a"],
      ["rm a", "?"],
    ],
    [["timeout", "--odd-option", "rm"], ["?"]],
  ])("%j", (argv, expected) => {
    verifies("PERM-16");
    expect(innerOf(argv)).toEqual(expected);
  });

  test("is known by the file that really runs, too", () => {
    verifies("PERM-16");
    expect(innerOf(["./x", "rm", "a"], "/usr/bin/env")).toEqual(["rm a", "?"]);
    expect(innerOf(["/lib64/ld-linux-x86-64.so.2", "/bin/rm"], "/lib64/ld-2.so")).toContain(
      "/bin/rm",
    );
    expect(innerOf(["ls", "a"], "/bin/busybox")).toEqual([]);
    expect(innerOf(["ls", "a"], "/opt/other")).toEqual(["?"]);
    expect(innerOf(["ls.sh"], "/usr/bin/ls.sh")).toEqual(["?"]);
    expect(innerOf(["bash5", "-c", "rm a"])).toEqual(["rm a", "?"]);
  });
});

describe("a program that runs another by an option", () => {
  test.each<[string[], string[]]>([
    [["find", ".", "-exec", "rm", "{}", "+"], ["rm …"]],
    [
      ["find", ".", "-name", "a", "-execdir", "rm", "-f", "{}", ";", "-ok", "ls", ";"],
      ["rm -f …", "ls"],
    ],
    [
      ["find", ".", "-exec", "{}", ";"],
      ["…", "?"],
    ],
    [
      ["find", ".", "-exec", "sh", "-c", "rm a", ";"],
      ["sh -c rm a", "rm a"],
    ],
    [["find", ".", "-name", "-exec.txt"], []],
    [["fd", "-x", "rm"], ["rm …"]],
    [["tar", "-xf", "a", "--to-command=rm a"], ["rm a …"]],
    [["tar", "-xf", "a", "--to-com", "rm a"], ["rm a …"]],
    [["tar", "-cf", "a", "--checkpoint-action=exec=rm a"], ["rm a …"]],
    [["tar", "-cf", "a", "--checkpoint-action=dot"], []],
    [["tar", "-I", "rm", "-cf", "a", "b"], ["rm …"]],
    [["split", "--filter=rm a", "x"], ["rm a …"]],
    [["split", "-l", "5", "x"], []],
    [["sort", "--compress-program=rm", "a"], ["rm …"]],
    [["rsync", "-e", "rm a", "x", "y"], ["rm a …"]],
    [
      ["rsync", "-ave", "ssh", "x", "y"],
      ["ssh …", "?"],
    ],
    [["rg", "--pre", "rm", "x"], ["rm …"]],
    [["awk", "{print $1}", "a"], []],
    [["awk", "-F:", 'BEGIN { system("rm a") }'], ["?"]],
    [["awk", '{ print | "rm a" }'], ["?"]],
    [["awk", "-f", "x.awk"], ["?"]],
    [["sed", "-n", "1,5p", "a"], []],
    [["sed", "-i", "s/a/b/g", "a"], []],
    [["sed", "1e rm a", "a"], ["?"]],
    [["sed", "s/a/rm b/e", "a"], ["?"]],
    [["git", "status"], []],
    [["git", "-C", ".", "push"], ["git push"]],
    [
      ["git", "-C", "/x", "push"],
      ["git push", "?"],
    ],
    [["git", "-c", "user.name=x", "commit", "-m", "a"], ["git commit -m a"]],
    [["git", "-c", "alias.x=!rm victim", "x"], ["rm victim …"]],
    [["git", "-c", "alias.X=push origin", "x", "main"], ["git push origin main"]],
    [
      ["git", "-c", "core.pager=rm a", "log"],
      ["rm a …", "git log", "?"],
    ],
    [
      ["git", "-c", "core.fsmonitor=rm a", "status"],
      ["rm a …", "git status", "?"],
    ],
    [
      ["git", "--exec-path=/x", "status"],
      ["git status", "?"],
    ],
    [
      ["git", "--git-dir", "/x", "push"],
      ["git push", "?"],
    ],
    [["git", "x"], ["?"]],
    [["git", "rebase", "--exe", "rm a", "main"], ["rm a …"]],
    [["git", "rebase", "-x", "rm a"], ["rm a …"]],
    [["git", "bisect", "run", "rm", "a"], ["rm a"]],
    [["git", "bisect", "good"], []],
    [["git", "submodule", "foreach", "--recursive", "rm a"], ["rm a"]],
    [["git", "submodule", "status"], []],
    [
      ["git", "difftool", "--extcmd=rm a"],
      ["rm a …", "?"],
    ],
    [["git", "fetch", "--upload-pack=rm a", "."], ["rm a …"]],
    [["git", "clone", "ext::rm a"], ["?"]],
    [["git", "config", "user.name", "x"], []],
    [["git", "config", "--list"], []],
    [["git", "config", "core.fsmonitor", "rm a"], ["?"]],
    [["git", "grep", "-Orm", "x"], ["rm …"]],
    [["git", "merge", "-s", "odd", "x"], ["?"]],
    [["git"], []],
  ])("%j", (argv, expected) => {
    verifies("PERM-16");
    expect(innerOf(argv)).toEqual(expected);
  });
});

test.each([
  ["python3", "x.py"],
  ["make"],
  ["npm", "test"],
  ["ssh", "host", "rm a"],
  ["vim", "-c", "!rm a"],
  ["less", "+!rm a", "b"],
  ["docker", "run", "x", "rm"],
  ["some-program"],
  ["sh", "x.sh"],
  ["sh"],
  ["fish", "-c", "rm a"],
])("%s may run anything", (...argv) => {
  verifies("PERM-16");
  expect(innerOf(argv)).toEqual(["?"]);
});

describe("a shell's script", () => {
  test.each<[string, string[]]>([
    ["rm a", ["rm a"]],
    ["cd x && rm a", ["cd x", "rm a"]],
    ["ls; rm a|cat & rm b || rm c", ["ls", "rm a", "cat", "rm b", "rm c"]],
    ["ls\nrm a # rm b\nls", ["ls", "rm a", "ls"]],
    [`r"m" 'a b' c\\ d`, ["rm a b c d"]],
    ["\\rm a", ["rm a"]],
    ["r\\\nm a", ["rm a"]],
    ["if true; then rm a; fi", ["true", "rm a"]],
    ["(rm a)", ["rm a"]],
    ["{ rm a; }", ["rm a"]],
    ["! rm a", ["rm a"]],
    ["rm a > b 2>&1 < c", ["rm a"]],
    ["> b rm a", ["rm a"]],
    ["2>/dev/null rm a", ["rm a"]],
    ["rm $x", ["rm …"]],
    ['rm "$x" b', ["rm …"]],
    ["rm *", ["rm …"]],
    ["LANG=C rm a", ["rm a"]],
    ["PATH=/x rm a", ["rm a", "?"]],
    ["echo $(rm a)", ["rm a", "echo …"]],
    ['echo "a $(rm "b c") d"', ["rm b c", "echo …"]],
    ["echo `rm a`", ["rm a", "echo …"]],
    ["cat <(rm a)", ["rm a", "cat …"]],
    ["$x a", ["…", "?"]],
    ["$(echo rm) a", ["echo rm", "…", "?"]],
    ["r? a", ["…", "?"]],
    ["{rm,a}", ["…", "?"]],
    ["git {push,x}", ["git …", "?"]],
    ["eval 'rm a'", ["eval rm a", "rm a"]],
    ["exec rm a", ["exec rm a", "rm a"]],
    ["command rm a", ["command rm a", "rm a"]],
    ["command -v rm", ["command -v rm"]],
    ["trap 'rm a' EXIT", ["trap rm a EXIT", "rm a"]],
    ["time rm a", ["time rm a", "rm a"]],
    ["echo rm a", ["echo rm a"]],
    ["find . -exec rm {} +", ["find . -exec rm {} +", "rm …"]],
    ["for x in a b; do rm $x; done", ["for x in a b", "rm …", "?"]],
    ["f() { rm a; }; f", ["f", "rm a", "f", "?"]],
    ["case a in b) rm a;; esac", ["case a in b", "rm a", "esac", "?"]],
    ["cat <<E > f\nrm a\nE\nls", ["cat", "ls", "?"]],
    ["cat <<-'E'\n\trm a\n\tE\nls", ["cat", "ls", "?"]],
    ["cat <<< 'rm a'", ["cat"]],
    ["git $'push'", ["git …", "?"]],
    ["echo ${x:-$(rm a)}", ["rm a", "echo …", "?"]],
    ["echo 'open", ["echo open", "?"]],
    ["sh -c 'sh -c \"rm a\"'", ['sh -c sh -c "rm a"', "sh -c rm a", "rm a"]],
    ["some-program", ["some-program", "?"]],
    ["", []],
  ])("%j", (script, expected) => {
    verifies("PERM-16");
    expect(innerOf(["sh", "-c", script])).toEqual(expected);
    expect(innerOf(["bash", "-euo", "pipefail", "-c", script])).toEqual(expected);
  });

  test("is read in time that follows its length, however it is nested", () => {
    verifies("PERM-16");
    for (const script of ["$(".repeat(50_000), "(".repeat(50_000), "`".repeat(50_001)]) {
      expect(readShellScript(script).opaque).toBe(true);
    }
    expect(readShellScript("ls;".repeat(50_000)).commands).toHaveLength(50_000);
    const envs = Array.from({ length: 5_000 }, () => "env");
    expect(innerCommands([...envs, "rm"], "/usr/bin/env").opaque).toBe(true);
    const layer = ["git", "-c", "user.name=a", "bisect", "run"];
    const gits = Array.from({ length: 40 }, () => layer).flat();
    expect(innerCommands([...gits, "rm"], "/usr/bin/git").commands.length).toBeLessThan(100);
  });
});

describe("text that a shell evaluates may run anything", () => {
  const TEXT = "a[$(rm x)]";

  test.each<[script: string, ...operands: string[]]>([
    ["echo ${0@P}", "$(rm x)"],
    ['echo "${@@P}"', "x", "$(rm x)"],
    ["echo ${0@E}"],
    ["echo ${!0}", TEXT],
    ["cat <<< ${0@P}", "$(rm x)"],
    ["echo a > ${0@P}", "$(rm x)"],
    ["echo $[date]"],
    ["echo $((date))"],
    ["((date))"],
    ["echo $date[date]"],
    ["echo $~0", "*(e:rm x:)"],
    ["let date"],
    ["[[ $0 -eq 0 ]]", TEXT],
    ["[[ date -eq 0 ]]"],
    ["[[ 0 -lt date ]]"],
    ["[[ -v $0 ]]", TEXT],
    ["[[ -R $0 ]]", TEXT],
    ['test -v "$0"', TEXT],
    ["test -v 'a[$(rm x)]'"],
    ["[ -v a[date] ]"],
    ["[ date -eq 0 ]"],
    ['[ "$0" "$1" ]', "-v", TEXT],
    ['[ -f x -o "$0" "$1" ]', "-v", TEXT],
    ["[ $0 ]", `-v ${TEXT}`],
    ['[ "$@" ]', "x", "-v", TEXT],
    ["[ * ]"],
    ["test -{v,f} date"],
    ['command test -v "$0"', TEXT],
    ['builtin [ -v "$0" ]', TEXT],
    ["eval 'test -v \"$0\"'", TEXT],
    ["sleep 0.1 & wait -n -p 'a[$(rm x)]'"],
    ["wait $0", `-p ${TEXT}`],
    ["exit date"],
    ["shift $0", TEXT],
    ["ulimit -n date"],
    ["printf -v 'a[$(rm x)]' x"],
    ["printf %d date"],
    ["printf %*s date x"],
    ['printf "$0"', `-v ${TEXT}`],
    ["read 'a[$(rm x)]'"],
    ["unset 'a[$(rm x)]'"],
    ["mapfile -C 'rm x' -c 1"],
    ["declare -n LANG=DEBUG"],
    ["declare -i LINES=date"],
    ["export LANG='a[$(rm x)]'"],
    ["DEBUG='a[$(rm x)]'"],
    ["LINES=$0", TEXT],
    ["echo {a['$(rm x)']}>x"],
    ["exec {a[date]}>x"],
    ["set -k; ls PATH=x"],
    ["set -o $0", "x"],
    ["set -A 'a[$(rm x)]'"],
  ])("%j %j %j", (script, ...operands) => {
    verifies("PERM-16");
    expect(innerOf(["bash", "-c", script, ...operands])).toContain("?");
  });

  test.each([
    [["env", "DEBUG=a[$(rm x)]", "bash", "-c", "ls"]],
    [["sudo", "LINES=a[$(rm x)]", "ls"]],
    [["bash", "-kc", "ls PATH=x"]],
    [["zsh", "-o", "globsubst", "-c", "echo $0", "*(e:rm x:)"]],
    [["bash", "-O", "cdable_vars", "-c", "ls"]],
    [["git", "-c", 'alias.x=![ -n "$A" ]', "x", "-o", "-v", TEXT]],
  ])("%j", (argv) => {
    verifies("PERM-16");
    expect(innerOf(argv)).toContain("?");
  });

  test.each([
    "echo $HOME ${HOME} ${1} $1 $@ $? ${#} ${#HOME}",
    '[ -f "$HOME/x" ] && ls',
    'if [ -n "$CI" ]; then ls; fi',
    '[ "$1" = "a" ] || exit 1',
    '[ ! -d "$1" ]',
    "[ $? -eq 0 ]",
    "[ $# -gt 1 ] && shift 2",
    "[ -f a -a -d b ]",
    "test -v HOME",
    "test -f x || exit $?",
    "[[ -f $1 ]]",
    "[[ $1 == *.ts ]]",
    "[[ $1 =~ ^a ]]",
    "sleep 1 & wait $!; wait; wait %1",
    "set -euo pipefail; ls",
    'set -eu; set -- "$@"; shift; exit 0',
    "printf '%s\\n' \"$1\"",
    "printf '%d\\n' 5",
    "DEBUG=app:*,-x LANG=en_US.UTF-8 TZ=Europe/Berlin ls",
    "export LANG=C",
    'grep "a$" b',
    "grep 'a[$(b)]' c",
    "echo 'a[$(b)]'",
    "ulimit -n 1024",
  ])("and an ordinary script stays plain: %j", (script) => {
    verifies("PERM-16");
    expect(innerOf(["bash", "-c", script])).not.toContain("?");
  });
});

test.each<[string, string[]]>([
  // A line that continues is put together before anything else is read.
  ['echo "$\\\n(rm a)"', ["?"]],
  ["echo $\\\n{0@P}", ["?"]],
  ["echo $(\\\n(date))", ["?"]],
  ["cat <\\\n<E\n'\nE\nrm a '", ["?"]],
  ['echo `echo "$\\\\\n(rm a)"`', ["?"]],
  // Only some characters lose their backslash between backquotes.
  ["echo `echo \\'; rm a; echo \\'`", ["rm a"]],
  ['echo "`echo \\"; rm a; echo \\"`"', ["?"]],
  // These are programs, not a number for a redirection and not a variable.
  ['"$0"2>f', ["?"]],
  ["'LANG=x/e' ls", ["?"]],
  ["echo '2'>f", ["echo 2"]],
])("a script is read as the shell reads it: %j", (script, expected) => {
  verifies("PERM-16");
  expect(innerOf(["sh", "-c", script])).toEqual(expect.arrayContaining(expected));
});

describe("what one shell takes for an argument and another for a command", () => {
  test.each<[string, string[]]>([
    ["[[ -n a && echo -eq 'a[$(git push)]' ]]", ["?"]],
    ["[[ -n a || true -eq 'a[$(git push)]' ]]", ["?"]],
    ["if [[ a < b && pwd -eq 'a[$(git push)]' ]]; then ls; fi", ["?"]],
    ["[[ -n a &&\n ls -eq 'a[$(git push)]' ]]", ["?"]],
    ["echo hi &>/dev/null git push", ["git push"]],
    ["echo hi &>>/dev/null git push", ["git push"]],
  ])("%s", (script, expected) => {
    verifies("PERM-16");
    expect(innerOf(["sh", "-c", script])).toEqual(expect.arrayContaining(expected));
  });

  test.each(["[[ -n a ]] && echo b", "make &>/dev/null", "ls &> out.txt; pwd"])(
    "%s stays plain",
    (script) => {
      verifies("PERM-16");
      expect(readShellScript(script).opaque).toBe(false);
    },
  );
});

test("an option that runs something is found behind `--` as well, which may be the value of another option", () => {
  verifies("PERM-16");
  const hidden = [
    ["git", "ls-remote", "-o", "--", "--upload-pack=git push;", "."],
    ["git", "grep", "-e", "--", "-Ogit push"],
    ["git", "rebase", "-X", "--", "-x", "git push", "HEAD~1"],
    ["tar", "-c", "-f", "--", "-I", "git push", "src"],
    ["sort", "-o", "--", "--compress-program=git push"],
  ];
  for (const argv of hidden) {
    const found = innerOf(argv);
    expect([argv, found.some((one) => one === "?" || one.startsWith("git push"))]).toEqual([
      argv,
      true,
    ]);
  }
});
