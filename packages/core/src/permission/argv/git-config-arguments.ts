// What `git config` does with its arguments. As git reads them: options end at the first operand, and may be shortened.

export type GitConfigUse =
  | { readonly kind: "reads" }
  | {
      readonly kind: "writes";
      /** In lower case; undefined where it may be any. */
      readonly key: string | undefined;
      /** The file that an option names. */
      readonly file: string | undefined;
      /** That of the user or the machine, not of the repository. */
      readonly isGlobal: boolean;
    };

/** `args` are those behind `config`. What is not understood writes any key. */
export function readGitConfigArguments(args: readonly string[]): GitConfigUse {
  const kinds = new Set<OptionKind>();
  let file: string | undefined;
  let isGlobal = false;
  let at = 0;
  if (Object.hasOwn(SUBCOMMANDS, args[0] ?? "")) {
    kinds.add(SUBCOMMANDS[args[0] ?? ""] ?? "unknown");
    at = 1;
  }
  for (; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    if (!arg.startsWith("-") || arg === "-") break;
    if (arg === "--") {
      at += 1;
      break;
    }
    const { name, kind, attached } = readOption(arg);
    kinds.add(kind);
    if (name === "global" || name === "system") isGlobal = true;
    if (kind !== "value") continue;
    const value = attached ?? args[(at += 1)] ?? "";
    if (name === "file") file = value;
  }
  const operands = args.slice(at);
  const writes = (key: string | undefined): GitConfigUse => ({
    kind: "writes",
    key: key?.toLowerCase(),
    file,
    isGlobal,
  });
  if (kinds.has("unknown") || kinds.has("any")) return writes(undefined);
  if (kinds.has("writes")) return writes(operands[0]);
  return kinds.has("reads") || operands.length < 2 ? { kind: "reads" } : writes(operands[0]);
}

/** `any`: it writes more than one key, or a key that its arguments do not name. */
type OptionKind = "reads" | "writes" | "any" | "flag" | "value" | "unknown";

const SUBCOMMANDS: Readonly<Record<string, OptionKind>> = {
  get: "reads",
  list: "reads",
  set: "writes",
  unset: "writes",
  "rename-section": "any",
  "remove-section": "any",
  edit: "any",
};

const OPTIONS: Readonly<Record<string, OptionKind>> = {
  ...byNames("get get-all get-regexp get-urlmatch get-color get-colorbool list", "reads"),
  ...byNames("replace-all add unset unset-all", "writes"),
  ...byNames("rename-section remove-section edit", "any"),
  ...byNames("file blob type default comment value url", "value"),
  ...byNames(
    `global system local worktree bool int bool-or-int bool-or-str path expiry-date null name-only includes show-origin
    show-scope fixed-value all regexp show-names append`,
    "flag",
  ),
};

const LETTERS: Readonly<Record<string, string>> = {
  f: "file",
  t: "type",
  l: "list",
  e: "edit",
  z: "null",
};

function byNames(names: string, kind: OptionKind): Record<string, OptionKind> {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, kind]));
}

interface ReadOption {
  readonly name: string;
  readonly kind: OptionKind;
  readonly attached?: string;
}

function readOption(arg: string): ReadOption {
  const [, long, attached] = /^--([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
  if (long === undefined) return readLetters(arg.slice(1));
  const all = Object.keys(OPTIONS);
  const named = all.includes(long) ? [long] : all.filter((name) => name.startsWith(long));
  const [name = long] = named;
  // A name that could stand for several is refused by git, and by a later one taken for some other.
  const kind = named.length === 1 ? (OPTIONS[name] ?? "unknown") : "unknown";
  return { name, kind, ...(attached === undefined ? {} : { attached }) };
}

/** `-z`, `-zl`, `-ffile` */
function readLetters(letters: string): ReadOption {
  const [letter = "", ...rest] = letters;
  const name = Object.hasOwn(LETTERS, letter) ? (LETTERS[letter] ?? "") : "";
  const kind = OPTIONS[name] ?? "unknown";
  if (rest.length === 0) return { name, kind };
  if (kind === "value") return { name, kind, attached: rest.join("") };
  return kind === "flag" ? readLetters(rest.join("")) : { name, kind: "unknown" };
}
