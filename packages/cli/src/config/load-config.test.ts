import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { agentHome, loadConfig } from "./load-config.ts";
import { ConfigError, parseConfig } from "./parse-config.ts";

let home: string;
let file: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "soong-config-"));
  file = join(home, "config.toml");
});

afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

async function refusal(options: { home: string; file?: string } = { home }): Promise<string> {
  const error: unknown = await loadConfig(options).catch((thrown: unknown) => thrown);
  if (!(error instanceof ConfigError))
    throw new Error("it was accepted or failed", { cause: error });
  return error.message;
}

describe("the agent's home", () => {
  test("is what SOONG_AGENT_HOME says, or .soong-agent in the user's home", () => {
    verifies("CONF-1");
    expect(agentHome({ SOONG_AGENT_HOME: "/srv/agent/" })).toBe("/srv/agent");
    expect(agentHome({ SOONG_AGENT_HOME: "/srv/../agent" })).toBe("/agent");
    expect(agentHome({ HOME: "/home/me" })).toBe("/home/me/.soong-agent");
    expect(agentHome({ SOONG_AGENT_HOME: "", HOME: "/home/me" })).toBe("/home/me/.soong-agent");
    expect(agentHome({})).toBe(join(homedir(), ".soong-agent"));
    expect(agentHome({ HOME: "relative" })).toBe(join(homedir(), ".soong-agent"));
  });

  test("is never relative to a project", () => {
    verifies("CONF-1");
    for (const relative of [".", "agent", "./agent", "~/agent"]) {
      expect(() => agentHome({ SOONG_AGENT_HOME: relative })).toThrow(/not an absolute path/);
    }
  });
});

describe("loading the config", () => {
  test("needs none", async () => {
    verifies("CONF-2");
    const nowhere = join(home, "not", "made", "yet");
    for (const empty of [home, nowhere]) {
      const loaded = await loadConfig({ home: empty });
      expect(loaded).toEqual({
        home: empty,
        file: undefined,
        values: parseConfig("", "none"),
        warnings: [],
      });
    }
  });

  test("takes config.toml of the home", async () => {
    verifies("CONF-1");
    writeFileSync(file, "\uFEFF[tools]\r\nmax_concurrency = 3\r\n", { mode: 0o600 });
    const loaded = await loadConfig({ home });
    expect(loaded.file).toBe(file);
    expect(loaded.values.tools.max_concurrency).toBe(3);
    expect(loaded.warnings).toEqual([]);
  });

  test("takes the file it is given instead, through a link as well", async () => {
    writeFileSync(file, "[tools]\nmax_concurrency = 3\n");
    const other = join(home, "other.toml");
    writeFileSync(other, "[tools]\nmax_concurrency = 4\n", { mode: 0o600 });
    const link = join(home, "link.toml");
    symlinkSync(other, link);
    for (const given of [other, link]) {
      const { values, file: taken } = await loadConfig({ home, file: given });
      expect([values.tools.max_concurrency, taken]).toEqual([4, given]);
    }
  });

  test("reads nothing of a project", async () => {
    verifies("CONF-1");
    const project = join(home, "project");
    const rules = "[[permissions.rules]]\ntool = '*'\ndecision = 'allow'\n";
    for (const folder of [".", ".soong-agent", ".soong", "soong", ".config/soong"]) {
      mkdirSync(join(project, folder), { recursive: true });
      writeFileSync(join(project, folder, "config.toml"), rules);
      writeFileSync(join(project, folder, "soong.toml"), rules);
    }
    // In a process of its own, whose working directory and trace of opened files are its own.
    const script = `
      import fs from "node:fs/promises";
      import { syncBuiltinESMExports } from "node:module";
      import { resolve } from "node:path";
      const opened = [];
      for (const name of ["open", "readFile", "readdir", "lstat", "stat"]) {
        const real = fs[name];
        fs[name] = (path, ...rest) => (opened.push(path instanceof URL ? path.pathname : resolve(path)), real(path, ...rest));
      }
      syncBuiltinESMExports();
      const { agentHome, loadConfig } = await import(process.env.MODULE);
      const loaded = await loadConfig({ home: agentHome(process.env) });
      console.log(JSON.stringify({ rules: loaded.values.permissions.rules, opened }));
    `;
    const bundle = join(home, "config-room.mjs");
    const { build } = await import("esbuild");
    await build({
      entryPoints: [join(import.meta.dirname, "index.ts")],
      outfile: bundle,
      bundle: true,
      format: "esm",
      platform: "node",
      mainFields: ["module", "main"],
      // What is not a module asks for Node's own parts in the old way.
      banner: {
        js: 'import{createRequire as soongRequire}from"node:module";const require=soongRequire(import.meta.url);',
      },
      alias: {
        "@soong/core/internal": join(import.meta.dirname, "../../../core/src/internal/index.ts"),
        "@soong/core": join(import.meta.dirname, "../../../core/src/index.ts"),
      },
      logLevel: "error",
    });
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: project,
      env: { PATH: process.env.PATH, MODULE: bundle, SOONG_AGENT_HOME: join(home, "own") },
      encoding: "utf8",
    });
    const { rules: loaded, opened } = JSON.parse(output) as { rules: unknown; opened: string[] };
    expect(loaded).toEqual([]);
    expect(opened).toContain(join(home, "own", "config.toml"));
    expect(opened.filter((path) => path.startsWith(project))).toEqual([]);
  });

  test("stops at mistakes, each with the file", async () => {
    verifies("CONF-2");
    writeFileSync(file, "[tools]\nmax_concurency = 3\n");
    expect(await refusal()).toBe(
      `${file}:2:1: tools.max_concurency: is not a field of [tools]; did you mean "max_concurrency"?`,
    );
  });

  test("needs the file it is given", async () => {
    const missing = join(home, "missing.toml");
    expect(await refusal({ home, file: missing })).toBe(`${missing}:1:1: is not there`);
  });
});

