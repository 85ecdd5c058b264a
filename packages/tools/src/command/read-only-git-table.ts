// Which git commands are known to be read-only, a row a command (CMD-4), written as in
// read-only-table.ts. None of them shows the contents of a file that no argument names, asks a remote, or
// starts another program, provided the repository is harmless (harmless-repository.ts).

import type { ReadOnlyTable } from "./read-only-rule.ts";

const STATISTICS = "--stat --shortstat --numstat --name-only --name-status --summary";

const SELECTION = `--all --branches --tags --remotes --merges --no-merges --first-parent --reverse
  --topo-order --date-order --author-date-order -i --regexp-ignore-case -E --extended-regexp -F
  --fixed-strings --invert-grep --all-match --ancestry-path --boundary --left-right --left-only
  --right-only --simplify-by-decoration --full-history --no-walk`;

const SELECTION_VALUES = {
  "-n --max-count --skip": "number",
  "--min-parents --max-parents": "number",
  "--since --after --until --before --author --committer --grep": "text",
  "--glob --exclude": "text",
} as const;

const DIFF = `--no-color --no-ext-diff --no-textconv --no-renames --no-patch -s -z -w -b -R --full-index
  --minimal --patience --histogram --ignore-all-space --ignore-space-change --ignore-blank-lines`;

const DIFF_OPTIONAL = {
  "--color": "word",
  "-M --find-renames": "number",
  "-C --find-copies": "number",
  "--abbrev": "number",
  "--relative": "path",
} as const;

/** Each of them makes a list of it; a revision may follow, which is then judged as an operand. */
const LIST_FILTERS = "--merged --no-merged --contains --no-contains --points-at";

const LISTING_OPTIONAL = {
  "--abbrev": "number",
  "--color": "word",
  [LIST_FILTERS]: "revision",
} as const;

