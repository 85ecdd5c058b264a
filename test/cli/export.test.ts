// Facts as records of other standards, with the real program (CLI-4, EXPORT-1): of a run, of a live run, of a whole session.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findAgentRuntimeProblems, findAgentToolProblems, findOtlpProblems } from "@soong/export";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSqlite } from "../../packages/store/src/sqlite/driver.ts";
import { findCloudEventProblems } from "../export/cloud-events-rules.ts";
import {
  validateAgentRuntimeEvent,
  validateAgentRuntimeSnapshot,
  validateAgentTool,
} from "../export/schemas.ts";
import { bundleCli, environment, type CliBundle, type Place } from "./cli-bundle.ts";
import {
  FORMATS,
  playSession,
  readLines,
  startWaitingCall,
  storeManyFacts,
  untilPrinted,
} from "./export-stage.ts";

let bundle: CliBundle;
let place: Place;
let session: Awaited<ReturnType<typeof playSession>>;

beforeAll(async () => {
  bundle = await bundleCli();
  place = await bundle.place();
  session = await playSession(place);
});

afterAll(() => bundle.remove());

type Line = Record<string, unknown>;

/** What is wrong with the lines of a format. */
const PROBLEMS: Readonly<Record<string, (lines: readonly Line[]) => unknown[]>> = {
  "agent-tool": (lines) => [
    ...lines.flatMap((line) => validateAgentTool(line)),
    ...findAgentToolProblems(lines as never),
  ],
  "agent-runtime": (lines) => [
    ...lines.flatMap((line) => validateAgentRuntimeEvent(line)),
    ...findAgentRuntimeProblems(lines as never),
  ],
  "agent-runtime-snapshot": (lines) => lines.flatMap((line) => validateAgentRuntimeSnapshot(line)),
  cloudevents: findCloudEventProblems,
  otlp: findOtlpProblems,
  native: (lines) => lines.filter(({ schema }) => schema !== "soong.events/1"),
};

async function alter({ home }: Place, sql: string): Promise<void> {
  const open = await loadSqlite();
  const database = open(join(home, "store", "soong.db"));
  database.exec(sql);
  database.close();
}

interface Span {
  readonly name: string;
  readonly spanId: string;
}

function listSpans(requests: readonly Line[]): Span[] {
  const all = requests as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }[];
  return all
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans);
}

