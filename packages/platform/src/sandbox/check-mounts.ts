// Bubblewrap takes the paths of mounts by name. Between the look at them and the mount another command, in a sandbox that can
// write around them, could put a link in the place of a directory: then something outside would be open here. So the
// command is held back until the mounts are made, and they are compared with what was planned.

import { readFileSync } from "node:fs";
import { isWithin } from "@soong/core/internal";

/** `pending`: not all are made. `gone`: neither is the process. */
export type MountState = "pending" | "right" | "wrong" | "gone";

/** `args` of bubblewrap; the answer is asked for again until it is not pending. */
export function createMountCheck(args: readonly string[]): (pid: number) => MountState {
  const planned = readPlanned(args);
  const outside = readMounts("self") ?? [];
  const look = (pid: number): MountState => {
    const inside = readMounts(pid);
    if (inside === undefined) return "gone";
    // Of several mounts in one place the last one is on top.
    const top = new Map(inside.map((mount) => [mount.at, mount]));
    // It is made with the others, under another name until all are.
    if (!top.has(SIGN)) return "pending";
    const isRight = planned.every(({ source, at }) => {
      const mount = top.get(at);
      if (mount === undefined) return false;
      return source === undefined ? mount.root === "/" : isSame(mount, source, outside);
    });
    return isRight ? "right" : "wrong";
  };
  return (pid) => {
    const state = look(pid);
    // The list is read in pieces, and mounts may get their names between two of them.
    return state === "wrong" ? look(pid) : state;
  };
}

const SIGN = "/proc/1";

interface Planned {
  /** Undefined for an empty file system. */
  readonly source: string | undefined;
  readonly at: string;
}

/** The mounts of paths that others may write around; the rest is the system's. */
function readPlanned(args: readonly string[]): Planned[] {
  return args.flatMap((flag, index): Planned[] => {
    const [first = "", second = ""] = args.slice(index + 1, index + 3);
    if (flag === "--tmpfs") return [{ source: undefined, at: first }];
    if (flag !== "--bind" && flag !== "--ro-bind") return [];
    return second === "/" ? [] : [{ source: first, at: second }];
  });
}

interface Mount {
  readonly device: string;
  /** Where in its file system it begins. */
  readonly root: string;
  readonly at: string;
}

function readMounts(pid: number | "self"): Mount[] | undefined {
  try {
    const lines = readFileSync(`/proc/${pid}/mountinfo`, "utf8").split("\n").filter(Boolean);
    return lines.map((line) => {
      const [, , device = "", root = "", at = ""] = line.split(" ");
      return { device, root: unescape(root), at: unescape(at) };
    });
  } catch {
    return undefined;
  }
}

function unescape(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

/** By any mount outside that the path may be in: one can hide another. */
function isSame({ device, root }: Mount, source: string, outside: readonly Mount[]): boolean {
  return outside.some((around) => {
    if (around.device !== device || !isWithin(around.at, source)) return false;
    const rest = source.slice(around.at === "/" ? 0 : around.at.length);
    return root === (around.root === "/" ? rest || "/" : around.root + rest);
  });
}
