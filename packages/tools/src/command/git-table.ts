// What is known of the subcommands of git. Anything else may be an alias or a program of its own, and gets the strict answer.

/**
 * `keeps`: changes no file of the work tree. `refs`: shows neither contents nor names of files, unless an option says so; what is staged
 * or sent was tracked before. `tracked`: shows or writes files that the repository tracks, and no others. `quiet`: changes files where
 * they are, or shows names at most, unless an option makes it show more. `reads`: what it is given stays as it is. `into`: writes to its
 * operands. `outside`: uses no repository that is there already.
 */
type GitMark = "keeps" | "refs" | "tracked" | "quiet" | "reads" | "into" | "outside";

const SUBCOMMANDS: Readonly<Record<string, string>> = {
  keeps: `column commit-graph commit-tree mktag mktree notes pack-objects pack-refs patch-id repack replace rerere show-branch
    stripspace verify-commit verify-tag write-tree`,
  "keeps refs": "cherry count-objects for-each-ref fsck merge-base name-rev show-ref var",
  "keeps refs quiet": "config gc ls-remote prune remote symbolic-ref",
  "keeps refs quiet reads": "add branch commit describe fetch push rev-parse status tag",
  "keeps refs quiet into outside": "init init-db",
  "keeps refs quiet outside": "help version",
  "keeps refs reads": "annotate blame check-attr check-ignore shortlog",
  "keeps tracked": "fast-export merge-tree reflog",
  "keeps tracked reads": `archive cat-file diff diff-files diff-index diff-tree format-patch grep log range-diff rev-list show
    whatchanged`,
  "keeps tracked quiet reads": "ls-files ls-tree update-index",
  "keeps tracked into": "bundle worktree",
  "keeps reads": "hash-object",
  "keeps quiet": "update-ref",
  "keeps outside": "clone",
  refs: "check-mailmap check-ref-format",
  tracked: "bisect read-tree stash",
  "tracked quiet": "checkout cherry-pick merge pull rebase reset restore revert rm switch",
  "tracked into": "checkout-index",
  quiet: "clean",
  "quiet into": "mv submodule",
  reads: "am apply",
  outside: "--help --version",
};

const marks = new Map(
  Object.entries(SUBCOMMANDS).flatMap(([all, names]) =>
    names.split(/\s+/).map((name) => [name, all.split(" ")]),
  ),
);

export function gitDoes(subcommand: string, mark: GitMark): boolean {
  return marks.get(subcommand)?.includes(mark) === true;
}

const STATISTICS = "--stat --shortstat --numstat --name-only --name-status --summary";
const STATISTICS_LIST = STATISTICS.replaceAll(" ", "|");
const SELECTION = `--all --branches --tags --remotes --merges --no-merges --first-parent --reverse --topo-order
  --date-order --author-date-order --regexp-ignore-case --extended-regexp --fixed-strings --invert-grep --all-match
  --ancestry-path --boundary --left-right --left-only --right-only --simplify-by-decoration --full-history --no-walk`;
const DIFF = `--no-color --no-ext-diff --no-textconv --no-renames --no-patch --full-index --minimal --patience
  --histogram --ignore-all-space --ignore-space-change --ignore-blank-lines`;
const DIFF_VALUES = "-MC|--find-renames|--find-copies|--abbrev?number --relative?path";
/** Each of them makes a list of it; a revision may follow, which is then judged as an operand. */
const FILTERS = "--merged|--no-merged|--contains|--no-contains|--points-at";

/**
 * Commands that are known to be read-only, a row a command (CMD-4), written as in programs.ts. None of them shows the contents of a file
 * that no argument names, asks a remote, or starts another program, provided the repository is harmless (harmless-repository.ts).
 */
