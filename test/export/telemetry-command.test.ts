// Telemetry of the command as users have it: the real program, and a real collector beside it.

import { join } from "node:path";
import { createOtlpProjection, findOtlpProblems } from "@soong/export";
import type { Fact } from "@soong/core";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bundleCli,
  environment,
  recordsOf,
  type CliBundle,
  type Place,
} from "../cli/cli-bundle.ts";
import { stdioOf } from "../cli/mcp-serve-stage.ts";
import { canUseTmux, openTmux } from "../cli/tmux.ts";
import { createHost, ERAS } from "../mcp/sdk-host.ts";
import { findClosedAddress, listSpans, openCollector, type Collector } from "./collector.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const SCRIPT = `
turns:
  - text: ANSWER-TEXT
    calls:
      - { tool: code.read_file, input: { path: a.txt } }
      - { tool: agent.create_sub_agent, input: { task: TASK-TEXT } }
      - { tool: code.write_file, input: { path: b.txt, content: ARGUMENT-TEXT } }
  - text: Done.
agents:
  default_sub_agent: [ [ { text: "CHILD-TEXT" } ] ]
`;

const RUN = ["run", "PROMPT-TEXT", "--model", "script:s.yaml"];

async function placeWith(config: string): Promise<Place> {
  const place = await bundle.place();
  await place.write(join(place.home, "config.toml"), `sandbox = "off"\n${config}`);
  await place.write("s.yaml", SCRIPT);
  await place.write("a.txt", "RESULT-TEXT k3y-of-collector\n");
  return place;
}

function configured({ url }: Pick<Collector, "url">, more = ""): Promise<Place> {
  return placeWith(`[telemetry]\notlp_endpoint = "${url}"\n${more}`);
}

function checkRequests({ requests }: Collector): void {
  const bodies = requests.map(({ body }) => JSON.parse(body) as unknown);
  expect(findOtlpProblems(bodies)).toEqual([]);
}

function nameSpans(collector: Collector): Set<string> {
  return new Set(collector.spans().map(({ name }) => name));
}

describe("the command", () => {
  it("sends the spans of a run to the collector of the config, as the journal has them, without content", async () => {
    verifies("EXPORT-1", "CONF-3");
    const collector = await openCollector();
    const place = await configured(collector);
    const run = await place.run([...RUN, "--json"]);
    expect(run).toMatchObject({ code: 0, stderr: "" });
    checkRequests(collector);
    const stored = createOtlpProjection();
    const facts = recordsOf(run) as unknown as Fact[];
    const requests = [...facts.flatMap((fact) => stored.push(fact)), ...stored.end()];
    expect(collector.spans()).toEqual(listSpans(requests));
    expect(nameSpans(collector)).toEqual(
      new Set([
        "invoke_agent main",
        "invoke_agent default_sub_agent",
        "chat s.yaml",
        "execute_tool code.read_file",
        "execute_tool code.write_file",
        "execute_tool agent.create_sub_agent",
      ]),
    );
    expect(collector.metrics()).toHaveLength(1);
    expect(collector.requests.map(({ body }) => body).join()).not.toMatch(/-TEXT/);
  });

  it("sends content where the config wants it, without the key for the collector", async () => {
    verifies("EXPORT-1", "REDACT-3");
    const collector = await openCollector();
    const place = await configured(collector, 'content = true\nheaders_env = "MY_HEADERS"\n');
    const env = { MY_HEADERS: "x-key=k3y-of-collector" };
    const run = await place.run([...RUN, "--json"], { env });
    expect(run.code).toBe(0);
    expect(run.stdout).not.toContain("k3y-of-collector");
    expect(collector.requests[0]?.headers["x-key"]).toBe("k3y-of-collector");
    const sent = collector.requests.map(({ body }) => body).join();
    for (const text of ["ANSWER", "ARGUMENT", "RESULT", "TASK", "CHILD"]) {
      expect(sent).toContain(`${text}-TEXT`);
    }
    expect(sent).not.toContain("k3y-of-collector");
    checkRequests(collector);
  });

  it("is switched on by the environment alone, below the span that started it, and off by it", async () => {
    verifies("EXPORT-1");
    const collector = await openCollector();
    const place = await placeWith("");
    // What a project brings along has no say.
    await place.write(".env", `OTEL_EXPORTER_OTLP_ENDPOINT=${collector.url}\n`);
    await place.write("config.toml", `[telemetry]\notlp_endpoint = "${collector.url}"\n`);
    await place.write(
      ".soong-agent/config.toml",
      `[telemetry]\notlp_endpoint = "${collector.url}"\n`,
    );
    expect(await place.run(RUN)).toMatchObject({ code: 0 });
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      TRACEPARENT: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    };
    const off = await place.run(RUN, { env: { ...env, OTEL_SDK_DISABLED: "true" } });
    expect(off).toMatchObject({ code: 0 });
    expect(collector.requests).toEqual([]);
    expect(await place.run(RUN, { env })).toMatchObject({ code: 0 });
    const spans = collector.spans();
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(
      new Set(["4bf92f3577b34da6a3ce929d0e0e4736"]),
    );
    const run = spans.find(({ name }) => name === "invoke_agent main");
    expect(run?.parentSpanId).toBe("00f067aa0ba902b7");
    checkRequests(collector);
  });

  it("loads nothing of it while it is off", async () => {
    verifies("EXPORT-1");
    const collector = await openCollector();
    const place = await placeWith("");
    await place.write(
      "list-loaded.cjs",
      `process.on("exit", () => require("node:fs").writeFileSync("loaded.txt", Object.keys(require.cache).join("\\n")));`,
    );
    const env = { NODE_OPTIONS: `--require ${join(place.project, "list-loaded.cjs")}` };
    await place.run(RUN, { env });
    expect(await listLoaded(place)).toEqual([]);
    await place.run(RUN, { env: { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    expect(await listLoaded(place)).toContain("packages/export/src/telemetry/telemetry.ts");
  });

  it("ends as it would without a collector that is away or answers nonsense, with one warning", async () => {
    verifies("EXPORT-1");
    const bad = await openCollector((response) => void response.writeHead(500).end("<html>"));
    for (const url of [await findClosedAddress(), bad.url]) {
      const place = await configured({ url });
      const run = await place.run([...RUN, "--json"]);
      expect(run.code).toBe(0);
      expect(run.stderr).toMatch(
        /^warning: Telemetry: 8 of 8 spans were not sent to http:\/\/127\.0\.0\.1:\d+: (ECONNREFUSED|HTTP 500)\.\n$/,
      );
      expect(recordsOf(run).at(-1)).toMatchObject({ type: "run.completed" });
    }
  });

  it("says once that it speaks another protocol than the one that is asked for", async () => {
    verifies("EXPORT-1");
    const collector = await openCollector();
    const place = await configured(collector);
    const env = { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };
    const run = await place.run([...RUN, "--json"], { env });
    expect(run.stderr).toBe(
      "warning: OTEL_EXPORTER_OTLP_PROTOCOL asks for another protocol: Soong sends http/json.\n",
    );
    expect(collector.spans()).toHaveLength(8);
  });

  it("refuses an address with a key in the config, or one that is none", async () => {
    verifies("CONF-2");
    const refused: [url: string, why: string][] = [
      ["http://me:s3cr3t@host", "looks like an API key or a password"],
      ["http://host/?key=s3cr3t", "has a query, and no key is ever written here"],
      ["http://127.0.0.1:99999", "check its host and port"],
      ["localhost:4318", "begins with http://"],
    ];
    for (const [url, why] of refused) {
      const place = await configured({ url });
      const run = await place.run(RUN);
      expect(run.code).not.toBe(0);
      expect(run.stderr).toContain("telemetry.otlp_endpoint");
      expect(run.stderr).toContain(why);
      expect(run.stderr).not.toContain("s3cr3t");
    }
  });

  it("says its version to the collector, and the doctor says where telemetry goes", async () => {
    verifies("EXPORT-1", "CONF-2");
    const collector = await openCollector();
    const place = await placeWith("");
    const findLine = async (env: Record<string, string>) => {
      const doctor = await place.run(["doctor", "--json"], { env });
      return recordsOf(doctor).find(({ about }) => about === "telemetry");
    };
    expect(await findLine({})).toMatchObject({ state: "ok", says: "off" });
    const { host } = new URL(collector.url);
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://me:s3cr3t@${host}/x?key=k3y-of-collector` };
    expect(await findLine(env)).toMatchObject({
      state: "ok",
      says: `spans to ${collector.url}, metrics to ${collector.url}`,
    });
    expect(await findLine({ ...env, OTEL_EXPORTER_OTLP_HEADERS: "s3cr3t" })).toMatchObject({
      state: "warn",
      says: expect.stringMatching(/not name=value/) as string,
    });
    expect(collector.requests).toEqual([]);
    const run = await place.run([...RUN, "--json"], { env });
    // The key of the query is in the file that is read.
    expect(run.stdout).not.toContain("k3y-of-collector");
    const version = (await place.run(["--version"])).stdout.trim();
    expect(collector.requests.map(({ body }) => body).join()).toContain(
      `{"key":"service.version","value":{"stringValue":"${version}"}}`,
    );
  });
});

