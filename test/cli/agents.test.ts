// Agents of the home at the command line: a run as one of them, children on the screen, workers as the config has them,
// and files that cannot be used.

import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, type CliBundle, type Place } from "./cli-bundle.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const REVIEWER = `---
description: Reads changes.
roles: [main, sub]
model: script:review.yaml
mode: plan
max_turns: 1
rules:
  - { tool: code.search, decision: deny, reason: reviewers read }
---
You review changes. Be kind.
`;

async function withAgents(files: Readonly<Record<string, string>>): Promise<Place> {
  const place = await bundle.place();
  for (const [name, text] of Object.entries(files)) {
    await place.write(join(place.home, "agents", name), text);
  }
  return place;
}

describe("soong run --agent", () => {
  it("is a run of that definition: its model, text, mode, rules and limits", async () => {
    verifies("CLI-2", "AGENT-1");
    const place = await withAgents({
      "reviewer.md": REVIEWER,
      "helper.md": "---\ndescription: Helps.\n---\nHelp.",
    });
    await place.write(
      "review.yaml",
      `
turns:
  - expect:
      - { system: { contains: "You review changes. Be kind." } }
      - { tools: [code.read_file] }
      - { not_tools: [code.write_file, code.search] }
    text: Looking.
    calls: [ { tool: code.list_dir, input: {} } ]
`,
    );
    const run = await place.run(["run", "--agent", "reviewer", "--json", "Look"]);
    // One turn is all it has.
    expect(run.code).toBe(4);
    expect(run.stdout).toContain("Looking.");
    const unknown = await place.run(["run", "--agent", "reviwer", "Look"]);
    expect(unknown).toMatchObject({ code: 2, stdout: "" });
    expect(unknown.stderr).toContain("There is no agent reviwer.\nDid you mean reviewer?");
    const helper = await place.run(["run", "--agent", "helper", "Look"]);
    expect(helper.stderr).toContain(
      "The agent helper is for the roles sub, fork, and a run begins with main.",
    );
  });
});

it("a definition does not accept its own edits: the user does, for the run", async () => {
  verifies("PERM-9", "PERM-12");
  const editor = "---\ndescription: Edits.\nroles: [main, sub]\nmode: accept_edits\n---\nEdit.";
  const place = await withAgents({ "editor.md": editor });
  const write = "calls: [ { tool: code.write_file, input: { path: made.txt, content: x } } ]";
  const start =
    "calls: [ { tool: agent.create_sub_agent, input: { task: x, agent_definition_id: editor } } ]";
  await place.write("own.yaml", `turns: [ { ${write} }, { text: end } ]`);
  await place.write(
    "child.yaml",
    `turns: [ { ${start} }, { text: end } ]\nagents: { editor: [ [ { ${write} }, { text: end } ] ] }`,
  );
  const run = (...more: string[]) => place.run(["run", ...more, "Edit"]);
  const own = await run("--agent", "editor", "--model", "script:own.yaml");
  expect(own.stderr).toContain("add --mode accept_edits");
  await run("--model", "script:child.yaml");
  await expect(place.read("made.txt")).rejects.toThrow("ENOENT");
  await run("--model", "script:child.yaml", "--mode", "accept_edits");
  expect(await place.read("made.txt")).toBe("x");
});

describe("the agents of a home", () => {
  it("are listed and started, and a file that cannot be used is reported once", async () => {
    verifies("AGENT-1", "AGENT-5", "CONF-2");
    const place = await withAgents({
      "reviewer.md": REVIEWER,
      "odd.md": "---\nrolls: [sub]\n---\nOdd.",
    });
    await place.write("review.yaml", "turns: [ { text: All is well. } ]");
    await place.write(
      "main.yaml",
      `
turns:
  - calls: [ { tool: agent.create_sub_agent, input: { task: Look, agent_definition_id: reviewer } } ]
  - expect: [ { result: 0, contains: All is well. } ]
    text: It is well.
`,
    );
    const run = await place.run(["run", "--model", "script:main.yaml", "Go"]);
    expect(run).toMatchObject({ code: 0, stdout: "It is well.\n" });
    expect(run.stderr).toContain("  reviewer: All is well.\n");
    expect(run.stderr.split("odd.md:").length - 1).toBe(2);
    expect(run.stderr).toMatch(/warning: .*odd\.md:2:1: rolls: .*did you mean "roles"\?/);
    const listed = await place.run(["agents"]);
    expect(listed.code).toBe(1);
    expect(listed.stdout).toMatch(/reviewer +main, sub {2}script:review\.yaml/);
    expect(listed.stdout).toContain("default_worker_agent");
    expect(listed.stderr).toContain("odd.md:2:1");
    const doctor = await place.run(["doctor"]);
    expect(doctor.stdout).toMatch(/warn {2}agents +1 in agents\/; these cannot be used:/);
  });

  it("are the workers of pools that name them, with the pool's model and tools", async () => {
    verifies("CONF-3", "SURF-6");
    const place = await withAgents({
      "builder.md": "---\ndescription: Builds.\nroles: [worker]\n---\nYou build.",
    });
    await place.write(
      join(place.home, "config.toml"),
      `
[agents.worker_pools.builders]
agent = "builder"
size = 2
model = "script:build.yaml"
allowed_tools = ["code.write_file"]
`,
    );
    await place.write(
      "plan.yaml",
      `
turns:
  - calls:
      - tool: agent.task_create
        input: { title: T, goal: G, steps: [ { step_id: wall, title: Wall, instructions: Build it. } ] }
      - { tool: agent.list_workers, input: {} }
  - expect: [ { result: 1, contains: "builders: 2 idle, 0 busy" } ]
    text: Planned.
`,
    );
    await place.write(
      "build.yaml",
      `
turns: [ { text: never } ]
agents:
  builder:
    - - expect:
          - { system: { contains: You build. } }
          - { tools: [code.write_file, agent.task_update_step] }
          - { not_tools: [code.edit_file] }
        calls: [ { tool: agent.task_update_step, input: { status: running } } ]
      - calls: [ { tool: code.write_file, input: { path: wall.txt, content: bricks } } ]
      - calls: [ { tool: agent.task_update_step, input: { status: completed, summary: Built. } } ]
      - text: Done.
`,
    );
    const model = ["--model", "script:plan.yaml"];
    const planned = await place.run(["run", "--mode", "orchestrator", ...model, "Plan"]);
    expect(planned).toMatchObject({ code: 0, stdout: "Planned.\n" });
    const driven = await place.run([
      "tasks",
      "drive",
      "task_",
      ...model,
      "--allow",
      "code.write_file",
    ]);
    expect(driven).toMatchObject({ code: 0 });
    expect(driven.stdout).toContain("← wall completed (1/1), builders/1: Built.");
    expect(await place.read("wall.txt")).toBe("bricks");
  });
});
