// Memory and skills at the command line: what a run proposes is remembered after the job has looked at it, recalled by a
// later run, and forgotten when the user says so.

import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileURLToPath } from "node:url";
import { bundleCli, recordsOf, type CliBundle, type Place } from "./cli-bundle.ts";
import { node } from "./mcp-stage.ts";

const MEMORY = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-memory/dist/index.js", import.meta.url),
);

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

describe("soong memory", () => {
  it("remembers what a run proposed, recalls it in another, and forgets it", async () => {
    verifies("MEM-1", "MEM-2", "MEM-3");
    const place = await bundle.place();
    await place.write(join(place.home, "config.toml"), "[memory]\nstart_tokens = 0\n");
    await place.write(
      "write.yaml",
      `
turns:
  - calls:
      - { tool: internal.write_memory, input: { content: The user indents with tabs., scope: user, tags: [style] } }
      - { tool: internal.write_memory, input: { content: The build needs make., scope: project } }
  - expect: [ { result: 0, contains: candidate } ]
    text: Noted.
`,
    );
    await place.write(
      "recall.yaml",
      `
turns:
  - calls: [ { tool: internal.recall_memory, input: { query: tabs or spaces } } ]
  - expect: [ { result: 0, contains: "1 memory recalled" } ]
    text: Tabs it is.
`,
    );
    const wrote = await place.run(["run", "--model", "script:write.yaml", "Remember"]);
    expect(wrote).toMatchObject({ code: 0, stdout: "Noted.\n" });
    expect((await place.run(["memory", "list"])).stderr).toContain("Nothing is remembered yet");
    const extracted = await place.run(["memory", "extract"]);
    expect(extracted.code).toBe(0);
    expect(extracted.stdout.match(/^remembered /gm)).toHaveLength(2);
    const again = await place.run(["memory", "extract", "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ report: { written: [], done_before: 2 } });
    const listed = await place.run(["memory", "list"]);
    expect(listed.stdout).toMatch(/ {2}user {2}style {2}.*\n {4}The user indents with tabs\./);
    expect(listed.stdout).toContain(`project ${place.project}`);
    const recalled = await place.run(["run", "--model", "script:recall.yaml", "Recall"]);
    expect(recalled).toMatchObject({ code: 0, stdout: "Tabs it is.\n" });
    const id = /^(\S+) {2}user/m.exec(listed.stdout)?.[1] ?? "";
    expect(await place.run(["memory", "forget", id])).toMatchObject({ code: 0 });
    const gone = await place.run(["memory", "forget", id]);
    expect(gone).toMatchObject({ code: 1, stdout: "" });
    expect(gone.stderr).toContain(`There is no memory ${id}.`);
  });

  it("is written and recalled as the config says", async () => {
    verifies("MEM-2", "CONF-3");
    const { loadConfig, openRuntime } = await bundle.modules();
    const runtimeWith = async (config: string) => {
      const place = await bundle.place();
      await place.write(join(place.home, "config.toml"), config);
      await place.write(
        join(place.home, "memory", "user", "long.md"),
        `${"The moon is made of cheese. ".repeat(40)}\n`,
      );
      const loaded = await loadConfig({ home: place.home });
      return openRuntime({ env: {}, cwd: place.project, config: loaded, agents: true });
    };
    const disabled = await runtimeWith("[memory]\nwrite_mode = 'disabled'\n");
    const session = await disabled.openEphemeralSession();
    const { surface } = await session.startRun();
    expect(
      surface.excluded.find(({ tool_name }) => tool_name === "internal.write_memory"),
    ).toMatchObject({
      reason: "disabled",
      detail: 'memory.write_mode is "disabled" in the config',
    });
    await disabled.close();
    const external = await runtimeWith(
      "[memory]\nwrite_mode = 'external'\nexternal_tool = 'mcp.notes.add'\nrecall_tokens = 100\n",
    );
    const written = external.kernel.registry.current("internal.write_memory");
    expect(written?.definition.description).toContain("the memory the user has configured");
    const looking = await external.openEphemeralSession();
    const run = await looking.startRun();
    const result = await run.call("internal.recall_memory", { query: "moon cheese" });
    expect(result.data).toMatchObject({ left_out: 1, memories: [] });
    await external.close();
    const plain = await runtimeWith("");
    const there = await (await plain.openEphemeralSession()).startRun();
    const found = await there.call("internal.recall_memory", { query: "moon cheese" });
    expect(found.data).toMatchObject({ left_out: 0 });
    await plain.close();
  });
});

describe("memory of a project", () => {
  const begin = (place: Place, config: string) =>
    place.write(join(place.home, "config.toml"), `[memory]\n${config}`);

  it("is what the user adds, for this project, and a run begins with it on record", async () => {
    verifies("MEM-3", "MEM-4");
    const place = await bundle.place();
    await place.write("hi.yaml", "turns: [ { text: Hi. } ]");
    const added = await place.run(["memory", "add", "The", "tests need Docker.", "--tag", "ci"]);
    expect(added).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^remembered m-/) as string,
    });
    expect((await place.run(["memory", "add", "the tests need docker"])).stdout).toMatch(
      /^known already: m-/,
    );
    const refused = await place.run(["memory", "add", "   "]);
    expect(refused).toMatchObject({
      code: 1,
      stderr: "soong: That is not remembered: it is empty.\n",
    });
    const run = await place.run(["run", "--model", "script:hi.yaml", "--json", "Hello"]);
    const facts = recordsOf(run);
    const [memory_id] = /m-\w+/.exec(added.stdout) ?? [];
    const resolved = facts.find(({ type }) => type === "context.resolved");
    expect(JSON.stringify(resolved)).toContain(memory_id);
  });

  it("is what a run begins with, within the budget, each memory once", async () => {
    verifies("MEM-4");
    const place = await bundle.place();
    const { loadConfig, openRuntime } = await bundle.modules();
    const runtime = await openRuntime({
      env: {},
      cwd: place.project,
      config: await loadConfig({ home: place.home }),
      agents: true,
    });
    const { project } = runtime.roots;
    await runtime.close();
    const memory = (text: string) => `---\nproject: ${JSON.stringify(project)}\n---\n\n${text}\n`;
    const { projectKey } = await import("../../packages/agent/src/memory/memory-folder.ts");
    const own = join(place.home, "memory", "projects", projectKey(project));
    await place.write(join(own, "m-build.md"), memory("The build needs make."));
    await place.write(join(own, "m-long.md"), memory("The moon is far away. ".repeat(150)));
    await place.write(
      join(place.home, "memory", "user", "m-tabs.md"),
      "The user indents with tabs.\n",
    );
    await place.write(
      "begin.yaml",
      'turns:\n  - calls: [ { tool: internal.recall_memory, input: { query: make } } ]\n  - expect: [ { result: 0, contains: "In the conversation already: m-build" } ]\n    text: Done.\n',
    );
    const ask = (prompt: string) =>
      place.run(["run", "--model", "script:begin.yaml", "--json", prompt]);

    await begin(place, "start_tokens = 500\n");
    const facts = recordsOf(await ask("Shall I indent?"));
    expect(facts.filter(({ type }) => type === "memory.recalled")[0]).toMatchObject({
      data: { at: "start", memories: [{ id: "m-tabs" }, { id: "m-build" }], left_out: 1 },
    });

    await begin(place, "start_tokens = 0\n");
    expect((await ask("Shall I indent?")).stdout).not.toContain('"at":"start"');
    await begin(place, "enabled = false\n");
    expect((await ask("Shall I indent?")).stdout).not.toContain("memory.recalled");
    const tools = await place.run(["tools", "--json"]);
    expect(tools.stdout).toContain("memory.enabled is false in the config");
  });

  it("is kept and recalled by the reference memory server, as the config maps the fields", async () => {
    verifies("MEM-4", "MEM-2");
    const place = await bundle.place();
    const file = join(place.home, "..", "graph.jsonl");
    const entry = node([MEMORY], { env: { MEMORY_FILE_PATH: file }, readonly: ["search_nodes"] });
    await place.write(
      join(place.home, "mcp.json"),
      JSON.stringify({ mcpServers: { memory: entry } }),
    );
    await begin(
      place,
      `provider = "external"
write_mode = "external"
external_tool = "mcp.memory.create_entities"
write_arguments = '{"entities": [{"name": "{{id}}", "entityType": "{{scope}}", "observations": ["{{content}}", "tags: {{tags}}"]}]}'
recall_tool = "mcp.memory.search_nodes"
recall_arguments = '{"query": "{{query}}"}'
[mcp]
wait_ms = 60_000
`,
    );
    await place.write(
      "both.yaml",
      `
turns:
  - calls:
      - { tool: internal.write_memory, input: { content: The user indents with tabs., scope: user, tags: [style] } }
  - calls: [ { tool: internal.recall_memory, input: { query: indents } } ]
  - expect: [ { result: 0, contains: "mcp.memory.search_nodes has answered" } ]
    text: Tabs.
`,
    );
    const allowed = ["create_entities", "search_nodes"].flatMap((name) => [
      "--allow",
      `mcp.memory.${name}`,
    ]);
    const args = ["run", "--model", "script:both.yaml", "--json", ...allowed, "Remember"];
    const ran = await place.run(args);
    expect(ran.code, ran.stdout.slice(-3000)).toBe(0);
    const kept = JSON.parse(await place.read(file)) as object;
    expect(kept).toMatchObject({
      entityType: "user",
      observations: ["The user indents with tabs.", 'tags: ["style"]'],
    });
    const facts = recordsOf(ran);
    const recalled = facts.filter(({ type }) => type === "memory.recalled");
    expect(recalled).toMatchObject([{ data: { tool_name: "mcp.memory.search_nodes" } }]);
    const run_id = String(facts.find(({ type }) => type === "run.started")?.["run_id"]);
    const events = await place.run(["replay", run_id]);
    expect(events.code, events.stdout + events.stderr).toBe(0);
  });

  it("is asked of the reference memory server when a run begins, as far as no one has to be asked", async () => {
    verifies("MEM-4", "REPLAY-1", "REPLAY-3");
    const place = await bundle.place();
    const file = join(place.home, "..", "graph.jsonl");
    const serverWith = (more: object) =>
      place.write(
        join(place.home, "mcp.json"),
        JSON.stringify({
          mcpServers: { memory: node([MEMORY], { env: { MEMORY_FILE_PATH: file }, ...more }) },
        }),
      );
    const config = (more: string) =>
      begin(
        place,
        `provider = "external"
write_mode = "external"
external_tool = "mcp.memory.create_entities"
write_arguments = '{"entities": [{"name": "{{id}}", "entityType": "{{scope}}", "observations": ["{{content}}", "project: {{project}}"]}]}'
recall_tool = "mcp.memory.search_nodes"
recall_arguments = '{"query": "{{query}}"}'
${more}
[mcp]
wait_ms = 60_000
`,
      );
    await place.write(
      "write.yaml",
      `
turns:
  - calls: [ { tool: internal.write_memory, input: { content: The build needs make., scope: project } } ]
  - text: Noted.
`,
    );
    await place.write("talk.yaml", "turns:\n  - text: With make.\n");
    const ask = async (...args: string[]) => {
      const ran = await place.run(["run", "--model", "script:talk.yaml", "--json", ...args]);
      expect(ran.code, ran.stdout.slice(-3000) + ran.stderr).toBe(0);
      return recordsOf(ran);
    };
    const typed = (facts: readonly Record<string, unknown>[], prefix: string) =>
      facts.filter(({ type }) => String(type).startsWith(prefix));
    const before = (facts: readonly Record<string, unknown>[], first: string, second: string) =>
      facts.findIndex(({ type }) => type === first) <
      facts.findIndex(({ type }) => type === second);

    // Nothing is known of this server: each of its calls asks, so none is made.
    await serverWith({});
    await config(`start_arguments = '{"query": "project: {{project}}"}'`);
    expect(typed(await ask("How is it built?"), "memory.")).toMatchObject([
      {
        type: "memory.recall.skipped",
        data: {
          tool_name: "mcp.memory.search_nodes",
          reason: expect.stringContaining("requires approval") as unknown,
        },
      },
    ]);

    await serverWith({ readonly: ["search_nodes"], network: false });
    const allow = ["--allow", "mcp.memory.create_entities"];
    const wrote = await place.run(["run", "--model", "script:write.yaml", ...allow, "Remember"]);
    expect(wrote, wrote.stderr).toMatchObject({ code: 0, stdout: "Noted.\n" });

    const facts = await ask("How is it built?");
    const requested = typed(facts, "tool.requested");
    expect(requested).toMatchObject([
      { tool_name: "mcp.memory.search_nodes", data: { made_by: "runtime" } },
    ]);
    expect(typed(facts, "memory.recalled")).toMatchObject([
      {
        data: {
          at: "start",
          tool_name: "mcp.memory.search_nodes",
          recalled_by: requested[0]?.["tool_call_id"],
        },
      },
    ]);
    expect(before(facts, "memory.recalled", "model.started")).toBe(true);
    const { data } = typed(facts, "context.resolved")[0] as { data: { memory_refs: unknown[] } };
    expect(data.memory_refs).toHaveLength(1);
    const run_id = String(typed(facts, "run.started")[0]?.["run_id"]);
    const replayed = await place.run(["replay", run_id]);
    expect(replayed.code, replayed.stdout + replayed.stderr).toBe(0);
    const script = await place.run(["replay", run_id, "--script"]);
    expect(script.code, script.stderr).toBe(0);
    expect(script.stdout).toContain("With make.");
    expect(script.stdout).not.toContain("search_nodes");

    // Words that are in no memory: its answer is empty lists.
    await config("");
    const none = await ask("How is it built?");
    expect(typed(none, "tool.completed")).toHaveLength(1);
    expect(typed(none, "memory.")).toMatchObject([{ type: "memory.recall.started" }]);
    expect(typed(await ask("build"), "memory.recalled")).toHaveLength(1);

    await config("start_tokens = 0");
    expect(typed(await ask("build"), "tool.")).toMatchObject([{ type: "tool.catalog.resolved" }]);
  });

  it("is refused with its place where the config maps a field that is not there", async () => {
    verifies("MEM-4", "CONF-2");
    const place = await bundle.place();
    await begin(place, 'recall_arguments = \'{"query": "{{qeury}}"}\'\nprovider = "external"\n');
    const { code, stderr } = await place.run(["tools"]);
    expect(code).toBe(2);
    expect(stderr).toContain("config.toml:2");
    expect(stderr).toContain('has the unknown field "qeury"; did you mean query?');
    await begin(place, 'provider = "external"\n');
    expect((await place.run(["tools"])).stderr).toContain("recall_tool does not say which tool");
  });
});