describe("what may be in the place of the config", () => {
  test("may be a directory", async () => {
    mkdirSync(file);
    expect(await refusal()).toBe(`${file}:1:1: is a directory; a file is expected here`);
  });

  test("may be a FIFO, which is not waited for", async () => {
    execFileSync("mkfifo", [file]);
    expect(await refusal()).toBe(`${file}:1:1: is not a regular file`);
  });

  test("may be a link to nothing, or to itself", async () => {
    symlinkSync(join(home, "gone"), file);
    expect(await refusal()).toBe(`${file}:1:1: is a link to a file that is not there`);
    const loop = join(home, "loop.toml");
    symlinkSync(loop, loop);
    expect(await refusal({ home, file: loop })).toBe(`${loop}:1:1: is a link that leads to itself`);
  });

  test("may lie under a file instead of a home", async () => {
    writeFileSync(file, "");
    expect(await refusal({ home: file })).toContain("what should be its directory is a file");
  });

  test("may be far too large", async () => {
    writeFileSync(file, "#".repeat(10 * 1024 * 1024));
    expect(await refusal()).toBe(
      `${file}:1:1: is larger than 1048576 bytes, more than any config needs`,
    );
    writeFileSync(file, "#".repeat(1024 * 1024), { mode: 0o600 });
    expect((await loadConfig({ home })).file).toBe(file);
  });

  test("may be of another encoding, and the first bad byte is shown", async () => {
    writeFileSync(file, Buffer.from("# a \uFFFD b\n[tools]\n# caf\xe9 \uFFFD\n", "latin1"));
    expect(await refusal()).toContain(`${file}:1:`);
    const latin1 = [Buffer.from("# \uFFFD fine\n# caf"), Buffer.from([0xe9]), Buffer.from("\n")];
    writeFileSync(file, Buffer.concat(latin1));
    expect(await refusal()).toBe(`${file}:2:6: is not UTF-8 from here on; save it as UTF-8`);
    writeFileSync(file, Buffer.from("\uFEFF[tools]\n", "utf16le"));
    expect(await refusal()).toBe(`${file}:1:1: is UTF-16; save it as UTF-8`);
  });

  test("may hold thousands of mistakes, all of which are reported", async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `a${index} = 1`);
    writeFileSync(file, lines.join("\n"));
    expect((await refusal()).split("\n")).toHaveLength(5000);
  });

  test.runIf(process.getuid !== undefined)("may be written by others: a warning", async () => {
    writeFileSync(file, "");
    for (const mode of [0o620, 0o602]) {
      chmodSync(file, mode);
      const { warnings } = await loadConfig({ home });
      expect(warnings).toEqual([
        {
          file,
          line: 1,
          column: 1,
          message: "can be written by others, who can change what it allows; run chmod go-w on it",
        },
      ]);
    }
    chmodSync(file, 0o644);
    expect((await loadConfig({ home })).warnings).toEqual([]);
  });
});
