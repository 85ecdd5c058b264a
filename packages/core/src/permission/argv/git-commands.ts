// What a git command runs besides git (PERM-16): by its global options, by an alias, by an option of its
// subcommand. Hooks and the config of the repository are not looked at: they are not in the arguments.

import type { InnerCommands, KnownCommand } from "./known-command.ts";
import { indexes, mergeInner, NOT_UNDERSTOOD, runs, RUNS_NOTHING } from "./known-command.ts";
import { optionTable, readArguments } from "./options.ts";
import { readShellScript } from "./shell-script.ts";
import { runByOptions } from "./wrappers.ts";

export function runByGit(command: KnownCommand): InnerCommands {
  const { words, open } = command;
  const aliases = new Map<string, string>();
  const read = readArguments(optionTable(GLOBAL), words, { from: 1, stops: true, names: "exact" });
  if (typeof read === "string" || words[read.at - 1] === "--" || words[read.at] === "-")
    return NOT_UNDERSTOOD;
  const found = read.options.flatMap(({ name, kind, value, at, end }) => {
    const runArguments = indexes(at, end + 1);
    if (name === "-c") return [setting(value ?? "", aliases, runArguments)];
    if (kind === "" || value === undefined || (name === "-C" && !leadsElsewhere(value))) return [];
    return [runs([], runArguments, { opaque: kind !== "name" })];
  });
  const { at } = read;
  const subcommand = words[at];
  if (subcommand === undefined) {
    return mergeInner([...found, open ? NOT_UNDERSTOOD : RUNS_NOTHING]);
  }
  const isOwn = PLAIN_SUBCOMMANDS.has(subcommand) || Object.hasOwn(THAT_RUN, subcommand);
  // An alias of such a name is never used.
  const alias = isOwn ? undefined : aliases.get(subcommand.toLowerCase());
  if (alias !== undefined) return mergeInner([...found, runByAlias(alias, command, at)]);
  const own = runBySubcommand(command, at);
  if (at === 1) return mergeInner([...found, own]);
  // Without its global options it is the command that rules are written about, and runs the same.
  const plain = { words: ["git", ...words.slice(at)], open };
  return mergeInner([...found, { ...own, commands: [plain] }]);
}

/** Names are those inside the repository; anything else may choose another one, with another config. */
const GLOBAL = `-pPvh -C=directory -c=setting --namespace|--attr-source|--list-cmds=name @detached
  --config-env|--git-dir|--work-tree|--super-prefix=directory --exec-path?directory --paginate --no-pager --bare --no-replace-objects
  --no-lazy-fetch --no-optional-locks --no-advice --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs
  --html-path --man-path --info-path --version --help`;

/** Another repository has another config, which may name any program. */
function leadsElsewhere(directory: string): boolean {
  return /^[/~]/.test(directory) || directory.split("/").includes("..");
}

/** `-c key=value` */
function setting(
  given: string,
  aliases: Map<string, string>,
  runArguments: readonly number[],
): InnerCommands {
  const [key = "", value = ""] = given.split(/=(.*)/s);
  const name = key.toLowerCase();
  if (isHarmlessGitKey(name)) return RUNS_NOTHING;
  if (name.startsWith("alias.")) {
    aliases.set(name.slice("alias.".length), value);
    return runs([], runArguments);
  }
  // Most keys that are not harmless name a program; what it is started with, git knows.
  const script = readShellScript(value.replace(/^!/, ""));
  return runs(
    script.commands.map((one) => ({ words: one.words, open: true })),
    runArguments,
    { opaque: true },
  );
}

