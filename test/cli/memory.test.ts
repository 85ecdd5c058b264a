// Memory and skills at the command line: what a run proposes is remembered after the job has looked at it, recalled by a
// later run, and forgotten when a person says so.

import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, type CliBundle } from "./cli-bundle.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

describe("soong memory", () => {
  it("remembers what a run proposed, recalls it in another, and forgets it", async () => {
    verifies("MEM-1", "MEM-2", "MEM-3");
    const place = await bundle.place();
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
    const { loadConfig, openRuntime } = await bundle.rooms();
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
    const session = await disabled.openPassingSession();
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
    const looking = await external.openPassingSession();
    const run = await looking.startRun();
    const result = await run.call("internal.recall_memory", { query: "moon cheese" });
    expect(result.data).toMatchObject({ left_out: 1, memories: [] });
    await external.close();
    const plain = await runtimeWith("");
    const there = await (await plain.openPassingSession()).startRun();
    const found = await there.call("internal.recall_memory", { query: "moon cheese" });
    expect(found.data).toMatchObject({ left_out: 0 });
    await plain.close();
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
