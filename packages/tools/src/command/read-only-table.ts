// Which commands are known to be read-only, a row a command (CMD-4). Data only: match-arguments.ts says
// what it means. An option is here if it means the same, with or without a value, in every common
// implementation (GNU, BSD, busybox) and neither writes, waits for input, runs a program, nor reads what no argument names.

import type { ReadOnlyTable } from "./read-only-rule.ts";

const SUM = {
  flags: "-b -t -z --binary --text --tag --zero",
  operands: "file",
} as const;

const VERSION = { flags: "--version", needs: "--version" } as const;

/** Texts are compared; of a path it is said whether and what it is. */
const TEST = {
  expression: true,
  flags: "! ] -a -o",
  values: {
    "-b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S": "path",
    "-n -z -eq -ne -lt -le -gt -ge": "text",
  },
  operands: "text",
} as const;

export const READ_ONLY_COMMANDS: ReadOnlyTable = {
  // Names, kinds and sizes; no contents.
  ls: {
    flags: `-1 -A -C -F -G -R -S -U -X -a -c -d -f -g -h -i -k -l -m -n -o -p -q -r -s -t -u -v -x
      --all --almost-all --author --directory --full-time --group-directories-first --human-readable
      --inode --no-group --numeric-uid-gid --recursive --reverse --size --si`,
    values: { "--hide": "text", "--ignore": "text" },
    optional: {
      "--classify": "word",
      "--color": "word",
      "--format": "word",
      "--sort": "word",
      "--time": "word",
      "--time-style": "word",
    },
    operands: "path",
    walks: "-R --recursive",
  },
  find: {
    expression: true,
    flags: `( ) ! , -a -and -daystart -depth -empty -executable -false -ls -mount -not -o -or -print
      -print0 -prune -quit -readable -true -writable -xdev`,
    values: {
      "-amin -atime -cmin -ctime -gid -inum -links -maxdepth -mindepth -mmin -mtime": "number",
      "-size -uid": "number",
      "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname": "text",
      "-group -user -perm -newermt -printf": "text",
      "-regextype -type -xtype": "word",
      "-newer -samefile": "path",
    },
    operands: "path",
    walks: true,
  },
  tree: {
    flags: "-a -d -f -h -i -n -p -q -r -s -t -u -v --dirsfirst --noreport --du --gitignore",
    values: { "-I": "text", "-L": "number", "-P": "text" },
    detached: true,
    operands: "path",
    walks: true,
  },
  du: {
    flags:
      "-a -b -c -h -k -m -s -x --all --apparent-size --bytes --human-readable --si --summarize",
    values: { "-d --max-depth": "number", "--exclude": "text" },
    operands: "path",
    walks: true,
  },
  df: { flags: "-H -P -a -h -i -k -l --human-readable --inodes --total", operands: "path" },
  stat: {
    flags: "-L --dereference",
    values: { "-c --format": "text", "--printf": "text" },
    operands: "path",
  },
  file: { flags: "-b -i --brief --mime --mime-encoding --mime-type", operands: "file" },
  readlink: {
    flags: "-e -f -m -n -q -s -v -z --canonicalize --no-newline --quiet --zero",
    operands: "path",
  },
  realpath: { flags: "-L -P -e -m -q -s -z --quiet --zero", operands: "path" },
  basename: {
    flags: "-a -z --multiple --zero",
    values: { "-s --suffix": "text" },
    operands: "text",
  },
  dirname: { flags: "-z --zero", operands: "text" },

  // The contents of named files, or of an empty standard input.
  cat: {
    flags: `-A -E -T -b -e -n -s -t -u -v --number --number-nonblank --show-all --show-ends
      --show-nonprinting --show-tabs --squeeze-blank`,
    operands: "file",
  },
  tac: {
    flags: "-b -r --before --regex",
    values: { "-s --separator": "text" },
    operands: "file",
  },
  rev: { operands: "file" },
  head: {
    flags: "-q -v -z --quiet --silent --verbose --zero-terminated",
    values: { "-c --bytes": "number", "-n --lines": "number" },
    numeric: true,
    operands: "file",
  },
  tail: {
    flags: "-q -v -z --quiet --silent --verbose --zero-terminated",
    values: { "-c --bytes": "number", "-n --lines": "number" },
    numeric: true,
    operands: "file",
  },
  nl: {
    flags: "-p --no-renumber",
    values: {
      "-b --body-numbering": "word",
      "-i --line-increment": "number",
      "-n --number-format": "word",
      "-v --starting-line-number": "number",
      "-w --number-width": "number",
    },
    operands: "file",
  },
  wc: {
    flags: "-L -c -l -m -w --bytes --chars --lines --max-line-length --words",
    operands: "file",
  },
  grep: {
    flags: `-E -F -G -H -I -L -a -c -h -i -l -n -o -q -r -s -v -w -x --basic-regexp --byte-offset --count
      --extended-regexp --files-with-matches --files-without-match --fixed-strings --ignore-case
      --initial-tab --invert-match --line-number --line-regexp --no-filename --no-messages
      --only-matching --perl-regexp --quiet --recursive --silent --text --with-filename --word-regexp`,
    values: {
      "-A --after-context": "number",
      "-B --before-context": "number",
      "-C --context": "number",
      "-e --regexp": "text",
      "-f --file": "file",
      "-m --max-count": "number",
      "--label --include --exclude --exclude-dir": "text",
    },
    optional: { "--color": "word", "--colour": "word" },
    numeric: true,
    operands: ["text", "file"],
    noFirstWith: "-e --regexp -f --file",
    treesWith: "-r --recursive",
    walks: "-r --recursive",
  },
  rg: {
    mixed: true,
    flags: `-F -H -I -N -P -S -U -c -i -l -n -o -q -s -v -w -x --case-sensitive --column --count
      --count-matches --files --files-with-matches --files-without-match --fixed-strings --heading --ignore-case
      --invert-match --json --line-number --line-regexp --multiline --no-filename --no-heading --no-line-number
      --no-messages --only-matching --pcre2 --quiet --smart-case --stats --trim --vimgrep --with-filename
      --word-regexp`,
    values: {
      "-A --after-context": "number",
      "-B --before-context": "number",
      "-C --context": "number",
      "-M --max-columns --max-depth": "number",
      "-e --regexp -g --glob": "text",
      "-f --file": "file",
      "-m --max-count": "number",
      "-t --type -T --type-not --color --sort": "word",
    },
    operands: ["text", "tree"],
    noFirstWith: "-e --regexp -f --file --files",
    walks: true,
    // Its options would name programs.
    env: { RIPGREP_CONFIG_PATH: "" },
  },
  sed: {
    flags: "-E -n -r --quiet --regexp-extended --silent",
    values: { "-e --expression": "sed_script" },
    operands: ["sed_script", "file"],
    noFirstWith: "-e --expression",
  },
  sort: {
    flags: `-C -M -R -V -b -c -d -f -g -h -i -m -n -r -s -u -z --dictionary-order
      --general-numeric-sort --human-numeric-sort --ignore-case --ignore-leading-blanks --merge
      --month-sort --numeric-sort --random-sort --reverse --stable --unique --version-sort
      --zero-terminated`,
    values: { "-k --key": "word", "-t --field-separator": "text" },
    operands: "file",
  },
  uniq: {
    flags: "-D -c -d -i -u -z --count --ignore-case --repeated --unique --zero-terminated",
    values: {
      "-f --skip-fields": "number",
      "-s --skip-chars": "number",
      "-w --check-chars": "number",
    },
    operands: "file",
    // The second one would be written.
    mostOperands: 1,
  },
  cut: {
    flags: "-n -s -z --complement --only-delimited --zero-terminated",
    values: {
      "-b --bytes": "word",
      "-c --characters": "word",
      "-d --delimiter": "text",
      "-f --fields": "word",
      "--output-delimiter": "text",
    },
    operands: "file",
  },
  tr: {
    flags: "-C -c -d -s -t --complement --delete --squeeze-repeats --truncate-set1",
    operands: "text",
  },
  paste: {
    flags: "-s -z --serial --zero-terminated",
    values: { "-d --delimiters": "text" },
    operands: "file",
  },
  comm: {
    flags: "-1 -2 -3 -i -z --check-order --nocheck-order --total --zero-terminated",
    values: { "--output-delimiter": "text" },
    operands: "file",
  },
  fold: { flags: "-b -s --bytes --spaces", values: { "-w --width": "number" }, operands: "file" },
  expand: {
    flags: "-i --initial",
    values: { "-t --tabs": "number" },
    operands: "file",
  },
  column: { flags: "-t -x", values: { "-c": "number", "-s": "text" }, operands: "file" },
  cmp: {
    flags: "-b -l -s --print-bytes --quiet --silent --verbose",
    values: { "-n --bytes": "number" },
    operands: "file",
  },
  diff: {
    flags: `-B -E -a -b -c -e -i -n -q -s -t -u -w -y --brief --expand-tabs --ignore-all-space
      --ignore-blank-lines --ignore-case --ignore-space-change --ignore-trailing-space --normal
      --report-identical-files --side-by-side --suppress-common-lines --text`,
    values: { "-C": "number", "-U": "number", "-W --width": "number", "--label -L": "text" },
    optional: { "--color": "word", "--context": "number", "--unified": "number" },
    operands: "file",
  },
  od: {
    flags: "-a -b -c -d -o -v -x --output-duplicates",
    values: {
      "-A --address-radix": "word",
      "-N --read-bytes": "number",
      "-j --skip-bytes": "number",
      "-t --format": "word",
    },
    operands: "file",
  },
  hexdump: {
    flags: "-C -b -c -d -o -v -x",
    values: { "-n": "number", "-s": "number" },
    operands: "file",
  },
  base64: {
    flags: "-d -i --decode --ignore-garbage",
    values: { "-w --wrap": "number" },
    operands: "file",
  },
  awk: {
    values: { "-F": "text", "-v": "text" },
    operands: ["awk_program", "file"],
  },
  jq: {
    flags: `-C -M -R -S -a -c -e -j -n -r -s --ascii-output --color-output --compact-output --exit-status
      --join-output --monochrome-output --null-input --raw-input --raw-output --slurp --sort-keys --tab`,
    values: { "--indent": "number" },
    operands: ["jq_filter", "file"],
  },
  // Without a terminal they copy their files.
  less: {
    flags: "-E -F -I -M -N -Q -R -S -X -e -i -m -n -q -r -s -w",
    operands: "pager_file",
    env: {
      LESSSECURE: "1",
      LESSNOCONFIG: "1",
      LESSKEY: "/dev/null",
      LESSKEYIN: "/dev/null",
      LESSKEY_SYSTEM: "/dev/null",
      LESSKEYIN_SYSTEM: "/dev/null",
    },
  },
  more: { flags: "-c -d -f -l -p -s -u", operands: "pager_file" },
  cksum: { operands: "file" },
  md5sum: SUM,
  sha1sum: SUM,
  sha224sum: SUM,
  sha256sum: SUM,
  sha384sum: SUM,
  sha512sum: SUM,
  b2sum: SUM,

  // Where a program is; the name of one is no path.
  which: { flags: "-a", operands: "word" },
  whereis: { flags: "-b -m -s -u", operands: "word" },

  // The machine and the user; nothing of any file.
  pwd: { flags: "-L -P" },
  whoami: {},
  id: { flags: "-G -g -n -r -u --group --groups --name --real --user", operands: "text" },
  groups: { operands: "text" },
  uname: {
    flags: `-a -i -m -n -o -p -r -s -v --all --kernel-name --kernel-release --kernel-version --machine
      --nodename --operating-system`,
  },
  arch: {},
  hostname: { flags: "-f -s" },
  nproc: { flags: "--all" },
  uptime: {},
  date: {
    flags: "-R -u --rfc-email --universal --utc",
    values: { "--date": "text", "--rfc-3339": "word" },
    optional: { "-I": "word", "--iso-8601": "word" },
    operands: "date_format",
    mostOperands: 1,
  },

  // Prints its arguments.
  echo: { flags: "-E -e -n", operands: "text" },
  printf: { operands: "text" },
  true: {},
  false: {},
  // A number, perhaps with a fraction and a unit. It ends with its time or with that of the call.
  sleep: { operands: "word" },
  test: TEST,
  "[": TEST,
  printenv: { operands: "plain_variable", needsOperand: true },

  // Which version is installed, and nothing else of these.
  bash: VERSION,
  cmake: VERSION,
  gcc: VERSION,
  make: VERSION,
  node: { flags: "-v --version", needs: "-v --version" },
  perl: VERSION,
  python: { flags: "-V --version", needs: "-V --version" },
  python3: { flags: "-V --version", needs: "-V --version" },
  ruby: VERSION,
};
