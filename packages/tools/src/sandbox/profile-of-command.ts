// What a command may do in the sandbox (CMD-6): the policy of the call, made into places. What a rule, a guard or a sensitive
// pattern keeps from being read is masked, what may not be written is fixed. So a deny on a path holds inside any program.

import { basename, dirname, join } from "node:path";
import type { CommandTarget, Resource, SandboxChoice, SandboxLimits } from "@soong/core";
import { isWithin } from "@soong/core/internal";
import type { AbsentFile, SandboxProfile } from "@soong/platform";
import { configHoldsSecret, entriesOf, isDirectory, lookAt } from "../path/index.ts";
import { canonical, closePaths, isLink, otherNames, withoutInner } from "./close-paths.ts";
import { createCommittedTest } from "./committed.ts";
import { findGitPlaces, isEmpty, type GitPlaces } from "./git-places.ts";
import { lookThrough, type FoundInPlace } from "./look-through.ts";
import {
  createJudge,
  isDenied,
  judgedPaths,
  literalPaths,
  type ProfilePlaces,
} from "./place-judge.ts";
import { builtInSecrets, outsideSecrets } from "./secret-places.ts";

export interface CommandInSandbox {
  readonly command: CommandTarget;
  /** Of the judged plan: what it names was allowed, and stays open. */
  readonly resources: readonly Resource[];
  readonly choice: SandboxChoice;
  /** What the program needs to be read, wherever it is: itself. */
  readonly programs: readonly string[];
  readonly home: string | undefined;
}

export interface CommandProfile {
  readonly profile: SandboxProfile;
  readonly limits: Omit<SandboxLimits, "backend">;
  /** Paths that may not come into being without notice, as they are now. */
  readonly noticed: ReadonlySet<string>;
}

export async function profileOfCommand(
  given: CommandInSandbox,
  places: ProfilePlaces,
  signal: AbortSignal,
): Promise<CommandProfile> {
  const { choice, resources } = given;
  const roots = choice.roots.filter((root) => isOpenRoot(root, places));
  const own = withoutInner([...roots, ...writtenOutside(resources, roots)]);
  const judge = createJudge(own, resources, places);
  const found = await Promise.all(own.map((place) => lookThrough(place, judge, signal)));
  const all = (pick: (one: FoundInPlace) => string[]): string[] => found.flatMap(pick);
  const unlisted = all((one) => one.unlisted);
  refuseUnmaskable(
    all((one) => one.unnamed),
    unlisted.filter((path) => own.includes(path)),
  );

  const gits = new Set([
    ...roots.map((root) => join(root, ".git")),
    ...all((one) => one.repositories),
  ]);
  const git = [...gits].map((path, index) =>
    index < MOST_REPOSITORIES ? findGitPlaces(path, own) : keepRepository(path),
  );
  const opened = git
    .flatMap(({ writable }) => writable)
    .filter((path) => isOpenRoot(path, places) && places.restrictedBy(path, "read") === undefined);
  const writable = withoutInner([...own, ...opened]);
  const isWritable = (path: string): boolean => writable.some((place) => isWithin(place, path));

  const denied = literalPaths(places, "write").filter(
    (path) => isWritable(path) && isDenied(path, places),
  );
  const { command } = given;
  const configs = /^git$/.test(basename(command.executable))
    ? []
    : git.flatMap((one) => one.configs);
  const isCommitted = createCommittedTest([...gits]);
  const isCommittedSecret = (path: string): boolean =>
    places.restrictedBy(path, "read")?.kind === "sensitive" && isCommitted(path);
  const restricted = [
    ...literalPaths(places, "read").filter(
      (path) => places.restrictedBy(path, "read") !== undefined,
    ),
    ...builtInSecrets(given.home),
    ...configs.filter((path) => configHoldsSecret(path)),
    ...outsideSecrets(given.home, writable, places),
    ...all((one) => one.hidden).filter((path) => !isCommittedSecret(path)),
  ];
  const open = new Set([...writable, ...given.programs]);
  const masked = withoutInner([
    ...closePaths(restricted, (path) => open.has(path) || judge.isJudged(path)),
    // Also one that the call names: no one has seen what is in it.
    ...unlisted,
  ]);
  // Those that are there by now: an empty one may be there for another command, and go with it.
  const guarded = [...denied, ...git.flatMap((one) => one.guarded)].filter(
    (path) => !judge.isNamed(path),
  );
  const fixed = [
    ...guarded.flatMap((path) => canonical(path) ?? []),
    ...all((one) => one.kept),
    ...all((one) => one.selfRunning),
  ].filter((path) => isWritable(path) && !isLink(path) && !judge.isNamed(path));
  const free = guarded.filter((path) => isWritable(path) && canBeKeptFree(path));
  const [absent, absentFiles] = splitAbsent(new Set(free));
  const links = otherNames({ masked, fixed }, own);
  const profile: SandboxProfile = {
    writable: [...writable, ...writtenInside(resources, fixed)],
    masked: withoutInner([...masked, ...links.masked]),
    readable: readableInside([
      ...judgedPaths(resources, places),
      ...given.programs,
      ...git.flatMap((one) => one.readable),
    ]),
    fixed: [...new Set([...fixed, ...links.fixed])],
    absent,
    absentFiles,
    ...(choice.hosts.length === 0
      ? {}
      : { refuseHost: (host: string) => choice.hostRefusal(host), openHosts: choice.hosts }),
  };
  return {
    profile,
    limits: describeLimits(profile, choice),
    noticed: new Set(noticedIn(found).map(({ path }) => path)),
  };
}