describe("every way a session runs is followed", () => {
  it("soong call and soong resume", async () => {
    verifies("EXPORT-1");
    const collector = await openCollector();
    const place = await configured(collector);
    expect(await place.run(["call", "code.read_file", '{"path":"a.txt"}'])).toMatchObject({
      code: 0,
    });
    expect(nameSpans(collector)).toEqual(
      new Set(["execute_tool code.read_file", "invoke_agent main"]),
    );
    const [{ session_id = "" } = {}] = recordsOf(await place.run([...RUN, "--json"]));
    const { length } = collector.spans();
    const resume = ["resume", String(session_id), "--model", "script:s.yaml", "Again."];
    const again = await place.run(resume);
    expect(again.code, again.stderr).toBe(0);
    const more = collector.spans().slice(length);
    expect(more.map(({ name }) => name)).toContain("invoke_agent main");
    checkRequests(collector);
  });

  it("soong tasks drive", async () => {
    verifies("EXPORT-1");
    const collector = await openCollector();
    const place = await configured(collector);
    await place.write(
      "plan.yaml",
      `
turns:
  - calls:
      - tool: agent.task_create
        input: { title: Build it, goal: It is built., steps: [ { step_id: one, title: Do it, instructions: Do. } ] }
  - text: Planned.
`,
    );
    const plan = ["run", "Plan.", "--mode", "orchestrator", "--model", "script:plan.yaml"];
    const planned = await place.run([...plan, "--json"]);
    const [created] = recordsOf(planned).filter(({ type }) => type === "task.created") as [
      { data: { task_id: string } },
    ];
    const update = "tool: agent.task_update_step, input:";
    await place.write(
      "work.yaml",
      `
turns: [ { text: never } ]
agents:
  default_worker_agent:
    - [ { calls: [ { ${update} { status: running } } ] }, { calls: [ { ${update} { status: completed, summary: It is. } } ] }, { text: Done. } ]
`,
    );
    const { length } = collector.spans();
    const driven = await place.run([
      "tasks",
      "drive",
      created.data.task_id,
      "--model",
      "script:work.yaml",
    ]);
    expect(driven.code, driven.stderr).toBe(0);
    const names = collector
      .spans()
      .slice(length)
      .map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        "invoke_agent default_worker_agent",
        "execute_tool agent.task_update_step",
      ]),
    );
    checkRequests(collector);
  });

  it("soong mcp serve", async () => {
    verifies("EXPORT-1");
    const collector = await openCollector();
    const place = await configured(collector);
    const { transport } = stdioOf(bundle, place);
    const [[, mode]] = ERAS;
    const { client } = createHost(mode);
    await client.connect(transport);
    await client.callTool({ name: "code__read_file", arguments: { path: "a.txt" } });
    await client.close();
    await collector.received(2);
    expect(nameSpans(collector)).toContain("execute_tool code.read_file");
    checkRequests(collector);
  });

  it.skipIf(!canUseTmux())("a conversation at a terminal (needs tmux)", async () => {
    verifies("EXPORT-1");
    const collector = await openCollector();
    const place = await configured(collector);
    const talk = [bundle.program, "--model", "script:s.yaml"];
    await place.write("s.yaml", "turns: [ { text: Hello. } ]");
    const screen = await openTmux({
      columns: 80,
      rows: 40,
      // A shell stays when the program has gone.
      argv: ["sh", "-c", '"$@"; echo "ended with $?"; read _', "sh", process.execPath, ...talk],
      cwd: place.project,
      env: environment(place.home),
    });
    await screen.waitFor("›");
    await screen.type("hi\r");
    await screen.waitFor(/Hello\.[^]*›$/);
    await screen.type("\u0004");
    await screen.waitFor("ended with 0");
    expect(nameSpans(collector)).toEqual(new Set(["invoke_agent main", "chat s.yaml"]));
  });
});

/** Sources of the package that the program has loaded. */
async function listLoaded(place: Place): Promise<string[]> {
  const loaded = (await place.read("loaded.txt")).split("\n");
  expect(loaded.length).toBeGreaterThan(1);
  return Object.entries(bundle.metafile.outputs).flatMap(([output, { inputs }]) => {
    const file = output.slice(output.lastIndexOf("/") + 1);
    if (!loaded.some((path) => path.endsWith(`/${file}`))) return [];
    return Object.entries(inputs).flatMap(([input, { bytesInOutput }]) =>
      bytesInOutput > 0 && input.includes("packages/export/") ? [input] : [],
    );
  });
}
