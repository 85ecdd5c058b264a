// A prompt as the first word, and what a run prints: `soong "…"`, -p, -c, -r, --output-schema, and what stdout holds.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, environment, recordsOf, type CliBundle, type Place } from "./cli-bundle.ts";
import { canUseTmux, openTmux } from "./tmux.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const MODEL = ["--model", "script:s.yaml"];

async function scripted(script: string): Promise<Place> {
  const place = await bundle.place();
  await place.write("s.yaml", script);
  return place;
}

/** A model that says `text` if it was asked for this. */
function answerTo(asked: string, text = "Yes."): string {
  return `turns: [ { expect: [ { last_user: { contains: ${JSON.stringify(asked)} } } ], text: "${text}" } ]`;
}

describe("a prompt as the first word, without a terminal", () => {
  it.each([
    [["fix", "the", "test", ...MODEL], "fix the test"],
    [[...MODEL, "fix the test"], "fix the test"],
    [["-p", "sesions", ...MODEL], "sesions"],
    [["run", "-", ...MODEL], "from stdin"],
    [[...MODEL, "-p", "run"], "run"],
    [[...MODEL, "--", "tools"], "tools"],
    [["-p", "review this", ...MODEL], "review this\n\n<stdin>\nfrom stdin\n</stdin>"],
    [["run", "review this", ...MODEL], "review this\n\n<stdin>\nfrom stdin\n</stdin>"],
    [["-p", ...MODEL], "from stdin"],
  ])("%j asks for it", async (args, asked) => {
    verifies("CLI-2");
    const place = await scripted(answerTo(asked));
    const stdin = asked.includes("stdin") ? "from stdin\n" : undefined;
    const ended = await place.run(args, { stdin });
    expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: "Yes.\n" });
    const [session] = recordsOf(await place.run(["sessions", "--json"]));
    expect(session?.["title"]).toBe(asked.split("\n")[0]);
  });

  it("does not wait for a program that started it and says nothing", async () => {
    const place = await scripted(answerTo("hi"));
    const child = spawn(process.execPath, [bundle.program, "-p", "hi", ...MODEL], {
      cwd: place.project,
      env: environment(place.home),
      stdio: ["pipe", "ignore", "ignore"],
    });
    expect(await once(child, "close")).toEqual([0, null]);
  });
});

describe("-c and -r", () => {
  it("continue the newest session of the project, or the one that is named", async () => {
    verifies("CLI-4");
    const place = await scripted(answerTo("first"));
    await place.run(["-p", "first", ...MODEL]);
    await place.run(["-p", "second", ...MODEL]);
    await place.run(["call", "code.list_dir"]);
    const titles = async () =>
      recordsOf(await place.run(["sessions", "--json"])).map(({ title }) => title);
    await place.write("s.yaml", answerTo("go on"));
    const continued = await place.run(["-c", "go on", ...MODEL]);
    expect(continued, continued.stderr).toMatchObject({ code: 0, stdout: "Yes.\n" });
    expect(continued.stderr).toContain("soong resume session_");
    expect((await titles())[0]).toBe("second");

    const listed = await place.run(["-r", ...MODEL]);
    expect(listed).toMatchObject({ code: 2, stdout: "" });
    const ids = Array.from(listed.stderr.matchAll(/^ {2}(session_\S+) {2}(\S+)/gm));
    expect(ids.map(([, , title]) => title)).toEqual(["second", "first"]);
    const id = ids[1]?.[1] ?? "";
    const resumed = await place.run(["go on", ...MODEL, "-r", id.slice(0, -1), "-p"]);
    expect(resumed, resumed.stderr).toMatchObject({ code: 0 });
    expect((await titles())[0]).toBe("first");
    expect(await place.run(["-r", "nosuch", "x"])).toMatchObject({ code: 1, stdout: "" });
    expect(await place.run(["-c", "x"], { cwd: place.home })).toMatchObject({ code: 1 });
  });
});

describe("stdout", () => {
  it("has the final answer once, after an answer that broke off and text between calls", async () => {
    verifies("CLI-2");
    const place = await scripted(`
turns:
  - { text: Looking., calls: [ { tool: code.list_dir, input: {} } ] }
  - { parts: [ { text: "The answer is" }, { error: disconnect } ] }
  - { text: "The answer is 42.\\n" }
`);
    const ended = await place.run(["-p", "why", ...MODEL]);
    expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: "The answer is 42.\n" });
    expect(ended.stderr).toMatch(/^Looking\.\n→ code\.list_dir/);
    expect(ended.stderr).not.toContain("The answer is");
  });

  it("has nothing where there is no final answer", async () => {
    const place = await scripted(
      "turns: [ { text: a, calls: [ { tool: code.list_dir, input: {} } ] } ]",
    );
    const ended = await place.run(["-p", "why", ...MODEL]);
    expect(ended).toMatchObject({ code: 1, stdout: "" });
  });
});

