// Who holds a lock, written down so that another process can tell whether the holder still lives: a
// process id is reused, so its start time, the boot and the process namespace belong to it.

import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isProcessAlive } from "../process/index.ts";

export interface LockHolder {
  pid: number;
  /** Clock ticks since boot; null where the system does not say, as for the next two. */
  started: string | null;
  boot_id: string | null;
  pid_namespace: string | null;
  host: string;
  /** Different for every acquisition. */
  nonce: string;
  /** What it is the lock of; none in the records of older versions. */
  path?: string;
}

export function thisHolder(): LockHolder {
  ownIdentity ??= readOwnIdentity();
  return { ...ownIdentity, nonce: randomBytes(16).toString("hex") };
}

/**
 * Alive or dead where that can be known: in this boot and process namespace, or, without /proc, on this
 * host. Anything else (a container beside us, another machine on the same disk) is foreign.
 */
export function checkLife(holder: LockHolder): "alive" | "dead" | "foreign" {
  if (holderPlace(holder) !== holderPlace(thisHolder())) return "foreign";
  if (!isProcessAlive(holder.pid)) return "dead";
  const seen = processState(holder.pid);
  if (seen === undefined || holder.started === null) return "alive";
  return seen.started === holder.started && seen.state !== "Z" && seen.state !== "X"
    ? "alive"
    : "dead";
}

export function parseHolder(text: string): LockHolder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isHolder(value) ? value : undefined;
}

/** Where its process id means something. */
function holderPlace({ boot_id, pid_namespace, host }: LockHolder): string {
  return boot_id === null || pid_namespace === null
    ? `host ${host}`
    : `${boot_id} ${pid_namespace}`;
}

let ownIdentity: Omit<LockHolder, "nonce"> | undefined;

function readOwnIdentity(): Omit<LockHolder, "nonce"> {
  return {
    pid: process.pid,
    started: processState(process.pid)?.started ?? null,
    boot_id: read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    pid_namespace: read(() => readlinkSync("/proc/self/ns/pid")),
    host: hostname(),
  };
}

/** Fields 3 (state) and 22 (start time) of proc(5); field 2 is a name that may hold anything. */
function processState(pid: number): { state: string; started: string } | undefined {
  const text = read(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  const [state, ...rest] = text?.slice(text.lastIndexOf(")") + 2).split(" ") ?? [];
  const started = rest[18];
  return state === undefined || started === undefined ? undefined : { state, started };
}

/** Null where the system does not have it. */
function read(from: () => string): string | null {
  try {
    return from();
  } catch {
    return null;
  }
}

export function isHolder(value: unknown): value is LockHolder {
  if (typeof value !== "object" || value === null) return false;
  const holder = value as Partial<Record<keyof LockHolder, unknown>>;
  return (
    Number.isSafeInteger(holder.pid) &&
    (holder.pid as number) > 0 &&
    [holder.started, holder.boot_id, holder.pid_namespace].every(
      (known) => known === null || typeof known === "string",
    ) &&
    typeof holder.host === "string" &&
    typeof holder.nonce === "string" &&
    /^[0-9a-f]{32}$/.test(holder.nonce) &&
    (holder.path === undefined || typeof holder.path === "string")
  );
}
