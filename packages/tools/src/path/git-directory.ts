// Hooks and config of a git directory by another name than `.git` (PATH-6), also hooks where its config names a directory for them: one made with `--separate-git-dir`, a bare repository, that of
// a work tree. Git runs what is there as it does in `.git`; only the disk tells what such a directory is.

import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { isWithin } from "@soong/core/internal";
import { readSmall } from "./resolve-path.ts";

/** The part of a canonical path that git runs, or takes programs from; undefined for any other file. */
export function ranByGit(path: string): string | undefined {
  for (const { index } of path.matchAll(RAN)) {
    if (isGitDirectory(path.slice(0, index) || "/")) return path.slice(index + 1);
  }
  return hookByConfig(path);
}

const RAN = /\/(?:hooks(?=\/|$)|config(?:\.worktree)?$)/gi;

function isGitDirectory(path: string): boolean {
  const has = (name: string, kind: "isFile" | "isDirectory"): boolean => {
    try {
      return statSync(join(path, name), { throwIfNoEntry: false })?.[kind]() === true;
    } catch {
      return false;
    }
  };
  if (!has("HEAD", "isFile")) return false;
  return (
    has("commondir", "isFile") || (has("objects", "isDirectory") && has("refs", "isDirectory"))
  );
}

/** The path from the work tree, if it is in such a directory. */
function hookByConfig(path: string): string | undefined {
  const root = workTreeAround(dirname(path));
  if (root === undefined) return undefined;
  for (const directory of root.hooks) {
    if (!isWithin(directory, path)) continue;
    // Where everything is in it, only the hooks themselves count.
    const isHook = dirname(path) === directory && HOOK.test(basename(path));
    if (!isWithin(directory, root.path) || isHook) return relative(root.path, path) || ".";
  }
  return undefined;
}

const HOOK =
  /^(?:(?:pre|post)-[a-z-]+|applypatch-msg|prepare-commit-msg|commit-msg|update|proc-receive|reference-transaction|push-to-checkout|sendemail-validate|fsmonitor-watchman|p4-[a-z-]+)$/i;

interface WorkTree {
  readonly path: string;
  readonly hooks: readonly string[];
}

/** Walks ask for one entry of a directory after the other: remembered until the current work yields. */
const remembered = new Map<string, WorkTree | undefined>();

function workTreeAround(directory: string): WorkTree | undefined {
  if (remembered.has(directory)) return remembered.get(directory);
  const configs = listConfigs(join(directory, ".git"));
  const parent = dirname(directory);
  const found =
    configs !== undefined
      ? {
          path: directory,
          hooks: withIncluded([...configs, ...userConfigs()]).flatMap(hooksFrom(directory)),
        }
      : parent === directory
        ? undefined
        : workTreeAround(parent);
  if (remembered.size === 0) queueMicrotask(() => remembered.clear());
  remembered.set(directory, found);
  return found;
}

/** Undefined where there is no repository. `git`: the `.git` of a work tree. */
function findGitDirectory(git: string): string | undefined {
  const kind = statSync(git, { throwIfNoEntry: false });
  if (kind?.isFile() !== true) return kind && git;
  const [, linked = "."] = /^gitdir: (.*)$/m.exec(readText(git)) ?? [];
  return resolve(dirname(git), linked.trim());
}

/** Undefined where there is no repository. */
function listConfigs(git: string): string[] | undefined {
  const directory = findGitDirectory(git);
  if (directory === undefined) return undefined;
  const common = resolve(directory, readText(join(directory, "commondir")).trim() || ".");
  return [join(common, "config"), join(directory, "config.worktree")];
}

/** The branch that is checked out around a directory, if its name is a plain one. Runs nothing. */
export function findBranch(directory: string): string | undefined {
  const root = workTreeAround(directory);
  const git = root && findGitDirectory(join(root.path, ".git"));
  if (git === undefined) return undefined;
  return /^ref: refs\/heads\/([\w./-]{1,100})\n?$/.exec(readText(join(git, "HEAD")))?.[1];
}

/**
 * What git runs, or takes its settings from, beside the git directory of this very work tree: hooks where a config names a directory
 * for them, and files that its own config includes.
 */
export function placesRanByConfig(workTree: string): string[] {
  const own = listConfigs(join(workTree, ".git")) ?? [];
  const all = withIncluded([...own, ...userConfigs()]);
  const hooks = all.flatMap(hooksFrom(workTree));
  const included = withIncluded(own).filter((config) => !own.includes(config));
  return [...new Set([...hooks, ...included])];
}

/** With the files that they include, and those that these do. */
function withIncluded(configs: readonly string[]): string[] {
  const all = new Set(configs);
  for (const config of all) {
    if (all.size > MOST_CONFIGS) break;
    for (const value of settingsNamed("path", config)) {
      all.add(canonical(resolve(dirname(config), value)));
    }
  }
  return [...all];
}

const MOST_CONFIGS = 100;

/** Every repository has a config; few of them hold a password. */
export function configHoldsSecret(path: string): boolean {
  const config = readSmall(path, MOST_BYTES);
  if (config === undefined) return true;
  return /:\/\/[^\s/]*@|extraheader|password|token|secret/i.test(config.toString("utf8"));
}

function userConfigs(): string[] {
  const home = homedir();
  const xdg = process.env["XDG_CONFIG_HOME"] ?? join(home, ".config");
  return [join(home, ".gitconfig"), join(xdg, "git/config"), "/etc/gitconfig"];
}

function hooksFrom(workTree: string): (config: string) => string[] {
  return (config) =>
    settingsNamed("hookspath", config).map((value) => canonical(resolve(workTree, value)));
}

/** Paths that a config gives under a name, in any section. */
export function settingsNamed(name: string, config: string): string[] {
  return [
    ...readText(config).matchAll(new RegExp(`^[^#;\\n]*?\\b${name}[ \\t]*=([^\\n]*)$`, "gim")),
  ]
    .map(([, value = ""]) => readValue(value))
    .filter((value) => value !== "" && value !== "/dev/null")
    .map((value) => value.replace(/^~(?=\/|$)/, homedir()));
}

/** Without quotes and a comment behind it. */
function readValue(given: string): string {
  const [value = ""] = /^(?:"(?:[^"\\]|\\.)*"|[^"#;])*/.exec(given) ?? [];
  return value.trim().replaceAll(/\\(.)/g, "$1").replaceAll('"', "");
}

function canonical(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function readText(path: string): string {
  return readSmall(path, MOST_BYTES, { followsLinks: true })?.toString("utf8") ?? "";
}

const MOST_BYTES = 1024 * 1024;