describe("--output-schema", () => {
  const SCHEMA = {
    type: "object",
    properties: { count: { type: "integer", minimum: 1 } },
    required: ["count"],
  };
  const wrong = `{ text: '{"count": 0}' }`;

  async function asking(turns: string, ...more: string[]) {
    const place = await scripted(`turns: [ ${turns} ]`);
    await place.write("out.json", JSON.stringify(SCHEMA));
    return place.run(["-p", "count", ...MODEL, "--output-schema", "out.json", ...more]);
  }

  it("prints the JSON alone, and asks the model again with what is wrong", async () => {
    verifies("CLI-2");
    const fenced = JSON.stringify('Here:\n```json\n{"count": 3}\n```');
    const first = await asking(`{ text: ${fenced} }`);
    expect(first, first.stderr).toMatchObject({ code: 0, stdout: '{"count":3}\n' });
    const again = `{ expect: [ { last_user: { contains: "count" } } ], text: '{"count": 2}' }`;
    const second = await asking(`${wrong}, ${again}`);
    expect(second, second.stderr).toMatchObject({ code: 0, stdout: '{"count":2}\n' });
  });

  it("fails where the answer does not fit in the end, with what is wrong", async () => {
    const failed = await asking(`${wrong}, ${wrong}`);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toMatch(/does not fit the schema[^]*count/);
    const facts = await asking(`${wrong}, ${wrong}`, "--json");
    expect(facts.code).toBe(1);
    expect(recordsOf(facts).at(-1)).toMatchObject({ type: "run.completed" });
  });

  it("does not wait for a pipe that no one writes to", async () => {
    const place = await scripted("turns: []");
    execFileSync("mkfifo", [join(place.project, "pipe")]);
    const ended = await place.run(["run", "x", ...MODEL, "--output-schema", "pipe"]);
    expect(ended, ended.stderr).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain("cannot be read");
  });

  it.each([
    ["{", /out\.json:1:2: /],
    ['{\n  "type": "objekt"\n}', /out\.json:2:11: type: /],
    ["7", /out\.json/],
    ['{ "properties": {\n  "a": { "pattern": "(" }\n} }', /out\.json:2:21: .*cannot be checked: /],
    [undefined, /out\.json cannot be read: it is not there/],
    ["/dev/zero", /dev.zero cannot be read: it is no file of at most/],
  ])("refuses the schema %j, and says where", async (text, sentence) => {
    const place = await scripted("turns: []");
    const file = text?.startsWith("/") === true ? text : "out.json";
    if (text !== undefined && file !== text) await place.write(file, text);
    const ended = await place.run(["run", "x", ...MODEL, "--output-schema", file]);
    expect(ended, ended.stderr).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toMatch(sentence);
  });
});

describe.skipIf(!canUseTmux())("at a terminal (needs tmux)", () => {
  it("a prompt begins the conversation, and the answer of -p is printed", async () => {
    verifies("CLI-1", "CLI-2");
    const place = await scripted("turns: [ { text: One. }, { text: Two. } ]");
    const open = (...args: string[]) =>
      openTmux({
        columns: 60,
        rows: 20,
        argv: [process.execPath, bundle.program, ...args],
        cwd: place.project,
        env: environment(place.home),
      });
    const talk = await open("修复 the", "test", ...MODEL);
    await talk.waitFor(/› 修复 the test\n+One\.\n/);
    await talk.type("and?\r");
    await talk.waitFor("Two.");
    await talk.type("\u0004");
    expect(await talk.end()).toBe(0);

    const printed = await open("-p", "again", ...MODEL);
    expect(await printed.end()).toBe(0);
    expect(await printed.screen()).toMatch(/^One\.\n/);

    const list = await open("-r", ...MODEL);
    await list.waitFor(/❯ again .*\n +修复 the test/);
    await list.press("Escape");
    expect(await list.end()).toBe(130);
  });
});

it("help is the help of that command", async () => {
  verifies("CLI-6");
  const place = await bundle.place();
  for (const words of [[], ["mcp", "serve"], ["mcp"], ["run"]]) {
    const asked = await place.run(["help", ...words]);
    expect(asked).toMatchObject({ code: 0, stderr: "" });
    expect(asked.stdout).toBe((await place.run([...words, "--help"])).stdout);
    expect(asked.stdout).toContain(["Usage: soong", ...words].join(" "));
  }
});
