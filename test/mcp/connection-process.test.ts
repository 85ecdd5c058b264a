// A server as a process: what it sees of the environment, where its errors go, and that nothing of it is
// left (MCP-8).

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { McpConnection } from "../../packages/mcp/src/connection/connected-server.ts";
import type { McpTransport } from "../../packages/mcp/src/settings/index.ts";
import { sourceAlias } from "../../scripts/source-alias.mjs";
import { callOptions, connectionWorld, entryFor, plainTransport } from "./connection-world.ts";

const world = connectionWorld();
const root = fileURLToPath(new URL("../..", import.meta.url));

/** Ended and not yet collected counts as gone. */
function isAlive(pid: number): boolean {
  if (!existsSync("/proc/self/stat")) {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  }
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(10);
}

/** The marker its processes are found by, and what keeps bash from taking a pipe for a remote login. */
const OF_EVERY_PROCESS = { SOONG_PROCESS: expect.any(String) as string, SHLVL: "1" };

describe("a server's environment", () => {
  test("is the allowlist and what its entry names, and nothing else", async () => {
    verifies("MCP-8");
    const environment = {
      PATH: `relative:/usr/bin:.:/bin:`,
      HOME: homedir(),
      LANG: "C",
      AWS_SECRET_ACCESS_KEY: "not for servers",
      NODE_OPTIONS: "--no-warnings",
      OWN: "the runtime's",
    };
    const entry = entryFor(plainTransport({}, { OWN: "the entry's", PLAIN: "1" }));
    const server = await world.connection(entry, { environment }).connected();
    const { structuredContent } = await server.callTool(
      { name: "environment", arguments: {} },
      callOptions(),
    );
    expect(structuredContent).toEqual({
      env: {
        PATH: "/usr/bin:/bin",
        HOME: homedir(),
        LANG: "C",
        OWN: "the entry's",
        PLAIN: "1",
        ...OF_EVERY_PROCESS,
      },
      cwd: homedir(),
    });
  });

  test("has the names it is allowed instead, in the folder it is given", async () => {
    verifies("MCP-8");
    const cwd = await world.folder();
    const server = await world
      .plain({}, { environment: { ONE: "1", PATH: "/bin" }, envAllowlist: ["ONE", "TWO"], cwd })
      .connected();
    const { structuredContent } = await server.callTool(
      { name: "environment", arguments: {} },
      callOptions(),
    );
    expect(structuredContent).toEqual({ env: { ONE: "1", ...OF_EVERY_PROCESS }, cwd });
  });
});

describe("a server's standard error", () => {
  test("goes to a log of its owner's alone, with lines that were no messages", async () => {
    verifies("MCP-8");
    const logFile = join(await world.folder(), "logs", "plain.log");
    const connection = world.plain({ noise: true }, { logFile });
    await connection.connected();
    await connection.close();
    const lines = (await readFile(logFile, "utf8")).split("\n");
    // Two pipes: each keeps its order, and neither waits for the other.
    const [messages, others] = [true, false].map((isMessage) =>
      lines.filter((line) => line.startsWith("[not a message]") === isMessage),
    );
    expect(messages).toEqual([
      "[not a message] Listening…",
      "[not a message] { not json",
      "[not a message] [1, 2]",
      "[not a message] [1, 2]",
    ]);
    expect(others).toEqual(["the server has begun", ""]);
    expect((await stat(logFile)).mode & 0o777).toBe(0o600);
  });

  test("is let go where the log cannot be written", async () => {
    const folder = await world.folder();
    await writeFile(join(folder, "precious"), "kept");
    await symlink(join(folder, "precious"), join(folder, "plain.log"));
    const connection = world.plain({}, { logFile: join(folder, "plain.log") });
    await connection.connected();
    await connection.close();
    expect(await readFile(join(folder, "precious"), "utf8")).toBe("kept");
  });
});

describe.each([
  ["in its group", {}],
  ["in a session of its own", { detached: true }],
])("a child of a server, %s,", (_where, input) => {
  test("is gone when the connection is closed, though it would not go", async () => {
    verifies("MCP-8", "CMD-3", "CMD-7");
    const connection = world.plain({ stubborn: true });
    const pid = await startChild(connection, input);
    expect(isAlive(pid)).toBe(true);
    await connection.close();
    expect(isAlive(pid)).toBe(false);
  });

  test("is gone when the server dies", async () => {
    verifies("MCP-8", "CMD-3", "CMD-7");
    const connection = world.plain();
    const pid = await startChild(connection, input);
    const server = await connection.connected();
    await server.callTool({ name: "die", arguments: {} }, callOptions()).catch(() => {});
    await connection.close();
    expect(isAlive(pid)).toBe(false);
  });
});