describe("soong events --format", () => {
  it("gives the run of a child the span that it has in the export of its session", async () => {
    verifies("CLI-4", "EXPORT-1");
    const child = session.facts.find(({ parent_run_id }) => parent_run_id !== undefined);
    const args = ["--format", "otlp"];
    const alone = await place.run(["events", String(child?.["run_id"]), ...args]);
    const whole = await place.run(["export", session.session_id, ...args]);
    const [span] = listSpans(readLines(alone)).filter(({ name }) =>
      name.startsWith("invoke_agent"),
    );
    expect(span).toBeDefined();
    expect(listSpans(readLines(whole)).find(({ spanId }) => spanId === span?.spanId)).toEqual(span);
  });

  it.each(FORMATS.slice(1))(
    "prints %s records that are valid, and nothing else",
    async (format) => {
      verifies("CLI-4", "EXPORT-1");
      const ended = await place.run(["events", session.run_id, "--format", format]);
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      const lines = readLines(ended);
      expect(lines.length).toBeGreaterThan(0);
      expect(PROBLEMS[format]?.(lines)).toEqual([]);
      const again = await place.run(["events", session.run_id, "--format", format, "--json"]);
      expect(again.stdout).toBe(ended.stdout);
    },
  );

  it("is sentences without a format, and facts where it is native", async () => {
    verifies("CLI-4");
    const sentences = await place.run(["events", session.run_id]);
    expect(sentences.stdout).toContain("completed · run.completed");
    const facts = await place.run(["events", session.run_id, "--json"]);
    expect(PROBLEMS["native"]?.(readLines(facts))).toEqual([]);
    expect(readLines(facts).length).toBeGreaterThan(10);
    for (const more of [[], ["--json"]]) {
      const native = await place.run(["events", session.run_id, "--format", "native", ...more]);
      expect(native).toEqual(facts);
    }
  });

  it("has the Lime profile of Agent Runtime, and content in spans on request only", async () => {
    verifies("EXPORT-1");
    const lime = ["events", "--format", "agent-runtime", "--profile", "lime"];
    const events = readLines(await place.run(lime));
    expect(events.flatMap((line) => validateAgentRuntimeEvent(line, { profile: "lime" }))).toEqual(
      [],
    );
    const plain = await place.run(["events", "--format", "otlp"]);
    const whole = await place.run(["events", "--format", "otlp", "--content"]);
    expect(plain.stdout).not.toContain("Count the files.");
    expect(whole.stdout).toContain("Count the files.");
  });

  it.each([
    [["events", "--format", "xml"], "it is one of native, agent-tool, agent-runtime"],
    [
      ["export", "--format", "xml"],
      "it is one of native, agent-tool, agent-runtime, agent-runtime-",
    ],
    [["events", "--format", "agent-runtime-snapshot"], "it is one of native"],
    [
      ["events", "--format", "otlp", "--profile", "lime"],
      "--profile is for --format agent-runtime",
    ],
    [["export", "--content"], "--content is for --format otlp"],
    [["export", "--format", "agent-runtime", "--profile", "x"], "it is one of lime"],
    [["export", "--force"], "--force is for --out FILE"],
    [["export", "--json"], "--json is for --out FILE"],
    [["export", "--out", "-", "--force"], "--force is for --out FILE"],
  ])("refuses %j with what can be typed instead", async (args, says) => {
    verifies("CLI-6");
    const ended = await place.run(args);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain(says);
  });

  it("follows a live run: each record comes when it happens, the last ones with its end", async () => {
    verifies("CLI-4", "EXPORT-1", "EXPORT-2");
    const live = await bundle.place();
    const call = await startWaitingCall(live);
    const follow = live.start(["events", call.run_id, "--format", "agent-tool", "--follow"]);
    await untilPrinted(follow, "tool.invocation.started");
    const half = await live.run(["events", call.run_id, "--format", "agent-tool"]);
    expect(half).toMatchObject({ code: 0 });
    expect(half.stderr).toContain("This run has not ended; `--follow` continues");
    expect(half.stdout).not.toContain("tool_result");
    const early = await live.run(["export", "--format", "otlp"]);
    expect(early).toMatchObject({ code: 0, stdout: "" });
    expect(early.stderr).toBe(
      "1 run has not ended: spans that are still open are not in this export.\n",
    );
    for (const [format, says] of [
      ["native", "later facts are not in this export"],
      ["cloudevents", "later facts are not in this export"],
      ["agent-tool", "what is still open has no end in this export"],
      ["agent-runtime", "what is still open has no end in this export"],
      ["agent-runtime-snapshot", "this is the state of now"],
    ] as const) {
      const exported = await live.run(["export", "--format", format]);
      expect(exported.stdout).toContain("code.run_command");
      expect(exported.stderr).toBe(`1 run has not ended: ${says}.\n`);
    }
    await live.write("go", "");
    await call.ended;
    const ended = await follow.ended;
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    const lines = readLines(ended);
    expect(PROBLEMS["agent-tool"]?.(lines)).toEqual([]);
    const stored = await live.run(["events", call.run_id, "--format", "agent-tool"]);
    expect(ended.stdout).toBe(stored.stdout);
    expect(ended.stdout.startsWith(half.stdout)).toBe(true);
  });

  it("ends what a killed process left open, as a call that may or may not have happened", async () => {
    verifies("CLI-4", "EXPORT-1", "STORE-3");
    const killed = await bundle.place();
    const call = await startWaitingCall(killed);
    call.child.kill("SIGKILL");
    await call.ended;
    // Its command is still there.
    await killed.write("go", "");
    const args = ["events", call.run_id, "--format", "agent-tool"];
    const stored = await killed.run(args);
    expect(stored).toMatchObject({ code: 0, stderr: "" });
    expect(stored.stdout).toContain('"tool_result"');
    expect(PROBLEMS["agent-tool"]?.(readLines(stored))).toEqual([]);
    const followed = await killed.run([...args, "--follow"]);
    expect(followed.code).toBe(0);
    expect(followed.stderr).toContain("The process that worked on this run is gone");
    expect(PROBLEMS["agent-tool"]?.(readLines(followed))).toEqual([]);
  });
});

