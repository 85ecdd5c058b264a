// Which definition of a tool the user has allowed (MCP-7): pinned by hash with the first call that was
// allowed, so that a server cannot change afterwards what was agreed to.

import { createHash } from "node:crypto";
import { canonicalJson } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { readJsonFile, withFileLock, writeWholeFile } from "@soong/platform";
import type { ServerTool } from "./list-tools.ts";
import { safeLine } from "./safe-text.ts";

/** Where the pins are kept. `load` answers undefined when nothing was ever saved. */
export interface PinStorage {
  load(): Promise<unknown>;
  save(pins: PinRecord): Promise<void>;
  /** Keeps others from changing them meanwhile; where there are no others it is not needed. */
  alone?(work: () => Promise<void>): Promise<void>;
}

export interface PinRecord {
  readonly version: 1;
  /** By server id, then by the server's name for its tool. */
  readonly servers: Readonly<Record<string, Readonly<Record<string, Pin>>>>;
}

export interface Pin {
  readonly hash: string;
  /** As it was, so that a change can be shown. */
  readonly definition: ServerTool;
}

export type PinState =
  | { readonly kind: "unpinned" | "same" }
  | { readonly kind: "changed"; readonly changes: readonly string[] };

export interface Pins {
  check(server_id: string, tool: ServerTool): PinState;
  /** Pins what is not pinned yet. Rejects when that cannot be kept, or another definition is. */
  allow(server_id: string, tool: ServerTool): Promise<void>;
  /** From now on these are the definitions that are allowed. */
  accept(server_id: string, tools: readonly ServerTool[]): Promise<void>;
}

/** Rejects on pins that cannot be read: without them no one knows what was allowed. */
export async function createPins(storage: PinStorage): Promise<Pins> {
  let known = readPins(await storage.load());
  let turn: Promise<void> = Promise.resolve();

  return { check, allow, accept };

  function check(server_id: string, tool: ServerTool): PinState {
    const pin = findPin(known, server_id, tool.name);
    if (pin === undefined) return { kind: "unpinned" };
    if (pin.hash === definitionHash(tool)) return { kind: "same" };
    return { kind: "changed", changes: describeChange(pin.definition, tool) };
  }

  async function allow(server_id: string, tool: ServerTool): Promise<void> {
    if (check(server_id, tool).kind === "same") return;
    await update((pins) => {
      const pin = findPin(pins, server_id, tool.name);
      if (pin === undefined) return withPins(pins, server_id, [tool]);
      if (pin.hash === definitionHash(tool)) return undefined;
      throw new Error(`another definition of ${tool.name} was allowed meanwhile`);
    });
  }

  function accept(server_id: string, tools: readonly ServerTool[]): Promise<void> {
    return update((pins) => withPins(pins, server_id, tools));
  }

  /** One after the other, each on what is saved by then: other processes pin, too. */
  function update(change: (pins: PinRecord) => PinRecord | undefined): Promise<void> {
    const apply = async (): Promise<void> => {
      known = readPins(await storage.load());
      const next = change(known);
      if (next === undefined) return;
      await storage.save(next);
      known = next;
    };
    const done = turn.then(() => storage.alone?.(apply) ?? apply());
    turn = done.catch(() => {});
    return done;
  }
}

const ABOUT = "It holds which definitions of MCP tools were allowed; delete it to begin again";
/** Longer than the definitions of all servers are looked at. */
const WAIT_MS = 150_000;

/** In the user's home: readable by its owner alone, whole at any moment, and changed by one process at a time. */
export function openPinFile(path: string): PinStorage {
  return {
    load: () => readJsonFile(path, ABOUT),
    save: (pins) => writeWholeFile(path, `${JSON.stringify(pins, undefined, 1)}\n`),
    alone: (work) => withFileLock(path, { waitMs: WAIT_MS }, work),
  };
}

/** Over all that a model or the user sees of the tool. */
export function definitionHash(tool: ServerTool): string {
  const known = hashes.get(tool);
  if (known !== undefined) return known;
  const { name, title, description, input_schema, output_schema, annotations } = tool;
  const shown = { name, title, description, input_schema, output_schema, annotations };
  // As `digestOf` of the kernel, on the faster hash of Node: a server may have thousands of tools.
  const hash = `sha256:${createHash("sha256").update(canonicalJson(shown)).digest("hex")}`;
  hashes.set(tool, hash);
  return hash;
}