async function startChild(connection: McpConnection, input: object): Promise<number> {
  const server = await connection.connected();
  const params = { name: "child", arguments: { ...input } };
  const { structuredContent } = await server.callTool(params, callOptions());
  return (structuredContent as { pid: number }).pid;
}

describe("a runtime that is killed leaves nothing behind", () => {
  const stubborn = plainTransport({ stubborn: true });
  const own = stubborn.kind === "stdio" ? [stubborn.command, ...stubborn.args] : [];
  const inSession: McpTransport = {
    kind: "stdio",
    command: "setsid",
    args: ["-w", ...own],
    env: {},
  };

  test.each([
    ["of a server that ignores signals", stubborn, {}],
    ["of a server in a session of its own", inSession, {}],
    ["of what a tool of it forked into a session of its own", stubborn, { detached: true }],
  ])("%s", async (_what, transport, input) => {
    verifies("MCP-8", "CMD-3", "CMD-7");
    const program = join(root, ".cache", `mcp-killed-runtime-${randomUUID()}.mjs`);
    await build({
      stdin: {
        contents: `
          import { openConnection } from ${JSON.stringify(join(root, "packages/mcp/src/connection/open-connection.ts"))};
          const server = await openConnection(${JSON.stringify(entryFor(transport))}).connected();
          const options = { signal: new AbortController().signal, timeoutMs: 60000 };
          const params = { name: "child", arguments: ${JSON.stringify(input)} };
          const child = await server.callTool(params, options);
          console.log(child.structuredContent.pid);
          setInterval(() => {}, 1000);
        `,
        resolveDir: root,
      },
      outfile: program,
      bundle: true,
      format: "esm",
      platform: "node",
      alias: sourceAlias(),
      banner: {
        js: 'import{createRequire as bundleRequire}from"node:module";const require=bundleRequire(import.meta.url);',
      },
      logLevel: "error",
    });
    try {
      const runtime = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
      const [bytes] = (await once(runtime.stdout, "data")) as [Buffer];
      const child = Number(bytes.toString("utf8"));
      const server = Number(readParent(child));
      expect(isAlive(child) && isAlive(server)).toBe(true);
      runtime.kill("SIGKILL");
      await until(() => !isAlive(child) && !isAlive(server));
    } finally {
      await rm(program, { force: true });
    }
  });
});

describe("a server's program", () => {
  test("is never one of the project, on the PATH or by its own name", async () => {
    verifies("MCP-11");
    const project = await world.folder();
    const bin = join(project, "node_modules", ".bin");
    await mkdir(bin, { recursive: true });
    const planted = join(bin, "planted-server");
    const started = join(project, "started");
    await writeFile(planted, `#!/bin/sh\ntouch '${started}'\n`);
    await chmod(planted, 0o755);
    const elsewhere = await world.folder();
    await symlink(planted, join(elsewhere, "linked-server"));
    const environment = { PATH: `${bin}:${elsewhere}:/usr/bin:/bin` };
    const roots = { project, write: [] };
    for (const [command, cwd, why] of [
      ["planted-server", elsewhere, "no directory of PATH has an executable"],
      ["linked-server", elsewhere, `is inside ${project}, where the agent may write`],
      [planted, elsewhere, `is inside ${project}, where the agent may write`],
      ["./node_modules/.bin/planted-server", project, "where the agent may write"],
    ] as const) {
      const entry = entryFor({ kind: "stdio", command, args: [], env: {}, cwd });
      const failed = await world
        .connection(entry, { environment, roots })
        .connected()
        .catch((error: unknown) => error);
      expect(failed).toMatchObject({ reason: "unreachable" });
      expect((failed as Error).message).toContain(why);
    }
    expect(existsSync(started)).toBe(false);
  });

  test("gets a PATH without the project", async () => {
    verifies("MCP-11");
    const project = await world.folder();
    const environment = { PATH: `${project}/node_modules/.bin:/usr/bin:/bin` };
    const server = await world
      .plain({}, { environment, roots: { project, write: [] } })
      .connected();
    const { structuredContent } = await server.callTool(
      { name: "environment", arguments: {} },
      callOptions(),
    );
    expect(structuredContent).toMatchObject({ env: { PATH: "/usr/bin:/bin" } });
  });
});

function readParent(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
}
