// What a git command runs besides git (PERM-16): by its global options, by an alias, by an option of its
// subcommand. Hooks and the config of the repository are not looked at: they are not in the arguments.

import { readGitConfigArguments } from "./git-config-arguments.ts";
import type { InnerCommands, KnownCommand } from "./known-command.ts";
import { indexes, mergeInner, NOT_UNDERSTOOD, RUNS_NOTHING } from "./known-command.ts";
import type { RunningOption } from "./options-that-run.ts";
import { runByOptions } from "./options-that-run.ts";
import { readShellScript } from "./shell-script.ts";

export function runByGit(command: KnownCommand): InnerCommands {
  const { words, open } = command;
  const found: InnerCommands[] = [];
  const aliases = new Map<string, string>();
  let at = 1;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!word.startsWith("-")) break;
    const [name = "", attached] = word.startsWith("--") ? word.split(/=(.*)/s) : [word];
    if (FLAGS.has(word)) continue;
    if (word === "--exec-path") continue;
    const takesNext = WITH_VALUE.has(name) && attached === undefined;
    if (!takesNext && !(WITH_VALUE.has(name) || name === "--exec-path")) return NOT_UNDERSTOOD;
    const value = attached ?? words[at + 1] ?? "";
    const told = takesNext ? [at, at + 1] : [at];
    if (name === "-c") found.push(setting(value, aliases, told));
    else if (name !== "-C" || leadsElsewhere(value)) {
      found.push({ commands: [], opaque: !NAMES_ONLY.has(name), told, by_nature: false });
    }
    if (takesNext) at += 1;
  }
  const subcommand = words[at];
  if (subcommand === undefined) {
    return mergeInner([...found, open ? NOT_UNDERSTOOD : RUNS_NOTHING]);
  }
  const alias = isOwnSubcommand(subcommand) ? undefined : aliases.get(subcommand.toLowerCase());
  if (alias !== undefined) return mergeInner([...found, runByAlias(alias, command, at)]);
  const own = runBySubcommand(command, at);
  if (at === 1) return mergeInner([...found, own]);
  // Without its global options it is the command that rules are written about, and runs the same.
  const plain = { words: ["git", ...words.slice(at)], open };
  return mergeInner([...found, { ...own, commands: [plain] }]);
}

const FLAGS: ReadonlySet<string> = new Set(
  `-p --paginate -P --no-pager --bare --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice
  --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --html-path --man-path
  --info-path --version -v --help -h`.split(/\s+/),
);

const WITH_VALUE: ReadonlySet<string> = new Set(
  "-C -c --config-env --git-dir --work-tree --namespace --attr-source --super-prefix --list-cmds".split(
    " ",
  ),
);

/** They choose names inside the repository, not another one. */
const NAMES_ONLY: ReadonlySet<string> = new Set(["--namespace", "--attr-source", "--list-cmds"]);

/** Another repository has another config, which may name any program. */
function leadsElsewhere(directory: string): boolean {
  return (
    directory.startsWith("/") || directory.startsWith("~") || directory.split("/").includes("..")
  );
}

/** `-c key=value` */
function setting(
  given: string,
  aliases: Map<string, string>,
  told: readonly number[],
): InnerCommands {
  const [key = "", value = ""] = given.split(/=(.*)/s);
  const name = key.toLowerCase();
  if (isHarmlessGitKey(name)) return RUNS_NOTHING;
  if (name.startsWith("alias.")) {
    aliases.set(name.slice("alias.".length), value);
    return { commands: [], opaque: false, told, by_nature: false };
  }
  // Most keys that are not harmless name a program; what it is started with, git knows.
  const script = readShellScript(value.replace(/^!/, ""));
  const commands = script.commands.map((one) => ({ words: one.words, open: true }));
  return { commands, opaque: true, told, by_nature: false };
}

/** A key that names no program and no file, whatever its value. */
export function isHarmlessGitKey(key: string): boolean {
  return /^(?:user\.(?:name|email)|author\.\w+|committer\.\w+|color\..*|advice\..*|column\..*|core\.(?:quotepath|abbrev|autocrlf|eol|safecrlf|filemode|ignorecase|longpaths|commentchar|whitespace)|diff\.(?:renames|renamelimit|algorithm|context|mnemonicprefix|noprefix|colormoved)|log\.(?:date|decorate|abbrevcommit|follow)|status\.\w+|init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote)|fetch\.prune|merge\.(?:ff|conflictstyle)|rebase\.(?:autosquash|autostash)|commit\.(?:verbose|gpgsign|status)|tag\.gpgsign|pack\.threads|gc\.auto|safe\.directory|i18n\..*)$/.test(
    key,
  );
}

