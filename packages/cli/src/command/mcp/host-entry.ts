// The entry of a server in the file of another program, replaced by one that starts Soong, and put back. Comments and layout
// of the rest of that file stay; a form that cannot be changed safely is left to the user.

import { chmod, realpath, stat } from "node:fs/promises";
import { messageOf } from "@soong/core";
import { editJson, editTomlTable, writeTomlValue, writeWholeFile } from "@soong/platform";
import { CommandError } from "../../output/index.ts";
import {
  readHostText,
  TRANSPORT_KEYS,
  type HostServer,
  type ServerEntry,
} from "../../runtime/host-servers.ts";
import type { WrappedEntry } from "./wrapped.ts";

export function isGateway(entry: ServerEntry): boolean {
  return /"mcp","serve"(?:,|\])/.test(JSON.stringify([entry["command"], entry["args"]].flat()));
}

export interface GatewayCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** `after`: the whole file; undefined where only the user can change it. `shown`: the entry alone. */
export function replaceEntry(
  { host, entry, path, format }: HostServer,
  text: string,
  { command, args, env }: GatewayCommand,
): { after: string | undefined; shown: string } {
  const kept = Object.entries(entry).filter(([key]) => !TRANSPORT_KEYS.includes(key));
  const own =
    host === "opencode"
      ? { type: "local", command: [command, ...args], ...(env && { environment: env }) }
      : {
          ...((host === "claude-code" || host === "vscode") && { type: "stdio" }),
          command,
          args,
          ...(env && { env }),
        };
  if (format === "toml") {
    const lines = Object.entries(own).map(([key, value]) => `${key} = ${writeTomlValue(value)}`);
    return {
      after: editTomlTable(text, { table: path, remove: TRANSPORT_KEYS, set: own }),
      shown: [
        `[${path.map((step) => (/^[\w-]+$/.test(String(step)) ? step : JSON.stringify(step))).join(".")}]`,
        ...lines,
      ].join("\n"),
    };
  }
  const next = { ...own, ...Object.fromEntries(kept) };
  return { after: editJson(text, path, next), shown: JSON.stringify(next, undefined, 2) };
}

/** The entry as it was: its lines, or its value where those around it have changed since. */
export function putBack(
  { lines, path, entry, file }: WrappedEntry,
  text: string,
): string | undefined {
  const [head, tail, ...more] = text.split(lines.after);
  if (head !== undefined && tail !== undefined && more.length === 0)
    return head + lines.before + tail;
  if (file.endsWith(".toml")) return undefined;
  try {
    return editJson(text, path, entry);
  } catch {
    return undefined;
  }
}

/** Another program may write its file at any time. */
export async function writeIfSame(
  file: string,
  before: string,
  after: string,
  { backup = false }: { readonly backup?: boolean } = {},
): Promise<void> {
  // A link stays a link.
  const place = await realpath(file);
  if ((await readHostText(place)) !== before) {
    throw new CommandError(
      `${file} was changed in the meantime; nothing was written to it. Try again.`,
    );
  }
  try {
    if (backup) await writeWholeFile(`${place}.before-soong`, before);
    const { mode } = await stat(place);
    await writeWholeFile(place, after);
    // Who could read it still can.
    await chmod(place, mode & 0o777);
  } catch (error) {
    throw new CommandError(`${messageOf(error)}. Nothing was changed there.`);
  }
}

/** Whole lines, with nothing around them that is the same. */
export function differingLines(before: string, after: string): WrappedEntry["lines"] {
  const old = before.split(/(?<=\n)/);
  const now = after.split(/(?<=\n)/);
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  return {
    before: old.slice(start, old.length - end).join(""),
    after: now.slice(start, now.length - end).join(""),
  };
}