describe("soong skills", () => {
  it("lists the skills an agent can load, and those that cannot be used", async () => {
    verifies("SKILL-1", "CLI-6");
    const place = await bundle.place();
    const skill = (name: string): string => join(place.home, "skills", name, "SKILL.md");
    expect((await place.run(["skills"])).stderr).toContain("There are no skills");
    await place.write(
      skill("forms"),
      "---\nname: forms\ndescription: Fills forms.\nallowed-tools: code.read_file\n---\nFill them.\n",
    );
    await place.write(skill("odd"), "---\nname: even\ndescription: Odd.\n---\nOdd.\n");
    await place.write(
      "load.yaml",
      `
turns:
  - calls: [ { tool: internal.load_skill, input: { name: forms } } ]
  - expect: [ { result: 0, contains: "is loaded; its text follows" } ]
    text: I know how.
`,
    );
    const listed = await place.run(["skills", "--json"]);
    expect(listed.code).toBe(1);
    const [first, second] = listed.stdout.split("\n");
    expect(JSON.parse(first ?? "")).toMatchObject({
      schema: "soong.skills/1",
      skill: { name: "forms" },
    });
    expect(JSON.parse(second ?? "")).toMatchObject({ problem: { file: skill("odd"), line: 2 } });
    const run = await place.run(["run", "--model", "script:load.yaml", "Fill"]);
    expect(run).toMatchObject({ code: 0, stdout: "I know how.\n" });
    expect(run.stderr).toContain("SKILL.md:2:");
  });
});
