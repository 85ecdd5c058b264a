// Which mounts make a profile true, in which order. The disk as it is, read-only; over it what is open, kept or masked, each
// path after those around it, so that the most specific one counts. What programs outside use to talk to each other
// (`/tmp`, `/run`) is not there at all.

import { lstatSync, realpathSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { isWithin } from "@soong/core/internal";
import { readErrno } from "../file/disk.ts";
import { sandboxFailure, type SandboxProfile } from "../process/index.ts";

export interface PrivatePlaces {
  /** What is `/tmp` inside, for a sandbox with these mounts in it. */
  temporaryDirectory(inner: readonly string[]): string;
  /** Arguments that mount devices over those of the machine. */
  readonly devices: readonly string[];
  /** The runtime's own, and not to be seen by any command. */
  readonly masked: readonly string[];
}

type MountedPlaces = Pick<SandboxProfile, "writable" | "fixed" | "masked" | "readable">;

/** Arguments of bubblewrap. Throws a ToolFailure where a path is not what the profile takes it for. */
export function planMounts(profile: MountedPlaces, places: PrivatePlaces): string[] {
  const entries = readEntries(profile, places);
  const isRootOpen = entries.get("/")?.kind === "writable";
  const args = [isRootOpen ? "--bind" : "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
  args.push(...FIRST_PROCESS, ...places.devices);
  entries.delete("/");

  const sorted = [...entries].toSorted(([one], [other]) => parentsFirst(one, other));
  let outer: Around = { path: "/", kind: isRootOpen ? "writable" : "fixed" };
  const open = [...profile.writable, ...(profile.readable ?? [])];
  // The kernel takes a write to its settings from user 0, without any capability.
  const closing = ["--remount-ro", "/proc"];
  for (const [path, entry] of sorted) {
    while (outer.outer !== undefined && !isWithin(outer.path, path)) outer = outer.outer;
    // It is read-only already, or not there at all.
    if (entry.kind === "fixed" && outer.kind !== "writable") continue;
    if (entry.kind === "readable" && outer.kind !== "masked" && outer.kind !== "private") continue;
    if (entry.kind === "masked" && (outer.kind === "masked" || outer.kind === "private")) continue;
    if (outer.kind === "writable") {
      // Each directory on the way is a mount of its own, which cannot be renamed: else another could take its place.
      for (const between of directoriesBetween(outer.path, path)) {
        args.push("--bind", between, between);
        outer = { path: between, kind: "writable", outer };
      }
    }
    const innerPlaces = () =>
      open.filter((place) => place !== path && isWithin(path, place) && entries.has(place));
    args.push(...mountsOf(path, entry, innerPlaces, places));
    if (entry.kind === "masked" && entry.isDirectory) closing.push("--remount-ro", path);
    if (path === RUN && entry.kind === "private") {
      for (const kept of KEPT_IN_RUN) args.push("--ro-bind-try", kept, kept);
    }
    outer = { path, kind: entry.kind, outer };
  }
  return [...args, ...closing];
}

/** Whether it can be written inside. */
export function isOpenInside(
  profile: Pick<SandboxProfile, "writable" | "fixed" | "masked">,
  path: string,
): boolean {
  const longest = (paths: readonly string[]) =>
    Math.max(-1, ...paths.filter((around) => isWithin(around, path)).map((found) => found.length));
  const hidden = longest(HIDDEN);
  const open = longest(profile.writable);
  return open >= hidden && open > longest(profile.fixed) && open > longest(profile.masked);
}

type Kind = "writable" | "readable" | "fixed" | "masked" | "private";

interface Entry {
  readonly kind: Kind;
  readonly isDirectory: boolean;
}

interface Around {
  readonly path: string;
  readonly kind: Kind;
  readonly outer?: Around;
}

const TMP = "/tmp";
const RUN = "/run";
/** Sockets and files of programs outside, and names that another user could guess. */
const HIDDEN = [TMP, RUN, "/var/tmp"];
/** Where NixOS has its programs and drivers. */
const KEPT_IN_RUN = ["/run/current-system", "/run/opengl-driver"];

/** Bubblewrap itself: its program and its descriptors lead to the disk as it is outside, where root could change them. */
const FIRST_PROCESS = "--perms 0555 --tmpfs /proc/1".split(" ");
/** Made by the kernel: never opened, and with mounts of their own. */
const OF_THE_KERNEL = ["/proc", "/dev", "/sys"];

function readEntries(
  { writable, fixed, masked, readable = [] }: MountedPlaces,
  places: PrivatePlaces,
): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const path of HIDDEN.map(realPath)) {
    // Where it leads into one of these, it is private already.
    if (path === undefined || OF_THE_KERNEL.some((place) => isWithin(place, path))) continue;
    entries.set(path, { kind: "private", isDirectory: true });
  }
  for (const path of writable) {
    const stats = lookAt(path);
    if (stats === undefined) throw sandboxFailure(`${path} is to be writable and is not there`);
    refuseLink(path);
    if (OF_THE_KERNEL.some((place) => isWithin(place, path))) {
      throw sandboxFailure(`${path} is of the kernel and cannot be opened`);
    }
    entries.set(path, { kind: "writable", isDirectory: stats.isDirectory() });
  }
  if (entries.get("/")?.kind === "writable")
    entries.set("/sys", { kind: "fixed", isDirectory: true });
  // The stricter ones last: of one path they count.
  const closed = [
    [fixed, "fixed"] as const,
    [readable.filter((path) => !entries.has(path)), "readable"] as const,
    [[...masked, ...places.masked], "masked"] as const,
  ];
  for (const [paths, kind] of closed) {
    for (const path of paths) {
      const stats = lookAt(path);
      if (stats === undefined || isWithin("/proc", path) || isWithin("/dev", path)) continue;
      refuseLink(path);
      entries.set(path, { kind, isDirectory: stats.isDirectory() });
    }
  }
  if (entries.get("/")?.kind === "masked") throw sandboxFailure("the whole disk is to be masked");
  return entries;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** A link would be followed when it is mounted, to where it leads at that moment. */
function refuseLink(path: string): void {
  if (realPath(path) === path) return;
  throw sandboxFailure(`${path} is a link, or behind one`);
}

/** Undefined where nothing is, and where this user cannot look: then its commands cannot either. */
function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (["ENOTDIR", "EACCES"].includes(readErrno(error) ?? "")) return undefined;
    throw sandboxFailure(`${path} cannot be looked at (${readErrno(error)})`);
  }
}

function mountsOf(
  path: string,
  { kind, isDirectory }: Entry,
  innerPlaces: () => string[],
  places: PrivatePlaces,
): string[] {
  switch (kind) {
    case "writable":
      return ["--bind", path, path];
    case "readable":
    case "fixed":
      return ["--ro-bind", path, path];
    case "masked":
      // A device cannot be opened through this mount: permission denied. A directory looks empty, for programs that walk, and no
      // name in it can be looked up but those that lead to what is open inside.
      return isDirectory
        ? ["--perms", innerPlaces().length === 0 ? "0444" : "0555", "--tmpfs", path]
        : ["--ro-bind", "/dev/null", path];
    case "private":
      if (path === realPath(TMP)) {
        return ["--bind", places.temporaryDirectory(innerPlaces()), path];
      }
      return ["--perms", path === RUN ? "0755" : "1777", "--tmpfs", path];
  }
}

function directoriesBetween(outer: string, path: string): string[] {
  const between: string[] = [];
  for (let at = dirname(path); at !== outer; at = dirname(at)) between.unshift(at);
  return between;
}

/** With a slash at the end, what is inside of a path follows it directly. */
function parentsFirst(one: string, other: string): number {
  return `${one}/` < `${other}/` ? -1 : 1;
}
