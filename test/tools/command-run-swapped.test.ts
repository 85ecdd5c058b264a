// A proven command opens the names in its arguments itself. Here another process swaps such a name for a link to a
// secret after the judgement and swaps it back: at the worst moment, not by chance.

import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createHeldClock, createMemoryArtifacts, type PermissionRule } from "@soong/core";
import { startProcess, type ProcessEnd } from "@soong/platform";
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { ALLOW_READ_ONLY, openStage, textOf, until, type Stage } from "./command-stage.ts";

type Start = typeof startProcess;

const SECRET = "swordfish\n";

let stage: Stage | undefined;
afterEach(() => stage?.close());

interface Interference {
  /** Right before the process starts; `start` counts from 1. */
  readonly before?: (start: number) => void;
  /** Right after it has ended. */
  readonly after?: (start: number) => void;
}

async function open(interference: Interference, ...rules: PermissionRule[]) {
  const artifacts = createMemoryArtifacts();
  let starts = 0;
  const interfered: Start = (options) => {
    starts += 1;
    const start = starts;
    interference.before?.(start);
    const running = startProcess(options);
    return { ...running, end: running.end.finally(() => interference.after?.(start)) };
  };
  stage = await openStage({
    rules: [...ALLOW_READ_ONLY, ...rules],
    tool: () => ({ startProcess: interfered }),
    session: { artifacts },
  });
  const { base, write, facts } = stage;
  write("src/f", "harmless\n");
  write("g", "harmless too\n");
  mkdirSync(join(base, "outside"));
  writeFileSync(join(base, "outside/f"), SECRET);
  return {
    ...stage,
    starts: () => starts,
    /** Everything the model, a user or a program could read afterwards. */
    async kept() {
      const texts = artifacts.list().map(async ({ artifact_id }) => {
        return Buffer.from((await artifacts.read(artifact_id)) ?? []).toString();
      });
      return JSON.stringify(facts) + (await Promise.all(texts)).join("\n");
    },
  };
}

function swap(path: string, target: string): void {
  renameSync(path, `${path}.away`);
  symlinkSync(target, path);
}

function swapBack(path: string): void {
  rmSync(path);
  renameSync(`${path}.away`, path);
}

/** The name that is swapped, relative to the project, and where the link leads, relative to its parent. */
const SWAPS: [what: string, argv: string[], name: string, target: string][] = [
  ["the file itself", ["cat", "src/f"], "src/f", "outside/f"],
  ["a directory on the way", ["cat", "src/f"], "src", "outside"],
  ["one file of several", ["head", "-n", "5", "g", "src/f"], "src/f", "outside/f"],
  ["the target of a link", ["cat", "link"], "src/f", "outside/f"],
  ["a link between links", ["cat", "link-to-link"], "link", "outside/f"],
  ["a directory that is searched", ["ls", "src"], "src", "outside/names"],
  ["the value of an option", ["find", "g", "-newer", "src/f"], "src/f", "outside/f"],
];

