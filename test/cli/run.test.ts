// A run from the command line: a model works on a prompt to its end, and what it did is kept.

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bundleCli, type CliBundle, type Ended, type Place } from "./cli-bundle.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const SCRIPT = `
turns:
  - text: Looking.
    calls:
      - { tool: code.read_file, input: { path: a.txt } }
      - { tool: code.write_file, input: { path: b.txt, content: hi } }
  - expect: [ { result: 0, contains: hello } ]
    text: It says hello.
`;

describe("soong run", () => {
  it("says so and fails when the project was removed under it, and makes nothing there again", async () => {
    verifies("CLI-2");
    const place = await bundle.place();
    // In the sandbox a command cannot remove it.
    await place.write(join(place.home, "config.toml"), 'sandbox = "off"');
    const script = join(place.home, "gone.yaml");
    await place.write(
      script,
      [
        "turns:",
        `  - calls: [ { tool: code.run_command, input: { argv: [rm, -r, ${JSON.stringify(place.project)}] } } ]`,
        "  - calls: [ { tool: code.write_file, input: { path: a.txt, content: x } } ]",
        '  - expect: [ { result: 0, contains: "is gone" } ]',
        "    text: That is all.",
      ].join("\n"),
    );
    const rules = ["--allow", "code.run_command", "--allow", "code.write_file"];
    const ended = await place.run(["run", "go", "--model", `script:${script}`, ...rules]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(`The project directory ${place.project} was removed or moved`);
    expect(existsSync(place.project)).toBe(false);
  });

  it("prints the final answer to stdout, all else on stderr, and leaves a session that is whole", async () => {
    verifies("CLI-2", "LOOP-1", "SCRIPT-1");
    const place = await scripted(SCRIPT);
    const where = ["--cwd", join("..", basename(place.project))];
    const options = ["--model", "script:s.yaml", "--allow", "code.*", ...where];
    const run = await place.run(["run", ...options, "read a"]);
    expect(run).toMatchObject({ code: 0, stdout: "It says hello.\n" });
    expect(run.stderr).toMatch(/^Looking\.\n→ [^]*code\.read_file succeeded/);
    expect(await place.read("b.txt")).toBe("hi");
    const run_id = /soong events (\S+)`/.exec(run.stderr)?.[1] ?? "";
    const events = await place.run(["events", run_id]);
    expect(events.stdout).toContain("run.completed");
    expect((await place.run(["verify", "--all"])).code).toBe(0);
  });

  it("denies what requires approval where no one can give it, and says so to the model", async () => {
    verifies("CLI-2", "PERM-4");
    const place = await scripted(`
turns:
  - calls: [ { tool: code.write_file, input: { path: b.txt, content: hi } } ]
  - expect: [ { result: 0, status: error } ]
    text: So be it.
`);
    const run = await place.run(["run", "--model", "script:s.yaml", "write"]);
    expect(run).toMatchObject({ code: 0, stdout: "So be it.\n" });
    await expect(place.read("b.txt")).rejects.toThrow("ENOENT");
  });

  it("prints the facts and nothing else with --json, and takes the prompt from stdin", async () => {
    verifies("CLI-2", "EVENT-2", "EVENT-7");
    const place = await scripted("turns: [ { text: Hello. } ]");
    const run = await place.run(["run", "--model", "script:s.yaml", "--json"], { stdin: "Hi" });
    const facts = linesOf(run).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, i) => i + 1));
    const types = facts.map(({ type }) => type);
    expect(types[0]).toBe("session.created");
    expect(types.at(-1)).toBe("run.completed");
    expect(types).toEqual(expect.arrayContaining(["context.resolved", "model.completed"]));
    expect(facts.at(-1)).toMatchObject({ data: { usage: { requests: 1 } } });
  });

  it.each([
    ["turns: [ { text: Half, stop: max_tokens } ]", [], 6],
    ["turns: [ { text: a, expect: [ { last_user: { contains: nowhere } } ] } ]", [], 1],
    ["turns: [", [], 2],
    ["turns: [ { text: a } ]", ["--mode", "no-such-mode"], 2],
  ])("tells by its exit code how it ended: %s %s", async (script, more, code) => {
    verifies("CLI-2");
    const place = await scripted(script);
    const run = await place.run(["run", "--model", "script:s.yaml", ...more, "go"]);
    expect([run.code, run.stderr]).toEqual([code, expect.stringMatching(/\S/)]);
  });

  it("ended by a hook has an exit code of its own, and says which hook and why", async () => {
    verifies("CLI-2", "HOOK-2");
    const place = await scripted("turns: [ { calls: [ { tool: code.list_dir } ] }, { text: a } ]");
    const command = ["sh", "-c", `echo '{ "stop": "enough for today" }'`];
    const hooks = [{ id: "closing-time", event: "PreToolUse", command }];
    await place.write(join(place.home, "hooks.json"), JSON.stringify({ hooks }));
    const run = await place.run(["run", "--model", "script:s.yaml", "go"]);
    expect(run.code).toBe(7);
    expect(run.stderr).toContain("closing-time");
    expect(run.stderr).toContain("enough for today");
  });

  it("that is asked to end records that, and leaves nothing behind", async () => {
    verifies("CLI-2", "CLI-8");
    const place = await scripted(
      "turns: [ { calls: [ { tool: code.list_dir, input: {} } ] }, { parts: [ { text: never, after_ms: 600000 } ] } ]",
    );
    const { child, ended } = place.start(["run", "--model", "script:s.yaml", "go"]);
    child.stderr?.once("data", () => child.kill("SIGTERM"));
    const run = await ended;
    expect(run).toMatchObject({ code: 143, signal: null, stdout: "" });
    expect(run.stderr).toContain("the process was terminated");
    expect(await readdir(join(place.home, "control"))).toEqual([]);
  });

  it("says in one sentence how to get a model when there is none", async () => {
    verifies("CLI-2", "CLI-6");
    const place = await bundle.place();
    const run = await place.run(["run", "hi"]);
    expect(run).toMatchObject({ code: 2, stdout: "" });
    expect(run.stderr).toMatch(/no model.*ANTHROPIC_API_KEY.*--model script:FILE/s);
  });

  it("works with a local OpenAI-compatible endpoint and no config at all", async () => {
    verifies("MODEL-1", "CONF-2");
    const answer = { choices: [{ delta: { content: "From afar." }, finish_reason: "stop" }] };
    const server = createServer((request, response) => {
      request.resume();
      request.on("end", () => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`data: ${JSON.stringify({ id: "1", ...answer })}\n\ndata: [DONE]\n\n`);
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const place = await bundle.place();
    const run = await place.run(["run", "hi"], {
      env: { SOONG_OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, SOONG_MODEL: "tiny" },
    });
    expect([run.code, run.stdout]).toEqual([0, "From afar.\n"]);
  });
});

