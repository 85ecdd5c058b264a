// What is known of programs, a row a program, in the notation of options (core/permission/argv/options.ts). Data only: each question
// about a command is a small function over its row. A program without a row, or an option that is not in it, gets the strict answer.
//
//   @proven         only reads, with the options and operands of its row alone (CMD-4). An option is there if it means the same, with
//                   or without a value, in every common implementation (GNU, BSD, busybox) and neither writes, waits for input, runs
//                   a program, nor reads what no argument names.
//   @noFirst @trees with one of these options the first operand is like the rest; files are trees
//   @needs @operandsNeed @needsOperand @most   what has to be there for the proof, and how many operands at most
//   @numeric @mixed @detached   `-5` is an option; options may follow operands; letters and values are never one word
//   @walks          opens the files of the directories it is given, with one of these options or always
//   @names          shows names instead of contents, unless one of these options is there
//   @follows        links, with one of these options or always
//   @alone          without operands it begins where it runs
//   @into           the last operand is written to, unless one of these options says where to
//   @changes @partly   all files, or some, in the directories it is given
//   @writes @output @quiet   its operands; what `-o` names, `also`: beside others; nothing
//   @named          nothing that its arguments do not name is written
//   @list @checks   the value of these options names files to read; with these options the operands do

import { hasOption, optionTable, type OptionTable } from "@soong/core/internal";

const GREP = `-EFGHILachilnoqrsvwx --basic-regexp --byte-offset --count --extended-regexp --files-with-matches
  --files-without-match --fixed-strings --ignore-case --initial-tab --invert-match --line-number --line-regexp
  --no-filename --no-messages --only-matching --perl-regexp --quiet --recursive --silent --text --with-filename
  --word-regexp -ABCm|--after-context|--before-context|--context|--max-count=number
  -e|--regexp|--label|--include|--exclude|--exclude-dir=text -f|--file=file --color|--colour?word :text,file
  @noFirst=-e|--regexp|-f|--file @trees=-r|--recursive @numeric @walks=-rRd|--rec*|--der*|--dir* @follows=-R|--der* @alone`;