const hashes = new WeakMap<ServerTool, string>();

function findPin(pins: PinRecord, server_id: string, name: string): Pin | undefined {
  const server = Object.hasOwn(pins.servers, server_id) ? pins.servers[server_id] : undefined;
  return server !== undefined && Object.hasOwn(server, name) ? server[name] : undefined;
}

function withPins(pins: PinRecord, server_id: string, tools: readonly ServerTool[]): PinRecord {
  const own = Object.entries(pins.servers[server_id] ?? {});
  const added = tools.map((tool): [string, Pin] => [
    tool.name,
    { hash: definitionHash(tool), definition: tool },
  ]);
  // Built from entries: a tool may be called __proto__.
  const server = Object.fromEntries([...own, ...added]);
  const others = Object.entries(pins.servers).filter(([id]) => id !== server_id);
  return { version: 1, servers: Object.fromEntries([...others, [server_id, server]]) };
}

function readPins(given: unknown): PinRecord {
  if (given === undefined) return { version: 1, servers: {} };
  const problem = pinsProblem(given);
  if (problem === undefined) return given as PinRecord;
  throw new Error(`the pins of MCP tools cannot be read: ${problem}`);
}

function pinsProblem(given: unknown): string | undefined {
  if (!isJsonObject(given) || given["version"] !== 1) return "they are not of version 1";
  const { servers } = given;
  if (!isJsonObject(servers)) return "servers is not an object";
  for (const [server_id, tools] of Object.entries(servers)) {
    if (!isJsonObject(tools)) return `servers.${server_id} is not an object`;
    for (const [name, pin] of Object.entries(tools)) {
      if (!isPin(pin)) return `servers.${server_id}.${name} is not a pin`;
    }
  }
  return undefined;
}

function isPin(pin: unknown): boolean {
  if (!isJsonObject(pin) || typeof pin["hash"] !== "string") return false;
  const { definition } = pin;
  return isJsonObject(definition) && isJsonObject(definition["input_schema"]);
}

const MAX_LINES = 40;
const MAX_DEPTH = 64;
const SHOWN_CHARS = 160;
const AROUND_CHARS = 40;

/** One line for each change; empty when nothing did. */
export function describeChange(before: ServerTool, after: ServerTool): readonly string[] {
  const lines: string[] = [];
  let more = 0;
  compare("", before, after, 0);
  return more === 0 ? lines : [...lines, `and ${more} more`];

  function say(line: string): void {
    if (lines.length < MAX_LINES) lines.push(safeLine(line, 1_000));
    else more += 1;
  }

  function compare(path: string, old: unknown, now: unknown, depth: number): void {
    if (Object.is(old, now)) return;
    if (old === undefined) return say(`${path} was added: ${renderValue(now)}`);
    if (now === undefined) return say(`${path} was removed: ${renderValue(old)}`);
    if (isJsonObject(old) && isJsonObject(now) && depth < MAX_DEPTH) {
      for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
        compare(path === "" ? key : `${path}.${key}`, own(old, key), own(now, key), depth + 1);
      }
      return undefined;
    }
    const oldText = canonicalJson(old);
    const nowText = canonicalJson(now);
    if (oldText === nowText) return undefined;
    const { from, to } = differing(oldText, nowText);
    return say(`${path} was changed: ${from} became ${to}`);
  }
}

function own(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

function renderValue(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`;
}

/** The part that differs, with a little around it: a change may sit at the end of a long text. */
function differing(old: string, now: string): { from: string; to: string } {
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const from = Math.max(0, start - AROUND_CHARS);
  const after = Math.max(0, end - AROUND_CHARS);
  return { from: excerpt(old), to: excerpt(now) };

  function excerpt(text: string): string {
    const part = text.slice(from, text.length - after);
    const cut = part.length <= 2 * SHOWN_CHARS ? part : `${part.slice(0, 2 * SHOWN_CHARS)}…`;
    return `${from > 0 ? "…" : ""}${cut}${after > 0 ? "…" : ""}`;
  }
}
