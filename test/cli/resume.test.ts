// A run that was cut off, continued by the next process: where it was, with what is known of its calls (STORE-5).

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { bundleCli, environment, recordsOf, type CliBundle, type Place } from "./cli-bundle.ts";
import { canUseTmux, openTmux } from "./tmux.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const WAIT = { timeout: 30_000, interval: 20 };

const FIRST = `
turns:
  - text: I begin.
    calls:
      - { tool: code.run_command, input: { argv: [sh, -c, "echo x >> ran; cat gate"] } }
      - { tool: code.write_file, input: { path: later.txt, content: "later" } }
`;

const CONTINUED = `
turns:
  - expect:
      - { result: 0, contains: "may or may not have happened" }
      - { result: 1, contains: "was not started" }
      - { last_user: { contains: "go" } }
    calls: [ { tool: code.write_file, input: { path: later.txt, content: "later" } } ]
  - text: Now it is done.
`;

const RULES = ["--allow", "code.run_command", "--allow", "code.write_file"];

/** A session whose runtime was killed while its command ran. */
async function cutOff(): Promise<Place & { readonly session_id: string }> {
  const place = await bundle.place();
  await place.write("s.yaml", FIRST);
  await once(spawn("mkfifo", [join(place.project, "gate")]), "close");
  const run = place.start(["run", "--model", "script:s.yaml", ...RULES, "go"]);
  await vi.waitFor(() => expect(existsSync(join(place.project, "ran"))).toBe(true), WAIT);
  run.child.kill("SIGKILL");
  await run.ended;
  const [session] = recordsOf(await place.run(["sessions", "--json"]));
  await place.write("s.yaml", CONTINUED);
  return { ...place, session_id: String(session?.["session_id"]) };
}

describe("soong resume without a prompt", () => {
  it("continues a run that was killed, without a terminal, and does nothing twice", async () => {
    verifies("STORE-5", "STORE-3");
    const place = await cutOff();
    const resume = ["resume", place.session_id, "--model", "script:s.yaml", ...RULES];
    const continued = await place.run(resume);
    expect(continued, continued.stderr).toMatchObject({ code: 0 });
    expect(continued.stdout).toContain("Now it is done.");
    expect(await place.read("ran")).toBe("x\n");
    expect(await place.read("later.txt")).toBe("later");
    expect((await place.run(["verify", "--all"])).code).toBe(0);

    // Nothing is left to continue; a prompt is what is missing then.
    const again = await place.run(resume);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("Nothing was interrupted");
  });

  it("names the project that the session was begun in, where it continues in another", async () => {
    verifies("CLI-4");
    const place = await bundle.place();
    await place.write("s.yaml", "turns: [ { text: One. } ]");
    await place.run(["run", "--model", "script:s.yaml", "go"]);
    const [session] = recordsOf(await place.run(["sessions", "--json"]));
    const resume = ["resume", String(session?.["session_id"]), "on", "--model", "script:s.yaml"];
    expect((await place.run(resume)).stderr).not.toContain("warning");
    await place.write(join("elsewhere", "s.yaml"), "turns: [ { text: Two. } ]");
    const elsewhere = join(place.project, "elsewhere");
    const moved = await place.run([...resume, "--cwd", elsewhere]);
    expect(moved).toMatchObject({ code: 0 });
    expect(moved.stderr).toContain(
      `warning: this session was begun in ${place.project}, and continues in ${elsewhere}.`,
    );
  });

  it("says first that there is no such session, with the nearest", async () => {
    verifies("CLI-4");
    const place = await bundle.place();
    expect((await place.run(["resume", "nosuch"])).stderr).toContain("There is no session nosuch");
    const call = await place.run(["call", "code.list_dir", "{}", "--json"]);
    const session_id = String(recordsOf(call)[0]?.["session_id"]);
    const unknown = await place.run(["resume", "nosuch", "hi"]);
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toBe(
      "soong: There is no session nosuch. `soong sessions --all` lists them.\n",
    );
    const near = `${session_id.slice(0, -1)}_`;
    const { stderr } = await place.run(["resume", near, "hi"]);
    expect(stderr).toContain(`There is no session ${near}. Did you mean ${session_id}?`);
  });

  it.each([["resume"], ["-c"], ["-r", "session_"]])(
    "%s %s continues one that failed, and asks the model again where the prompt was all there was",
    async (...words) => {
      verifies("STORE-5");
      const place = await bundle.place();
      await place.write("s.yaml", "turns: []");
      const failed = await place.run(["run", "--model", "script:s.yaml", "remember me"]);
      expect(failed.code).toBe(1);
      await place.write(
        "s.yaml",
        "turns: [ { expect: [ { last_user: { contains: remember me } } ], text: I do. } ]",
      );
      const continued = await place.run([...words, "--model", "script:s.yaml"]);
      expect(continued, continued.stderr).toMatchObject({ code: 0, stdout: "I do.\n" });
    },
  );

  it.skipIf(!canUseTmux())("continues in a conversation (needs tmux)", async () => {
    verifies("STORE-5");
    const place = await cutOff();
    const { home, project, session_id } = place;
    const screen = await openTmux({
      columns: 100,
      rows: 40,
      argv: [
        process.execPath,
        bundle.program,
        "resume",
        session_id,
        "--model",
        "script:s.yaml",
        ...RULES,
      ],
      cwd: project,
      env: environment(home),
    });
    await screen.waitFor(/stopped in the middle of this run; it continues now[^]*Now it is done\./);
    await screen.waitFor(/›$/);
    expect(await place.read("ran")).toBe("x\n");
    expect(await place.read("later.txt")).toBe("later");
    await screen.type("\u0004");
  });
});
