// A server as a process: what it sees of the environment, where its errors go, and that nothing of it is
// left (MCP-8).

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
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
      env: { PATH: "/usr/bin:/bin", HOME: homedir(), LANG: "C", OWN: "the entry's", PLAIN: "1" },
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
    expect(structuredContent).toEqual({ env: { ONE: "1" }, cwd });
  });
});

describe("a server's standard error", () => {
  test("goes to a log of its owner's alone, with lines that were no messages", async () => {
    verifies("MCP-8");
    const logFile = join(await world.folder(), "logs", "plain.log");
    const connection = world.plain({ noise: true }, { logFile });
    await connection.connected();
    await connection.close();
    expect(await readFile(logFile, "utf8")).toBe(
      "the server has begun\n[not a message] Listening…\n[not a message] { not json\n[not a message] [1, 2]\n[not a message] [1, 2]\n",
    );
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

describe("when a connection is closed", () => {
  test("its server is gone, and so are children that would not go", async () => {
    verifies("MCP-8");
    const connection = world.plain({ stubborn: true });
    const server = await connection.connected();
    const { structuredContent } = await server.callTool(
      { name: "child", arguments: {} },
      callOptions(),
    );
    const { pid } = structuredContent as { pid: number };
    expect(isAlive(pid)).toBe(true);
    await connection.close();
    expect(isAlive(pid)).toBe(false);
  });
});

test("a server that dies leaves no children behind", async () => {
  verifies("MCP-8");
  const connection = world.plain();
  const server = await connection.connected();
  const { structuredContent } = await server.callTool(
    { name: "child", arguments: {} },
    callOptions(),
  );
  const { pid } = structuredContent as { pid: number };
  await server.callTool({ name: "die", arguments: {} }, callOptions()).catch(() => {});
  await connection.close();
  expect(isAlive(pid)).toBe(false);
});

test("a runtime that is killed leaves no server behind, however stubborn", async () => {
  verifies("MCP-8");
  const program = join(root, ".cache", `mcp-killed-runtime-${process.pid}.mjs`);
  const rooms = JSON.stringify(join(root, "packages/mcp/src/connection/index.ts"));
  const entry = JSON.stringify(entryFor(plainTransport({ stubborn: true })));
  const watchdog = JSON.stringify(join(root, "packages/mcp/src/connection/watchdog.ts"));
  await build({
    stdin: {
      contents: `
        import { openConnection } from ${rooms};
        import { watchGroup } from ${watchdog};
        const server = await openConnection(${entry}).connected();
        const options = { signal: new AbortController().signal, timeoutMs: 60000 };
        const child = await server.callTool({ name: "child", arguments: {} }, options);
        // That one group is gone already saves nobody who is not.
        watchGroup(2 ** 22 + 1);
        console.log(child.structuredContent.pid);
        setInterval(() => {}, 1000);
      `,
      resolveDir: root,
    },
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    alias: { "@soong/core": join(root, "packages/core/src/index.ts") },
    logLevel: "error",
  });
  try {
    const runtime = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
    const [bytes] = (await once(runtime.stdout, "data")) as [Buffer];
    const child = Number(bytes.toString("utf8"));
    const group = Number(readParent(child));
    expect(isAlive(child) && isAlive(group)).toBe(true);
    runtime.kill("SIGKILL");
    await until(() => !isAlive(child) && !isAlive(group));
  } finally {
    await rm(program, { force: true });
  }
});

function readParent(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
}