/** What must be masked and cannot be must not be taken for masked. */
function refuseUnmaskable([unnamed]: readonly string[], [unlisted]: readonly string[]): void {
  if (unnamed !== undefined) {
    throw new Error(
      `${JSON.stringify(unnamed)} is to be masked and cannot be, because its path is not UTF-8`,
    );
  }
  if (unlisted !== undefined) {
    throw new Error(
      `${JSON.stringify(unlisted)} cannot be listed, so no one knows what is to be masked in it`,
    );
  }
}

export interface NewlyThere {
  readonly path: string;
  /** Other programs run it on their own, a rule or guard keeps it from being written, or git writes to where it leads. */
  readonly why: "runs" | "denied" | "leads";
}

/** What has come into being during the command: the sandbox keeps no names from being made but those it knows. */
export async function newlyThere(
  { profile, noticed }: CommandProfile,
  places: ProfilePlaces,
  signal: AbortSignal,
): Promise<NewlyThere[]> {
  const roots = profile.writable.filter(isDirectory);
  const judge = createJudge(roots, [], places);
  const found = await Promise.all(roots.map((place) => lookThrough(place, judge, signal)));
  return noticedIn(found).filter(({ path }) => !noticed.has(path));
}

function noticedIn(found: readonly FoundInPlace[]): NewlyThere[] {
  return found.flatMap(({ selfRunning, repositories, kept }) => [
    ...[...selfRunning, ...repositories.flatMap(nameRepository)].map((path) => ({
      path,
      why: "runs" as const,
    })),
    ...kept.map((path) => ({ path, why: "denied" as const })),
    ...repositories.flatMap(linksIn).map((path) => ({ path, why: "leads" as const })),
  ]);
}

/** Files that git writes for the user, such as the message of a commit: a link in the place of one leads to any other. */
function linksIn(repository: string): string[] {
  if (isLink(repository)) return [];
  return [repository, join(repository, "logs")].flatMap((directory) =>
    [...entriesOf(directory)]
      .filter((entry) => entry.isSymbolicLink())
      .map(({ name }) => join(directory, name)),
  );
}

function nameRepository(path: string): string[] {
  if (basename(path) !== ".git") return [join(path, "HEAD")];
  // One that is a link is another one where that leads elsewhere.
  if (isLink(path)) return [`${path} -> ${canonical(path) ?? "nowhere"}`];
  // An empty directory keeps the name free for another command.
  return lookAt(path)?.isDirectory() === true && isEmpty(path) ? [] : [path];
}

/** Each of them takes several mounts: of more than these nothing is written. */
const MOST_REPOSITORIES = 20;

function keepRepository(path: string): GitPlaces {
  return { writable: [], readable: [], guarded: [path], configs: [join(path, "config")] };
}

const MOST_RECORDED = 20;

function describeLimits(
  { writable, masked, refuseHost }: SandboxProfile,
  { hosts }: SandboxChoice,
): Omit<SandboxLimits, "backend"> {
  const more = masked.length - MOST_RECORDED;
  return {
    roots: [...writable],
    masked: masked.slice(0, MOST_RECORDED),
    ...(more > 0 ? { masked_more: more } : {}),
    network: refuseHost === undefined ? "closed" : { hosts: [...hosts] },
  };
}

/** A yes to a file in a directory that is kept as it is. */
function writtenInside(resources: readonly Resource[], fixed: readonly string[]): string[] {
  return resources
    .flatMap((one) => (one.kind === "path" && one.access === "write" ? [one.path] : []))
    .filter((path) => fixed.some((around) => path !== around && isWithin(around, path)))
    .filter((path) => lookAt(path)?.isFile() === true);
}

/** As they are found: links are followed, and what is not there is skipped. */
function readableInside(paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap((path) => canonical(path) ?? []))];
}

/** Git stops at a directory, or at an empty file, by this name; with this text it means the git directory itself. */
function splitAbsent(paths: ReadonlySet<string>): [string[], AbsentFile[]] {
  const isText = (path: string): boolean => GIT_TEXTS.has(basename(path));
  return [
    [...paths].filter((path) => !isText(path)),
    [...paths].filter(isText).map((path) => ({ path, text: GIT_TEXTS.get(basename(path)) ?? "" })),
  ];
}

const GIT_TEXTS: ReadonlyMap<string, string> = new Map([
  ["commondir", ".\n"],
  ["config.worktree", ""],
]);

/** A directory that may be written as a whole. */
function isOpenRoot(path: string, places: ProfilePlaces): boolean {
  return path !== "" && path !== "/" && isDirectory(path) && !isDenied(path, places);
}

/** The yes to a path outside the roots covers exactly that path, if it is there. */
function writtenOutside(resources: readonly Resource[], roots: readonly string[]): string[] {
  return resources
    .flatMap((one) => (one.kind === "path" && one.access === "write" ? [one.path] : []))
    .filter((path) => path !== "/" && !roots.some((root) => isWithin(root, path)))
    .filter((path) => {
      const kind = lookAt(path);
      return kind?.isFile() === true || kind?.isDirectory() === true;
    });
}

/** Whether the directories on the way to a name are there as they are written, as far as they are there. */
function canBeKeptFree(path: string): boolean {
  if (isLink(path)) return false;
  let above = dirname(path);
  while (lookAt(above) === undefined && above !== "/") above = dirname(above);
  return lookAt(above)?.isDirectory() === true && canonical(above) === above;
}