describe("soong export", () => {
  it.each([...FORMATS, "agent-runtime-snapshot"])(
    "has all runs of a session, also of children, as %s",
    async (format) => {
      verifies("CLI-4", "EXPORT-1");
      const ended = await place.run(["export", session.session_id, "--format", format]);
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      const lines = readLines(ended);
      expect(PROBLEMS[format]?.(lines)).toEqual([]);
      const child = session.facts.find(({ parent_run_id }) => parent_run_id !== undefined);
      if (format !== "otlp") expect(ended.stdout).toContain(String(child?.["run_id"]));
    },
  );

  it("finds the newest session of the project, and says so where there is none", async () => {
    verifies("CLI-4", "CLI-6");
    expect((await place.run(["export"])).stdout).toContain(session.session_id);
    const nothing = await place.run(["export", "session_0nothing"]);
    expect(nothing).toMatchObject({ code: 1, stdout: "" });
    expect(nothing.stderr).toContain("session_0nothing");
    const fresh = await bundle.place();
    const none = await fresh.run(["export"]);
    expect(none).toMatchObject({ code: 1, stdout: "" });
    expect(none.stderr).toContain("There is no session");
  });

  it("ends quietly where the reader of the pipe goes away", async () => {
    verifies("CLI-6");
    for (const format of ["cloudevents", "native"]) {
      const line = `"$0" "$1" export --format ${format} | head -n 1`;
      const shell = spawn("sh", ["-c", line, process.execPath, bundle.program], {
        cwd: place.project,
        env: environment(place.home),
      });
      let told = "";
      let printed = "";
      shell.stderr.setEncoding("utf8").on("data", (text: string) => (told += text));
      shell.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
      const [code] = (await once(shell, "close")) as [number];
      expect({ code, told }).toEqual({ code: 0, told: "" });
      expect(printed.trimEnd().split("\n")).toHaveLength(1);
    }
  });

  it("hides secrets that are known now, in every format, whatever characters they have", async () => {
    verifies("REDACT-3");
    const home = await bundle.place();
    const secret = 'quoted"and\\slashed-9XqL2m';
    const { facts } = await playSession(home, `Use ${secret} to log in.`);
    expect(JSON.stringify(facts)).toContain("slashed-9XqL2m");
    const config = '[tools]\nenv_allowlist = ["DEPLOY_TOKEN"]\n';
    await writeFile(join(home.home, "config.toml"), config);
    const env = { DEPLOY_TOKEN: secret };
    for (const format of [...FORMATS, "agent-runtime-snapshot"]) {
      const content = format === "otlp" ? ["--content"] : [];
      const ended = await home.run(["export", "--format", format, ...content], { env });
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      expect(ended.stdout).not.toContain("slashed-9XqL2m");
      expect(PROBLEMS[format]?.(readLines(ended))).toEqual([]);
    }
  });

  it.each([
    ["in the middle", "type = 'permission.evaluated'"],
    ["at the end", "place = (SELECT max(place) FROM facts)"],
  ])("reports facts that were removed %s, and names the command that checks", async (_, where) => {
    verifies("CLI-6", "EXPORT-1");
    const altered = await bundle.place();
    const { session_id, run_id } = await playSession(altered);
    await alter(altered, `DELETE FROM facts WHERE ${where}`);
    const says = `Facts are missing in the journal of this session: \`soong verify ${session_id}\` says more.\n`;
    for (const format of [...FORMATS, "agent-runtime-snapshot"]) {
      expect(await altered.run(["export", "--format", format])).toMatchObject({
        code: 0,
        stderr: says,
      });
    }
    const file = join(altered.project, "a.jsonl");
    expect((await altered.run(["export", "--out", file])).stderr).toContain(says);
    expect((await altered.run(["events", run_id, "--format", "cloudevents"])).stderr).toBe(says);
    expect(await altered.run(["verify", session_id])).toMatchObject({ code: 1 });
  });

  it("names the command that checks a session with a fact that is not JSON", async () => {
    verifies("CLI-6");
    const altered = await bundle.place();
    const { session_id } = await playSession(altered);
    await alter(altered, "UPDATE facts SET line = substr(line, 1, 40) WHERE line LIKE '%\"f7\"%'");
    const ended = await altered.run(["export"]);
    expect(ended).toMatchObject({ code: 1 });
    expect(ended.stderr).toContain(`\`soong verify ${session_id}\` says more.`);
  });

  it("streams a session of 50 000 facts in little memory", async () => {
    verifies("EXPORT-1");
    const big = await bundle.place();
    const facts = await storeManyFacts(big, "big", 7150);
    expect(facts).toBeGreaterThan(50_000);
    // All facts at once are far more than this heap holds beside the program.
    const env = { NODE_OPTIONS: "--max-old-space-size=40" };
    for (const format of FORMATS) {
      const file = join(big.project, `${format}.jsonl`);
      const args = ["export", "big", "--format", format, "--out", file, "--json"];
      const ended = await big.run(args, { env });
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      expect(readLines(ended)).toMatchObject([{ schema: "soong.export/1", format, facts }]);
    }
  }, 60_000);

  it("is loaded by no other command", () => {
    verifies("CLI-6");
    const { outputs } = bundle.metafile;
    const names = Object.keys(outputs);
    /** The sources that are loaded with a file of the bundle, before anything is asked for. */
    const loadedWith = (name: string, seen = new Set<string>()): string[] => {
      if (seen.has(name)) return [];
      seen.add(name);
      const { inputs = {}, imports = [] } = outputs[name] ?? {};
      const next = imports.flatMap(({ path, kind, external }) =>
        kind === "import-statement" && external !== true ? [path] : [],
      );
      return [...Object.keys(inputs), ...next.flatMap((path) => loadedWith(path, seen))];
    };
    const commands = names.filter((name) =>
      Object.keys(outputs[name]?.inputs ?? {}).some((path) => path.includes("cli/src/command/")),
    );
    expect(commands.length).toBeGreaterThan(20);
    const loaded = commands.flatMap((name) => loadedWith(name));
    expect(loaded.filter((path) => path.includes("packages/export/"))).toEqual([]);
  });

  it("is completed with its formats", async () => {
    verifies("CLI-6");
    const offered = async (...words: string[]): Promise<string[]> => {
      const { stdout } = await place.run(["__complete", "--", ...words]);
      return stdout.split("\n").map((line) => line.split("\t")[0] ?? "");
    };
    expect(await offered("export", "--format", "agent-")).toEqual(
      expect.arrayContaining(["agent-tool", "agent-runtime", "agent-runtime-snapshot"]),
    );
    expect(await offered("export", "")).toContain(
      session.session_id.slice("session_".length, "session_".length + 8),
    );
    expect(await offered("exp")).toContain("export");
    expect(await offered("export", "--format=ot")).toEqual(["--format=otlp", ""]);
    expect(await offered("export", "--format", "=")).toContain("otlp");
    expect(await offered("export", "--force=")).toEqual([""]);
  });
});