/** A key that names no program and no file, for any value. */
export function isHarmlessGitKey(key: string): boolean {
  return /^(?:user\.(?:name|email)|author\.\w+|committer\.\w+|color\..*|advice\..*|column\..*|core\.(?:quotepath|abbrev|autocrlf|eol|safecrlf|filemode|ignorecase|longpaths|commentchar|whitespace)|diff\.(?:renames|renamelimit|algorithm|context|mnemonicprefix|noprefix|colormoved)|log\.(?:date|decorate|abbrevcommit|follow)|status\.\w+|init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote)|fetch\.prune|merge\.(?:ff|conflictstyle)|rebase\.(?:autosquash|autostash)|commit\.(?:verbose|gpgsign|status)|tag\.gpgsign|pack\.threads|gc\.auto|safe\.directory|i18n\..*)$/.test(
    key,
  );
}

/** `!script` is run by a shell; anything else is another git command. */
function runByAlias(alias: string, { words, open }: KnownCommand, at: number): InnerCommands {
  const runArguments = indexes(at, words.length);
  if (alias.startsWith("!")) {
    const script = readShellScript(alias.slice(1));
    const commands = script.commands.map((one) => ({ words: one.words, open: true }));
    return runs(commands, runArguments, { opaque: script.opaque || open });
  }
  const { commands, opaque } = readShellScript(`git ${alias}`);
  const [one] = commands;
  if (opaque || open || one === undefined || commands.length > 1) return NOT_UNDERSTOOD;
  return runs([{ words: [...one.words, ...words.slice(at + 1)], open: one.open }], runArguments);
}

function runBySubcommand(command: KnownCommand, at: number): InnerCommands {
  const { words, open } = command;
  const name = words[at] ?? "";
  if (Object.hasOwn(THAT_RUN, name)) return THAT_RUN[name]?.(command, at) ?? NOT_UNDERSTOOD;
  // Anything else is an alias, or a program `git-…` found on the PATH.
  if (!PLAIN_SUBCOMMANDS.has(name)) return runs([], [at], { opaque: true });
  const options = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
  const byOptions = runByOptions(command, at + 1, options ?? EVERYWHERE);
  // `ext::sh -c …` as a remote is a command.
  const remotes = indexes(at + 1, words.length).filter((index) => words[index]?.includes("ext::"));
  if (remotes.length === 0) return open ? { ...byOptions, opaque: true } : byOptions;
  return mergeInner([byOptions, runs([], remotes, { opaque: true })]);
}

const PLAIN_SUBCOMMANDS: ReadonlySet<string> = new Set(
  `add am annotate apply archive blame branch bundle cat-file check-attr check-ignore check-mailmap
  check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph
  commit-tree count-objects describe diff diff-files diff-index diff-tree fast-export fetch fmt-merge-msg
  for-each-ref format-patch fsck gc get-tar-commit-id grep hash-object index-pack init init-db log ls-files
  ls-remote ls-tree mailinfo mailsplit merge merge-base merge-file merge-tree mktag mktree mv name-rev notes
  pack-objects pack-refs patch-id prune pull push range-diff read-tree rebase reflog remote repack replace
  rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-index show-ref
  sparse-checkout stash status stripspace switch symbolic-ref tag unpack-objects update-index update-ref var
  verify-commit verify-pack verify-tag version worktree write-tree`.split(/\s+/),
);

/** A config of the repository's, asked for by name. */
const EVERYWHERE = "--ext-diff";
const REMOTE = "--upload-pack|--receive-pack|--exec=script";
/** A strategy of another name is a program `git-merge-…`. */
const STRATEGY = "-s|--strategy=unknown";

const OPTIONS: Readonly<Record<string, string>> = {
  rebase: `-x|--exec=script ${STRATEGY}`,
  merge: STRATEGY,
  "cherry-pick": "--strategy=unknown",
  revert: "--strategy=unknown",
  fetch: REMOTE,
  pull: `${REMOTE} ${STRATEGY}`,
  push: REMOTE,
  "ls-remote": REMOTE,
  archive: REMOTE,
  clone: `${REMOTE} -u=script -c|--config=unknown --template=unknown`,
  init: "--template=unknown",
  "init-db": "--template=unknown",
  grep: `-O|--open-files-in-pager=script ${EVERYWHERE}`,
};

