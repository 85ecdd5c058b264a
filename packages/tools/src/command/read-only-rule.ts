// The form of one row of the read-only tables (CMD-4): what may stand in the arguments of a command for
// it to be proven harmless. A row only lists what is allowed; whatever it does not name is unsafe.

/** What one argument has to be. */
export type ArgumentKind =
  /** Anything: the program only prints it, compares with it or counts by it. */
  | "text"
  /** Digits, perhaps with a sign and a unit. */
  | "number"
  /** A keyword such as `time` or `iso-8601`. */
  | "word"
  /** Contents are read: a regular file (or nothing) inside the roots that is not sensitive. */
  | "file"
  /** A file, or a directory all files of which may be read: those that are sensitive are looked for (walked-trees.ts). */
  | "tree"
  /** Looked at from outside: anything inside the roots that is not sensitive. */
  | "path"
  /** What `date` prints; without the plus sign it would set the clock. */
  | "date_format"
  /** A revision or a path of this repository, which git itself may not tell apart. */
  | "revision"
  /** A commit reached from HEAD: nothing else is sure to be a commit. */
  | "head_revision"
  /** Fields of a commit or a ref, none of which starts another program. */
  | "git_format"
  /** A program that reads nothing but its files: no commands, pipes, other files or variables. */
  | "awk_program"
  | "jq_filter"
  | "sed_script"
  /** The name of a variable that holds no secret. */
  | "plain_variable"
  /** A file, and not a command to the pager, which begins with a plus sign. */
  | "pager_file";

export interface ReadOnlyRule {
  /** Options without a value, separated by spaces. */
  readonly flags?: string;
  /** Options with a value: attached (`-n5`, `--lines=5`) or the next argument. */
  readonly values?: Readonly<Record<string, ArgumentKind>>;
  /** Options whose value, if there is one, is attached: `--color`, `--color=always`. */
  readonly optional?: Readonly<Record<string, ArgumentKind>>;
  /** What stands beside the options: none, all of one kind, or a first one unlike the rest. */
  readonly operands?: ArgumentKind | readonly [first: ArgumentKind, rest: ArgumentKind];
  /** With one of these options files are trees. */
  readonly treesWith?: string;
  /** With one of these options even the first operand is of the kind of the rest. */
  readonly noFirstWith?: string;
  readonly mostOperands?: number;
  /** Without one it shows what nothing names. */
  readonly needsOperand?: boolean;
  /** Operands only beside one of these options: without it they would create something. */
  readonly operandsNeed?: string;
  /** One of these options has to be there: without them it shows the contents of files. */
  readonly needs?: string;
  /** What follows a letter is always further letters, never a value: the program reads them without getopt. */
  readonly detached?: boolean;
  /** `-5` means five lines. */
  readonly numeric?: boolean;
  /** Options with any value may follow operands, however the system is set up. */
  readonly mixed?: boolean;
  /** The grammar of find: paths first, then words with one dash and a value of their own. */
  readonly expression?: boolean;
  /** Lists whole trees: always, or with one of these options. */
  readonly walks?: true | string;
  /** What has to be in its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Rules by the words that select them: `git stash list` is longer than `git stash`. */
export type ReadOnlyTable = Readonly<Record<string, ReadOnlyRule>>;