export const READ_ONLY_GIT_COMMANDS: Readonly<Record<string, string>> = {
  "--version": "",
  version: "",
  status: `-bsz --branch --short --long --show-stash --ahead-behind --no-ahead-behind --renames --no-renames
    -u|--porcelain|--untracked-files|--ignored|--ignore-submodules?word --find-renames?number :revision @mixed`,
  clean: "-dnq --dry-run --quiet :path @needs=-n|--dry-run",
  log: `-iEFszwbRg ${SELECTION} ${STATISTICS} ${DIFF} --oneline --graph --no-decorate --abbrev-commit --no-abbrev-commit
    --follow --parents --children --show-pulls --relative-date --walk-reflogs --no-notes --no-mailmap
    -n|--max-count|--skip|--min-parents|--max-parents=number
    --since|--after|--until|--before|--author|--committer|--grep|--glob|--exclude|--date=text --diff-filter=word
    --color|--decorate?word ${DIFF_VALUES} --format|--pretty?git_format :revision @numeric @mixed`,
  show: `-szwbR ${STATISTICS} ${DIFF} --oneline --abbrev-commit --no-decorate --no-notes --date=text --diff-filter=word
    --color|--decorate?word ${DIFF_VALUES} --format|--pretty?git_format :head_revision
    @needs=${STATISTICS_LIST}|--no-patch|-s @mixed`,
  diff: `-szwbR ${STATISTICS} ${DIFF} --cached --staged --merge-base --quiet --exit-code --diff-filter=word --color?word
    ${DIFF_VALUES} :revision @needs=${STATISTICS_LIST}|--quiet|--no-patch|-s @mixed`,
  blame: `-bceflnstw --show-email --show-name --show-number --porcelain --line-porcelain -L=word --date=text
    --abbrev?number :revision @mixed`,
  shortlog: `-ens --email --numbered --summary --all --no-merges --since|--after|--until|--before|--author=text
    :revision @mixed`,
  "rev-parse": `-q --quiet --verify --symbolic --symbolic-full-name --all --branches --tags --remotes --show-toplevel
    --show-prefix --show-cdup --git-dir --git-common-dir --absolute-git-dir --is-inside-git-dir --is-inside-work-tree
    --is-bare-repository --is-shallow-repository --abbrev-ref?word --short?number :revision @mixed`,
  "rev-list": `-iEF ${SELECTION} --count --oneline --abbrev-commit --parents --children --timestamp
    -n|--max-count|--skip|--min-parents|--max-parents=number
    --since|--after|--until|--before|--author|--committer|--grep|--glob|--exclude=text --abbrev?number
    --format|--pretty?git_format :revision @numeric @mixed`,
  "ls-files": `-cdikmostuvz --cached --deleted --directory --error-unmatch --exclude-standard --full-name --ignored
    --killed --modified --no-empty-directory --others --stage --unmerged -x|--exclude=text --abbrev?number :revision
    @mixed`,
  "ls-tree": `-dlrtz --full-name --full-tree --long --name-only --name-status --object-only --abbrev?number :revision
    @mixed`,
  "check-ignore": "-nqv --non-matching --quiet --verbose :path @mixed",
  branch: `-arvi --all --list --remotes --show-current --verbose --ignore-case --no-color --no-column
    --format=git_format --sort=word --abbrev?number --color?word ${FILTERS}?revision :revision
    @operandsNeed=--list|${FILTERS} @mixed`,
  tag: `-li --list --ignore-case --no-color --no-column --format=git_format --sort=word -n|--abbrev?number --color?word
    ${FILTERS}?revision :revision @operandsNeed=-l|--list|${FILTERS} @mixed`,
  "for-each-ref": `--ignore-case --count=number --format=git_format --sort=word --abbrev?number --color?word
    ${FILTERS}?revision :revision @mixed`,
  "show-ref": `-dqs --dereference --head --heads --quiet --tags --verify --abbrev|--hash?number :revision @mixed`,
  "symbolic-ref": "-q --quiet --short :revision @most=1",
  "merge-base": "-a --all --octopus --is-ancestor --independent :revision",
  "name-rev": "--always --name-only --no-undefined --tags :revision",
  describe: `--all --always --contains --exact-match --first-parent --long --tags --candidates=number
    --exclude|--match=text --abbrev?number :revision @mixed`,
  "count-objects": "-Hv --human-readable --verbose",
  remote: "-v --verbose",
  "remote get-url": "--all --push :word @most=1",
  "stash list": "",
  reflog: "",
  "worktree list": "-vz --porcelain --verbose",
};