/** Of `git bisect`: the others show something with a program, or take one. */
const KEEPS_TO_ITSELF = /^(?:start|good|bad|new|old|skip|reset|log|terms|next)$/;

const THAT_RUN: Readonly<Record<string, (command: KnownCommand, at: number) => InnerCommands>> = {
  bisect({ words, open }, at) {
    const action = words[at + 1];
    if (action === undefined) return open ? NOT_UNDERSTOOD : RUNS_NOTHING;
    if (KEEPS_TO_ITSELF.test(action)) return RUNS_NOTHING;
    if (action !== "run") return NOT_UNDERSTOOD;
    return runs([{ words: words.slice(at + 2), open }], indexes(at + 1, words.length));
  },
  submodule({ words, open }, at) {
    const place = words.indexOf("foreach", at + 1);
    if (place === -1) return open ? NOT_UNDERSTOOD : RUNS_NOTHING;
    const rest = words
      .slice(place + 1)
      .filter((word) => !/^(?:--recursive|--quiet|-q)$/.test(word));
    const { commands, opaque } = readShellScript(rest.join(" "));
    return runs(commands, indexes(place, words.length), { opaque: opaque || open });
  },
  difftool(command, at) {
    const { commands } = runByOptions(command, at + 1, "-x|--extcmd=script");
    return runs(commands, indexes(at, command.words.length), { opaque: true });
  },
  config({ words, open }, at) {
    const use = readGitConfigArguments(words.slice(at + 1));
    const isHarmless = use.kind === "reads" || (use.key !== undefined && isHarmlessGitKey(use.key));
    if (isHarmless && !open) return RUNS_NOTHING;
    return runs([], indexes(at, words.length), { opaque: true });
  },
};

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

/**
 * What `git config` does with its arguments, those behind `config`. As git reads them: options end at the first operand, and may be
 * shortened. What is not understood writes any key.
 */
export function readGitConfigArguments(args: readonly string[]): GitConfigUse {
  const [first = ""] = args;
  const action = Object.hasOwn(CONFIG_ACTIONS, first) ? CONFIG_ACTIONS[first] : undefined;
  const from = action === undefined ? 0 : 1;
  const read = readArguments(optionTable(CONFIG), args, { from, stops: true });
  if (typeof read === "string") {
    return { kind: "writes", key: undefined, file: undefined, isGlobal: false };
  }
  const { options, at } = read;
  const kinds = new Set([action, ...options.map(({ kind }) => kind)]);
  const operands = args.slice(at);
  const isRead = kinds.has("reads") || operands.length < 2;
  if (!kinds.has("any") && !kinds.has("writes") && isRead) return { kind: "reads" };
  return {
    kind: "writes",
    key: kinds.has("any") ? undefined : operands[0]?.toLowerCase(),
    file: options.findLast(({ kind }) => kind === "file")?.value,
    isGlobal: options.some(({ name }) => name === "--global" || name === "--system"),
  };
}

/** `any`: it writes more than one key, or a key that its arguments do not name. */
const CONFIG_ACTIONS: Readonly<Record<string, string>> = {
  get: "reads",
  list: "reads",
  set: "writes",
  unset: "writes",
  "rename-section": "any",
  "remove-section": "any",
  edit: "any",
};

const CONFIG = `--get|--get-all|--get-regexp|--get-urlmatch|--get-color|--get-colorbool|-l|--list!reads
  --replace-all|--add|--unset|--unset-all!writes --rename-section|--remove-section|-e|--edit!any -f|--file=file
  --blob|-t|--type|--default|--comment|--value|--url=value --global|--system|--local|--worktree|--bool|--int!flag
  --bool-or-int|--bool-or-str|--path|--expiry-date|-z|--null|--name-only|--includes|--show-origin|--show-scope!flag
  --fixed-value|--all|--regexp|--show-names|--append!flag`;
