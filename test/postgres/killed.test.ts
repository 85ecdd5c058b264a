import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, realpathSync, symlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { NODE_BUNDLE } from "../node-bundle.ts";
import { needsPostgres } from "./shared.ts";

const PROGRAM = `
import { startPostgres } from "./server.ts";
const server = await startPostgres();
console.log(server.url);
await new Promise((resolve) => process.stdin.once("end", resolve).resume());
await server.stop();
`;
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** With the program in it; temporary directories of its processes are in `tmp-…`. */
let folder: string;

beforeAll(async () => {
  folder = realpathSync(await mkdtemp(join(tmpdir(), "soong-postgres-killed-")));
  chmodSync(folder, 0o755);
  await build({
    ...NODE_BUNDLE,
    stdin: { contents: PROGRAM, resolveDir: here("."), loader: "ts" },
    outfile: join(folder, "program.mjs"),
    external: ["pg"],
  });
  symlinkSync(here("../../node_modules"), join(folder, "node_modules"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(isRoot ? ["root", "an ordinary user"] : ["an ordinary user"])(
  "started by %s",
  (who) => {
    test("a server ends with its program", async () => {
      await needsPostgres();
      const { child, tmp } = await startProgram(who);
      const url = await readUrl(child);
      expect(await tryToConnect(url)).toBe("connected");
      child.stdin?.end();
      expect(await once(child, "close")).toEqual([0, null]);
      expect(await tryToConnect(url)).toBe("ECONNREFUSED");
      expect(readdirSync(tmp)).toEqual([]);
    });

    test("a server ends when its program is killed", async () => {
      await needsPostgres();
      const { child, tmp } = await startProgram(who);
      const url = await readUrl(child);
      expect(await tryToConnect(url)).toBe("connected");
      child.kill("SIGKILL");
      await vi.waitFor(() => expect(readdirSync(tmp)).toEqual([]), WAIT);
      expect(await tryToConnect(url)).toBe("ECONNREFUSED");
    });

    test("a program killed while the server is made leaves nothing", async () => {
      await needsPostgres();
      const { child, tmp } = await startProgram(who);
      const data = await vi.waitFor(() => {
        const [name] = readdirSync(tmp);
        const path = join(tmp, String(name), "data");
        expect(existsSync(path)).toBe(true);
        return path;
      }, WAIT);
      child.kill("SIGKILL");
      await vi.waitFor(() => expect(readdirSync(tmp)).toEqual([]), WAIT);
      expect(existsSync(data)).toBe(false);
    });
  },
);

const WAIT = { timeout: 30_000, interval: 20 };

async function startProgram(who: string): Promise<{ child: ChildProcess; tmp: string }> {
  const tmp = await mkdtemp(join(folder, "tmp-"));
  chmodSync(tmp, 0o777);
  const child = spawn(process.execPath, [join(folder, "program.mjs")], {
    cwd: folder,
    env: { ...process.env, TMPDIR: tmp },
    stdio: ["pipe", "pipe", "inherit"],
    ...(isRoot && who !== "root" ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, tmp };
}

async function readUrl({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("a process without pipes");
  const [line] = (await once(stdout.setEncoding("utf8"), "data")) as [string];
  return line.trim();
}

async function tryToConnect(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.end();
    return "connected";
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