export const READ_ONLY_GIT_COMMANDS: ReadOnlyTable = {
  "--version": {},
  version: {},
  status: {
    mixed: true,
    flags: `-b -s -z --branch --short --long --show-stash --ahead-behind --no-ahead-behind --renames
      --no-renames`,
    optional: {
      "--porcelain": "word",
      "-u --untracked-files": "word",
      "--ignored": "word",
      "--ignore-submodules": "word",
      "--find-renames": "number",
    },
    operands: "revision",
  },
  clean: { flags: "-d -n -q --dry-run --quiet", needs: "-n --dry-run", operands: "path" },
  log: {
    mixed: true,
    numeric: true,
    flags: `${SELECTION} ${STATISTICS} ${DIFF} --oneline --graph --no-decorate --abbrev-commit
      --no-abbrev-commit --follow --parents --children --show-pulls --relative-date -g --walk-reflogs
      --no-notes --no-mailmap`,
    values: { ...SELECTION_VALUES, "--diff-filter": "word", "--date": "text" },
    optional: {
      ...DIFF_OPTIONAL,
      "--decorate": "word",
      "--format --pretty": "git_format",
    },
    operands: "revision",
  },
  show: {
    mixed: true,
    flags: `${STATISTICS} ${DIFF} --oneline --abbrev-commit --no-decorate --no-notes`,
    values: { "--date": "text", "--diff-filter": "word" },
    optional: {
      ...DIFF_OPTIONAL,
      "--decorate": "word",
      "--format --pretty": "git_format",
    },
    // Any other name may stand for a blob, which is shown whole whatever the options say.
    operands: "head_revision",
    needs: `${STATISTICS} --no-patch -s`,
  },
  diff: {
    mixed: true,
    flags: `${STATISTICS} ${DIFF} --cached --staged --merge-base --quiet --exit-code`,
    values: { "--diff-filter": "word" },
    optional: DIFF_OPTIONAL,
    operands: "revision",
    needs: `${STATISTICS} --quiet --no-patch -s`,
  },
  blame: {
    mixed: true,
    flags:
      "-b -c -e -f -l -n -s -t -w --show-email --show-name --show-number --porcelain --line-porcelain",
    values: { "-L": "word", "--date": "text" },
    optional: { "--abbrev": "number" },
    operands: "revision",
  },
  shortlog: {
    mixed: true,
    flags: "-e -n -s --email --numbered --summary --all --no-merges",
    values: { "--since --after --until --before --author": "text" },
    operands: "revision",
  },
  "rev-parse": {
    mixed: true,
    flags: `-q --quiet --verify --symbolic --symbolic-full-name --all --branches --tags --remotes
      --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir --absolute-git-dir
      --is-inside-git-dir --is-inside-work-tree --is-bare-repository --is-shallow-repository`,
    optional: { "--abbrev-ref": "word", "--short": "number" },
    operands: "revision",
  },
  "rev-list": {
    mixed: true,
    numeric: true,
    flags: `${SELECTION} --count --oneline --abbrev-commit --parents --children --timestamp`,
    values: SELECTION_VALUES,
    optional: { "--abbrev": "number", "--format --pretty": "git_format" },
    operands: "revision",
  },
  "ls-files": {
    mixed: true,
    flags: `-c -d -i -k -m -o -s -t -u -v -z --cached --deleted --directory --error-unmatch
      --exclude-standard --full-name --ignored --killed --modified --no-empty-directory --others
      --stage --unmerged`,
    values: { "-x --exclude": "text" },
    optional: { "--abbrev": "number" },
    operands: "revision",
  },
  "ls-tree": {
    mixed: true,
    flags: "-d -l -r -t -z --full-name --full-tree --long --name-only --name-status --object-only",
    optional: { "--abbrev": "number" },
    operands: "revision",
  },
  "check-ignore": {
    mixed: true,
    flags: "-n -q -v --non-matching --quiet --verbose",
    operands: "path",
  },
  branch: {
    mixed: true,
    flags:
      "-a -r -v --all --list --remotes --show-current --verbose -i --ignore-case --no-color --no-column",
    values: { "--format": "git_format", "--sort": "word" },
    optional: LISTING_OPTIONAL,
    operands: "revision",
    operandsNeed: `--list ${LIST_FILTERS}`,
  },
  tag: {
    mixed: true,
    flags: "-l --list -i --ignore-case --no-color --no-column",
    values: { "--format": "git_format", "--sort": "word" },
    optional: { ...LISTING_OPTIONAL, "-n": "number" },
    operands: "revision",
    operandsNeed: `-l --list ${LIST_FILTERS}`,
  },
  "for-each-ref": {
    mixed: true,
    flags: "--ignore-case",
    values: { "--count": "number", "--format": "git_format", "--sort": "word" },
    optional: LISTING_OPTIONAL,
    operands: "revision",
  },
  "show-ref": {
    mixed: true,
    flags: "-d -q -s --dereference --head --heads --quiet --tags --verify",
    optional: { "--abbrev --hash": "number" },
    operands: "revision",
  },
  // A second operand would be written.
  "symbolic-ref": { flags: "-q --quiet --short", operands: "revision", mostOperands: 1 },
  "merge-base": { flags: "-a --all --octopus --is-ancestor --independent", operands: "revision" },
  "name-rev": { flags: "--always --name-only --no-undefined --tags", operands: "revision" },
  describe: {
    mixed: true,
    flags: "--all --always --contains --exact-match --first-parent --long --tags",
    values: { "--candidates": "number", "--exclude --match": "text" },
    optional: { "--abbrev": "number" },
    operands: "revision",
  },
  "count-objects": { flags: "-H -v --human-readable --verbose" },
  remote: { flags: "-v --verbose" },
  "remote get-url": { flags: "--all --push", operands: "word", mostOperands: 1 },
  "stash list": {},
  reflog: {},
  "worktree list": { flags: "-v -z --porcelain --verbose" },
};
