// A host and the program it serves itself from: `soong mcp serve` in a process of its own, as a host starts it, and
// what it left on record.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { openStore } from "@soong/store";
import type { Fact } from "@soong/core";
import { expect, onTestFinished, vi } from "vitest";
import { listLiveRuntimes } from "@soong/control";
import { environment, type CliBundle, type Place } from "./cli-bundle.ts";

export const WAIT = { timeout: 20_000, interval: 20 };

export interface ServedOverStdio {
  readonly transport: StdioClientTransport;
  /** What it has said to users so far. */
  readonly notes: () => string;
}

export function stdioOf(
  { program }: CliBundle,
  place: Place,
  args: readonly string[] = [],
): ServedOverStdio {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, "mcp", "serve", ...args],
    cwd: place.project,
    env: environment(place.home),
    stderr: "pipe",
  });
  let notes = "";
  (transport.stderr as Readable).on("data", (bytes: Buffer) => {
    notes += bytes.toString();
  });
  onTestFinished(() => transport.close());
  return { transport, notes: () => notes };
}

/** Every fact of the one session there is: a host may start the program once more, only to look at it, and leaves none. */
export async function factsOf({ home }: Place): Promise<readonly Fact[]> {
  const store = await openStore({ directory: home });
  try {
    const [used, ...more] = await store.sessions();
    if (used === undefined || more.length > 0)
      throw new Error(`${more.length + 1} sessions, or none`);
    const reader = await store.readSession(used.session_id);
    return await reader.facts({ after: 0, limit: 10_000 });
  } finally {
    await store.close();
  }
}

export interface SecondTerminal {
  /** The next record of an event; others that come before it are kept. */
  next(event: string): Promise<Record<string, unknown>>;
  answer(answer: object): void;
  readonly exitCode: Promise<number | null>;
}

/** `soong attach --json` in a process of its own, once it would be asked. */
export async function secondTerminal(
  { program }: CliBundle,
  { home, project }: Place,
  // The clients of the gateway are one who may answer; this is the other.
  attendants = 2,
): Promise<SecondTerminal> {
  await vi.waitFor(async () => expect((await listLiveRuntimes(home)).live).toHaveLength(1), WAIT);
  const child = spawn(process.execPath, [program, "attach", "--json"], {
    cwd: project,
    env: environment(home),
    stdio: ["pipe", "pipe", "inherit"],
  });
  // It may have ended when it is written to.
  child.stdin.on("error", () => {});
  onTestFinished(() => void child.kill("SIGKILL"));
  const exitCode = once(child, "close").then(([code]) => code as number | null);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const kept: Record<string, unknown>[] = [];
  const terminal: SecondTerminal = {
    exitCode,
    async next(event) {
      for (;;) {
        const at = kept.findIndex((record) => record["event"] === event);
        const [found] = at === -1 ? [] : kept.splice(at, 1);
        if (found !== undefined) return found;
        const line = await lines.next();
        if (line.done === true) throw new Error(`it ended before it said "${event}"`);
        kept.push(JSON.parse(line.value) as Record<string, unknown>);
      }
    },
    answer: (answer) => void child.stdin.write(`${JSON.stringify(answer)}\n`),
  };
  await terminal.next("attached");
  await vi.waitFor(async () => {
    const { live } = await listLiveRuntimes(home);
    expect(live[0]?.hello.attendants).toBe(attendants);
  }, WAIT);
  return terminal;
}