const PROGRAMS: Readonly<Record<string, string>> = {
  // Names, kinds and sizes; no contents.
  ls: `-1ACFGRSUXacdfghiklmnopqrstuvx --all --almost-all --author --directory --full-time --group-directories-first
    --human-readable --inode --no-group --numeric-uid-gid --recursive --reverse --size --si --hide|--ignore=text
    --classify|--color|--format|--sort|--time|--time-style?word :path @proven @walks=-R|--rec* @follows=-L|--dereference
    @alone @names`,
  "dir vdir": "@walks=-R|--rec* @follows=-L|--dereference @alone @names",
  find: `( ) ! , -a -and -daystart -depth -empty -executable -false -ls -mount -not -o -or -print -print0 -prune -quit
    -readable -true -writable -xdev
    -amin|-atime|-cmin|-ctime|-gid|-inum|-links|-maxdepth|-mindepth|-mmin|-mtime|-size|-uid=number
    -name|-iname|-path|-ipath|-wholename|-iwholename|-regex|-iregex|-lname|-ilname|-group|-user|-perm|-newermt|-printf=text
    -regextype|-type|-xtype=word -newer|-samefile=path :path @expression @walks @proven @names=-exec|-execdir|-ok|-okdir
    @follows=-L|-H|-follow @alone @list=-files0-from`,
  tree: `-adfhinpqrstuv --dirsfirst --noreport --du --gitignore -IP=text -L=number :path @detached @walks @proven @names
    @follows=-l @alone @output @changes=-R @partly`,
  du: `-abchkmsx --all --apparent-size --bytes --human-readable --si --summarize -d|--max-depth=number --exclude=text
    :path @walks @proven @names @follows=-L|--deref* @alone @list=--f*`,
  df: "-HPahikl --human-readable --inodes --total :path @proven",
  stat: "-L --dereference -c|--format|--printf=text :path @proven",
  readlink: "-efmnqsvz --canonicalize --no-newline --quiet --zero :path @proven",
  realpath: "-LPemqsz --quiet --zero :path @proven",
  basename: "-az --multiple --zero -s|--suffix=text :text @proven",
  dirname: "-z --zero :text @proven",
  file: "-bi --brief --mime --mime-encoding --mime-type :file @proven @list=-f|--files-f*",

  // The contents of named files, or of an empty standard input.
  cat: `-AETbenstuv --number --number-nonblank --show-all --show-ends --show-nonprinting --show-tabs --squeeze-blank
    :file @proven`,
  tac: "-br --before --regex -s|--separator=text :file @proven",
  rev: ":file @proven",
  "head tail": `-qvz --quiet --silent --verbose --zero-terminated -cn|--bytes|--lines=number :file @numeric @proven`,
  nl: `-p --no-renumber -bn|--body-numbering|--number-format=word
    -ivw|--line-increment|--starting-line-number|--number-width=number :file @proven`,
  wc: "-Lclmw --bytes --chars --lines --max-line-length --words :file @proven @list=--f*",
  grep: `${GREP} @proven`,
  "egrep fgrep zgrep": GREP,
  rgrep: `${GREP} @walks`,
  rg: `-FHINPSUcilnoqsvwx --case-sensitive --column --count --count-matches --files --files-with-matches
    --files-without-match --fixed-strings --heading --ignore-case --invert-match --json --line-number --line-regexp
    --multiline --no-filename --no-heading --no-line-number --no-messages --only-matching --pcre2 --quiet --smart-case
    --stats --trim --vimgrep --with-filename --word-regexp
    -ABCMm|--after-context|--before-context|--context|--max-columns|--max-depth|--max-count=number
    -eg|--regexp|--glob=text -f|--file=file -tT|--type|--type-not|--color|--sort=word :text,tree
    @noFirst=-e|--regexp|-f|--file|--files @mixed @walks @proven @follows=-L|--follow* @alone @quiet @named`,
  sed: `-Enr --quiet --regexp-extended --silent -e|--expression=sed_script :sed_script,file @noFirst=-e|--expression
    @proven`,
  sort: `-CMRVbcdfghimnrsuz --dictionary-order --general-numeric-sort --human-numeric-sort --ignore-case
    --ignore-leading-blanks --merge --month-sort --numeric-sort --random-sort --reverse --stable --unique --version-sort
    --zero-terminated -k|--key=word -t|--field-separator=text :file @proven @output @list=--fil*`,
  uniq: `-Dcdiuz --count --ignore-case --repeated --unique --zero-terminated
    -fsw|--skip-fields|--skip-chars|--check-chars=number :file @most=1 @proven @writes @named`,
  cut: `-nsz --complement --only-delimited --zero-terminated -bcf|--bytes|--characters|--fields=word
    -d|--delimiter|--output-delimiter=text :file @proven`,
  tr: "-Ccdst --complement --delete --squeeze-repeats --truncate-set1 :text @proven",
  paste: "-sz --serial --zero-terminated -d|--delimiters=text :file @proven",
  comm: `-123iz --check-order --nocheck-order --total --zero-terminated --output-delimiter=text :file @proven`,
  fold: "-bs --bytes --spaces -w|--width=number :file @proven",
  expand: "-i --initial -t|--tabs=number :file @proven",
  column: "-tx -c=number -s=text :file @proven",
  cmp: "-bls --print-bytes --quiet --silent --verbose -n|--bytes=number :file @proven",
  diff: `-BEabceinqstuwy --brief --expand-tabs --ignore-all-space --ignore-blank-lines --ignore-case
    --ignore-space-change --ignore-trailing-space --normal --report-identical-files --side-by-side
    --suppress-common-lines --text -CUW|--width=number -L|--label=text --color?word --context|--unified?number :file
    @proven @walks @follows`,
  od: `-abcdovx --output-duplicates -At|--address-radix|--format=word -Nj|--read-bytes|--skip-bytes=number :file @proven`,
  hexdump: "-Cbcdovx -ns=number :file @proven",
  base64: "-di --decode --ignore-garbage -w|--wrap=number :file @proven @output @named",
  awk: "-Fv=text :awk_program,file @proven",
  jq: `-CMRSacejnrs --ascii-output --color-output --compact-output --exit-status --join-output --monochrome-output
    --null-input --raw-input --raw-output --slurp --sort-keys --tab --indent=number :jq_filter,file @proven`,

  // Without a terminal they copy their files.
  less: "-EFIMNQRSXeimnqrsw :pager_file @proven @named",
  more: "-cdflpsu :pager_file @proven @quiet @named",
  cksum: ":file @proven @checks=-c|--ch*",
  "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum": `-btz --binary --text --tag --zero :file @proven
    @checks=-c|--ch*`,
  sum: "@checks=-c|--ch*",

  // Where a program is; the name of one is no path.
  which: "-a :word @proven",
  whereis: "-bmsu :word @proven",

  // The machine and the user; nothing of any file.
  "whoami arch uptime true false": "@proven",
  pwd: "-LP @proven",
  id: "-Ggnru --group --groups --name --real --user :text @proven",
  groups: ":text @proven",
  uname: `-aimnoprsv --all --kernel-name --kernel-release --kernel-version --machine --nodename --operating-system
    @proven`,
  hostname: "-fs @proven",
  nproc: "--all @proven",
  date: `-Ru --rfc-email --universal --utc --date=text --rfc-3339=word -I|--iso-8601?word :date_format @most=1 @proven`,

  // They print or compare their arguments. To sleep ends with its time or with that of the call.
  echo: "-Een :text @proven",
  printf: ":text @proven",
  sleep: ":word @proven",
  "test [": `! ] -a -o -b|-c|-d|-e|-f|-g|-h|-k|-p|-r|-s|-u|-w|-x|-G|-L|-N|-O|-S=path -n|-z|-eq|-ne|-lt|-le|-gt|-ge=text
    :text @expression @proven`,
  printenv: ":plain_variable @needsOperand @proven",

  // Which version is installed, and nothing else of these.
  "bash cmake gcc make perl ruby": "--version @needs=--version @proven",
  node: "-v --version @needs=-v|--version @proven",
  "python python3": "-V --version @needs=-V|--version @proven",

  // They write.
  "tee touch mkdir mkfifo truncate link unlink rmdir xxd ptx bzip2 bunzip2 sync shred": `@writes @named`,
  "xz unxz": "@writes @named @list=--fil*",
  "xzcat lzma unlzma lzcat": "@list=--fil*",
  "rm chmod chown chgrp": "@writes @changes=-rR|--rec*",
  gzip: "@writes @changes=-r|--rec* @walks=-rR|--rec* @follows",
  gunzip: "@writes @changes=-r|--rec*",
  "patch csplit": "@writes",
  shuf: "@output @named",
  "ln install dd mktemp": "@named",
  "kill pkill killall": "@quiet @named",
  "time strace ltrace script": "@output=also",
  cp: "@walks=-rRa|--rec*|--ar* @follows=-LkH|--deref*|--copy-* @into=-t|--target* @named",
  scp: "@walks=-rRa|--rec*|--ar* @follows=-LkH|--deref*|--copy-* @into @named",
  rsync: "@walks=-rRa|--rec*|--ar* @follows=-LkH|--deref*|--copy-* @into @changes=--del* @partly",
  mv: "@walks @into=-t|--target*",

  // They read trees, or files that another one lists.
  git: "@walks=--no-index*|--untracked* @alone",
  ag: "@walks @follows @alone @quiet @named",
  ack: "@walks @follows @alone",
  "ug ugrep pax ditto 7zz": "@walks @follows",
  "7z 7za": "@walks=a @follows",
  zip: "@walks=-rR|--rec* @follows @named",
  "tar gtar bsdtar": "@walks @follows=-h|--deref* @list=-T|--files-f*",
  fd: "@walks=-xX|--exec* @follows @alone",
  "xargs parallel": "@list=-a|--arg-f*",
  curl: "@list=-K|--conf*",
  wget: "@list=-i|--inp*|--conf*",
};