describe("soong resume", () => {
  it("continues where the session left off, with all that was said", async () => {
    verifies("CLI-4", "STORE-2");
    const place = await scripted("turns: [ { text: One. } ]");
    const first = await place.run(["run", "--model", "script:s.yaml", "the first"]);
    const session_id = /soong resume (\S+)`/.exec(first.stderr)?.[1] ?? "";
    await place.write(
      "t.yaml",
      "turns: [ { text: Two., expect: [ { last_user: { contains: the second } } ] } ]",
    );
    const second = await place.run([
      "resume",
      session_id,
      "--model",
      "script:t.yaml",
      "--json",
      "the second",
    ]);
    expect(second.code).toBe(0);
    const resolved = linesOf(second).find((line) => line.includes('"context.resolved"'));
    expect(resolved).toBeDefined();
    expect((await place.run(["verify", session_id])).code).toBe(0);
    const unknown = await place.run(["resume", "no-such-session", "x", "--model", "script:t.yaml"]);
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(unknown.stderr).toContain("no session no-such-session. `soong sessions --all` lists");
  });
});

async function scripted(script: string): Promise<Place> {
  const place = await bundle.place();
  await place.write("s.yaml", script);
  await place.write("a.txt", "hello\n");
  return place;
}

function linesOf({ stdout }: Ended): string[] {
  return stdout.trimEnd().split("\n");
}