/** `!script` is run by a shell; anything else is another git command. */
function runByAlias(alias: string, { words, open }: KnownCommand, at: number): InnerCommands {
  const told = indexes(at, words.length);
  if (alias.startsWith("!")) {
    const script = readShellScript(alias.slice(1));
    const commands = script.commands.map((one) => ({ words: one.words, open: true }));
    return { commands, opaque: script.opaque || open, told, by_nature: false };
  }
  const { commands, opaque } = readShellScript(`git ${alias}`);
  const [one] = commands;
  if (opaque || open || one === undefined || commands.length > 1) return NOT_UNDERSTOOD;
  const full = { words: [...one.words, ...words.slice(at + 1)], open: one.open };
  return { commands: [full], opaque: false, told, by_nature: false };
}

function runBySubcommand(command: KnownCommand, at: number): InnerCommands {
  const { words, open } = command;
  const name = words[at] ?? "";
  if (Object.hasOwn(SUBCOMMANDS_THAT_RUN, name)) {
    return SUBCOMMANDS_THAT_RUN[name]?.(command, at) ?? NOT_UNDERSTOOD;
  }
  // Anything else is an alias, or a program `git-…` found on the PATH.
  if (!PLAIN_SUBCOMMANDS.has(name)) {
    return { commands: [], opaque: true, told: [at], by_nature: false };
  }
  const options = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
  const byOptions = runByOptions(command, at + 1, options ?? EVERYWHERE);
  // `ext::sh -c …` as a remote is a command.
  const remotes = indexes(at + 1, words.length).filter((index) => words[index]?.includes("ext::"));
  if (remotes.length === 0) return open ? { ...byOptions, opaque: true } : byOptions;
  return mergeInner([byOptions, { commands: [], opaque: true, told: remotes, by_nature: false }]);
}

/** An alias of such a name is never used. */
function isOwnSubcommand(name: string): boolean {
  return PLAIN_SUBCOMMANDS.has(name) || Object.hasOwn(SUBCOMMANDS_THAT_RUN, name);
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

const script = (long: string, short?: string): RunningOption => ({
  long,
  value: "script",
  ...(short === undefined ? {} : { short }),
});
const flag = (long: string): RunningOption => ({ long, value: "none" });

/** A config of the repository's, asked for by name. */
const EVERYWHERE = [flag("ext-diff")];
const REMOTE = [script("upload-pack"), script("receive-pack"), script("exec")];
/** A strategy of another name is a program `git-merge-…`. */
const STRATEGY: RunningOption = { long: "strategy", short: "s", value: "unknown" };

const OPTIONS: Readonly<Record<string, readonly RunningOption[]>> = {
  rebase: [script("exec", "x"), STRATEGY],
  merge: [STRATEGY],
  "cherry-pick": [{ long: "strategy", value: "unknown" }],
  revert: [{ long: "strategy", value: "unknown" }],
  fetch: REMOTE,
  pull: [...REMOTE, STRATEGY],
  push: REMOTE,
  "ls-remote": REMOTE,
  archive: REMOTE,
  clone: [
    ...REMOTE,
    { short: "u", value: "script" },
    { long: "config", short: "c", value: "unknown" },
    { long: "template", value: "unknown" },
  ],
  init: [{ long: "template", value: "unknown" }],
  "init-db": [{ long: "template", value: "unknown" }],
  grep: [script("open-files-in-pager", "O"), ...EVERYWHERE],
};

/** Of `git bisect`: the others show something with a program, or take one. */
const KEEPS_TO_ITSELF = /^(?:start|good|bad|new|old|skip|reset|log|terms|next)$/;

type Subcommand = (command: KnownCommand, at: number) => InnerCommands;

const SUBCOMMANDS_THAT_RUN: Readonly<Record<string, Subcommand>> = {
  bisect({ words, open }, at) {
    if (words[at + 1] === undefined) return open ? NOT_UNDERSTOOD : RUNS_NOTHING;
    if (KEEPS_TO_ITSELF.test(words[at + 1] ?? "")) return RUNS_NOTHING;
    if (words[at + 1] !== "run") return NOT_UNDERSTOOD;
    const told = indexes(at + 1, words.length);
    return {
      commands: [{ words: words.slice(at + 2), open }],
      opaque: false,
      told,
      by_nature: false,
    };
  },
  submodule({ words, open }, at) {
    const place = words.indexOf("foreach", at + 1);
    if (place === -1) return open ? NOT_UNDERSTOOD : RUNS_NOTHING;
    const rest = words
      .slice(place + 1)
      .filter((word) => !/^(?:--recursive|--quiet|-q)$/.test(word));
    const { commands, opaque } = readShellScript(rest.join(" "));
    const told = indexes(place, words.length);
    return { commands, opaque: opaque || open, told, by_nature: false };
  },
  difftool(command, at) {
    const found = runByOptions(command, at + 1, [script("extcmd", "x")]);
    const told = indexes(at, command.words.length);
    return { ...found, opaque: true, told, by_nature: false };
  },
  config({ words, open }, at) {
    const use = readGitConfigArguments(words.slice(at + 1));
    const isHarmless = use.kind === "reads" || (use.key !== undefined && isHarmlessGitKey(use.key));
    if (isHarmless && !open) return RUNS_NOTHING;
    return { commands: [], opaque: true, told: indexes(at, words.length), by_nature: false };
  },
};