/** Options that do more than a proof allows, but say which argument is what. */
const FURTHER: Readonly<Record<string, string>> = {
  "grep egrep fgrep zgrep rgrep": `@mixed -PRTUVZbyz0123456789 --binary --dereference-recursive --line-buffered
    --no-ignore-case --null --null-data -dD|--directories|--devices|--binary-files=word --exclude-from=file`,
  sed: "-suz -i?file --in-place --separate --null-data --posix --debug",
  rg: `-.Labpuz0h --binary --crlf --debug --follow --hidden --multiline-dotall --no-config --no-ignore --no-ignore-vcs
    --null --null-data --passthru --pretty --search-zip --text --type-list --unrestricted
    -E|--encoding|--engine|--sortr|--colors|--path-separator=word -dj|--threads|--max-filesize=number
    -r|--replace|--context-separator|--iglob|--pre-glob|--type-clear=text --ignore-file|--pre|--type-add=file
    @noFirst=-e|--regexp|-f|--file|--files|--type-list`,
};

function byName(table: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(table).flatMap(([names, row]) => names.split(" ").map((name) => [name, row])),
  );
}

const furtherOptions = byName(FURTHER);
const rows = new Map(
  Array.from(byName(PROGRAMS), ([name, proven]) => [
    name,
    { proven, all: `${proven} ${furtherOptions.get(name) ?? ""}` },
  ]),
);

/** With what is proven of it, or with all that is known. */
export function programTable(name: string, about: "proven" | "all" = "all"): OptionTable {
  return optionTable(rows.get(name)?.[about] ?? "");
}

/** Whether a row has a mark, and one of the options that the mark depends on may be among the arguments. */
export function isMarked({ marks }: OptionTable, mark: string, args: readonly string[]): boolean {
  const list = marks.get(mark);
  if (list === undefined || list === "") return list === "";
  return hasOption(args, `${list} ${marks.has("expression") ? "@expression" : "@digits"}`);
}

export function provenPrograms(): string[] {
  return [...rows.keys()].filter((name) => programTable(name).marks.has("proven"));
}

/** What has to be in the environment of a proven program: without it, options would be read that name programs. */
export const PROVEN_ENVIRONMENT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  rg: { RIPGREP_CONFIG_PATH: "" },
  less: {
    LESSSECURE: "1",
    LESSNOCONFIG: "1",
    LESSKEY: "/dev/null",
    LESSKEYIN: "/dev/null",
    LESSKEY_SYSTEM: "/dev/null",
    LESSKEYIN_SYSTEM: "/dev/null",
  },
};