describe("a name that is swapped for a link while a proven command runs", () => {
  test.each(SWAPS)("%s: nothing of the output is shown", async (_, argv, name, target) => {
    verifies("CMD-4", "PATH-1");
    const place = (): string => join(opened.project, name);
    const opened = await open({
      before: () => swap(place(), join(opened.base, target)),
      after: () => swapBack(place()),
    });
    symlinkSync("src/f", join(opened.project, "link"));
    symlinkSync("link", join(opened.project, "link-to-link"));
    mkdirSync(join(opened.base, "outside/names"));
    writeFileSync(join(opened.base, "outside/names/swordfish"), "");
    const result = await opened.command(argv);
    expect(result.error).toMatchObject({
      code: "changed_while_reading",
      retryable: true,
      recovery: "retry",
    });
    expect(opened.starts()).toBe(3);
    expect(JSON.stringify(result) + (await opened.kept())).not.toContain("swordfish");
  });

  test("the working directory: nothing of the output is shown", async () => {
    verifies("CMD-4", "PATH-1");
    const opened = await open({
      before: () => swap(join(opened.project, "src"), join(opened.base, "outside")),
      after: () => swapBack(join(opened.project, "src")),
    });
    const result = await opened.command(["cat", "f"], { cwd: "src" });
    expect(result.error?.code).toBe("changed_while_reading");
    expect(JSON.stringify(result) + (await opened.kept())).not.toContain("swordfish");
  });

  test("output that is too long for a result leaves no artifact", async () => {
    verifies("CMD-4", "PATH-1");
    const opened = await open({
      before: () => swap(join(opened.project, "src/f"), join(opened.base, "outside/f")),
      after: () => swapBack(join(opened.project, "src/f")),
    });
    writeFileSync(join(opened.base, "outside/f"), SECRET.repeat(100_000));
    const result = await opened.command(["cat", "src/f"]);
    expect(result.error?.code).toBe("changed_while_reading");
    expect(result.artifacts).toEqual([]);
    const ofCall = opened.facts.filter(({ tool_call_id }) => tool_call_id === result.tool_call_id);
    expect(ofCall.map(({ type }) => type)).not.toContain("artifact.created");
    expect(JSON.stringify(result) + (await opened.kept())).not.toContain("swordfish");
  });

  test("swapped once, the second run shows the file that was judged", async () => {
    verifies("CMD-4", "PATH-1");
    const opened = await open({
      before: (start) => {
        if (start === 1) swap(join(opened.project, "src/f"), join(opened.base, "outside/f"));
      },
      after: (start) => {
        if (start === 1) swapBack(join(opened.project, "src/f"));
      },
    });
    const result = await opened.command(["cat", "src/f"]);
    expect(textOf(result)).toBe("harmless");
    expect(opened.starts()).toBe(2);
    expect(JSON.stringify(result) + (await opened.kept())).not.toContain("swordfish");
  });

  test("left as a link, it is judged again before the second run, which never starts", async () => {
    verifies("CMD-4", "PATH-1");
    const opened = await open({
      before: () => swap(join(opened.project, "src/f"), join(opened.base, "outside/f")),
    });
    const result = await opened.command(["cat", "src/f"]);
    expect(result.error?.code).toBe("changed_since_approval");
    expect(opened.starts()).toBe(1);
    expect(JSON.stringify(result) + (await opened.kept())).not.toContain("swordfish");
  });

  test("left as a link to a path that a rule denies, the same", async () => {
    verifies("CMD-4", "PATH-1", "PERM-15");
    const opened = await open(
      { before: () => swap(join(opened.project, "g"), "denied/f") },
      { path: "denied/**", decision: "deny" },
    );
    opened.write("denied/f", SECRET);
    const result = await opened.command(["cat", "g"]);
    expect(result.error?.code).toBe("changed_since_approval");
    expect(opened.starts()).toBe(1);
    expect(JSON.stringify(result) + (await opened.kept())).not.toContain("swordfish");
  });

  test("cut short, neither progress nor the partial output shows anything", async () => {
    verifies("CMD-4", "PATH-1", "CMD-5");
    const clock = createHeldClock();
    // A program that has read the secret and does not end.
    const endless: Start = ({ onStdout }) => {
      const place = join(opened.project, "f");
      swap(place, join(opened.base, "secret"));
      void onStdout?.(Buffer.from(SECRET));
      swapBack(place);
      let stopped: (end: ProcessEnd) => void = () => {};
      const end = new Promise<ProcessEnd>((resolve) => {
        stopped = resolve;
      });
      const stop = (why: ProcessEnd["ended_by"]): Promise<ProcessEnd> => {
        const numbers = { duration_ms: 1, leftovers: 0, survivors: 0 };
        stopped({ exit_code: null, signal: "SIGTERM", ended_by: why, ...numbers });
        return end;
      };
      return { pid: 0, refusedHosts: () => [], input: undefined, end, stop };
    };
    const opened = await openStage({
      rules: ALLOW_READ_ONLY,
      clock,
      tool: () => ({ clock, startProcess: endless }),
    });
    stage = opened;
    opened.write("f", "harmless\n");
    const ended = opened.command(["cat", "f"], { timeout_ms: 5000 });
    const progress = () => opened.facts.filter(({ type }) => type === "tool.progress");
    await until(() => progress().length > 0, "the first progress");
    await clock.advance(2000);
    expect(progress().at(-1)?.data).toMatchObject({ data: { stdout_bytes: SECRET.length } });
    await clock.advance(3000);
    const result = await ended;
    expect(result.status).toBe("timed_out");
    expect(JSON.stringify(result) + JSON.stringify(opened.facts)).not.toContain("swordfish");
  });
});

describe("changes that have nothing to do with the names", () => {
  test("a file that appears in the directory once costs one more run", async () => {
    verifies("CMD-4", "PATH-1");
    const opened = await open({
      before: (start) => {
        if (start === 1) opened.write("src/unrelated", "");
      },
    });
    expect(textOf(await opened.command(["cat", "src/f"]))).toBe("harmless");
    expect(opened.starts()).toBe(2);
  });

  test("a file that grows, and changes elsewhere, cost nothing", async () => {
    verifies("CMD-4", "PATH-1");
    const opened = await open({
      before: () => {
        writeFileSync(join(opened.project, "src/f"), "more\n", { flag: "a" });
        opened.write("elsewhere/x", "");
      },
    });
    mkdirSync(join(opened.project, "elsewhere"));
    expect(textOf(await opened.command(["cat", "src/f"]))).toBe("harmless\nmore");
    expect(opened.starts()).toBe(1);
  });
});
