// Completion in real shells, with the real program: zsh and fish where they are installed.

import { execFileSync, spawnSync } from "node:child_process";
import { chmod, mkdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, environment, recordsOf, type CliBundle, type Place } from "./cli-bundle.ts";

let bundle: CliBundle;
let place: Place;
let env: Record<string, string>;
let session_id: string;

beforeAll(async () => {
  bundle = await bundleCli();
  place = await bundle.place();
  const bin = join(dirname(place.home), "bin");
  await mkdir(bin);
  await place.write(
    join(bin, "soong"),
    `#!/bin/sh\nexec '${process.execPath}' '${bundle.program}' "$@"\n`,
  );
  await chmod(join(bin, "soong"), 0o755);
  env = environment(place.home);
  env["PATH"] = `${bin}${delimiter}${env["PATH"]}`;
  await place.write(
    join(place.home, "config.toml"),
    `[models.profiles.local-large]
provider = "openai-compatible"
model = "large"
base_url = "http://127.0.0.1:1"
`,
  );
  await place.write(
    join(place.home, "agents", "reviewer.md"),
    "---\ndescription: Reviews.\nroles: [main]\n---\nReview.\n",
  );
  await place.write(
    join(place.home, "mcp.json"),
    '{"mcpServers": {"hub": {"command": "/nowhere"}}}',
  );
  await place.write("s.yaml", "turns: [{ text: Hello. }, { text: Bye. }]");
  const run = ["run", "--model", "script:s.yaml"];
  await place.run([...run, "say hello"]);
  session_id = String(recordsOf(await place.run(["sessions", "--json"]))[0]?.["session_id"]);
});

afterAll(() => bundle.remove());

/** What bash would put into the line for these words. */
async function completeInBash(...words: string[]): Promise<string[]> {
  const { stdout: script } = await place.run(["completion", "bash"]);
  const all = ["soong", ...words].map((word) => `'${word}'`).join(" ");
  const ask = `COMP_WORDS=(${all}); COMP_CWORD=${words.length}; _soong soong; printf '%s\n' "\${COMPREPLY[@]}"`;
  const options = { encoding: "utf8", env, cwd: place.project } as const;
  const printed = execFileSync("bash", ["-c", `${script}\n${ask}`], options);
  return printed.trimEnd().split("\n");
}

describe("completion", () => {
  it("offers commands, options and their values in bash", async () => {
    verifies("CLI-6");
    expect(await completeInBash("se")).toEqual(["sessions"]);
    expect(await completeInBash("sessions", "r")).toEqual(["rm"]);
    expect(await completeInBash("sessions", "rm", "--old")).toEqual(["--older-than"]);
    expect(await completeInBash("call", "code.read_file", "--al")).toEqual(["--allow"]);
    expect(await completeInBash("run", "--mode", "pl")).toEqual(["plan"]);
    expect(await completeInBash("run", "--model", "local")).toEqual(["local-large"]);
    expect(await completeInBash("run", "--agent", "rev")).toEqual(["reviewer"]);
    expect(await completeInBash("completion", "z")).toEqual(["zsh"]);
  });

  it("offers ids and names of now, short or whole, and nothing for what is unknown", async () => {
    verifies("CLI-6");
    const short = session_id.slice("session_".length).slice(0, 8);
    expect(await completeInBash("show", "")).toEqual([short]);
    expect(await completeInBash("show", short.slice(0, 3))).toEqual([short]);
    expect(await completeInBash("sessions", "rm", "session_")).toEqual([session_id]);
    expect(await completeInBash("call", "code.read_f")).toEqual(["code.read_file"]);
    expect(await completeInBash("explain", "mcp.")).toEqual(["mcp.hub."]);
    expect(await completeInBash("mcp", "list", "h")).toEqual(["hub"]);
    expect(await completeInBash("nosuch", "x")).toEqual([""]);
    expect(await completeInBash("show", "zzz")).toEqual([""]);
  });

  it("offers nothing and says nothing where the config has a mistake, or there is no home", async () => {
    verifies("CLI-6");
    const broken = await bundle.place();
    await broken.write(join(broken.home, "config.toml"), "[modle");
    for (const words of [["call", "c"], ["run", "--model", ""], ["show", ""], [], ["--", "--"]]) {
      const ended = await broken.run(["__complete", "--", ...words]);
      expect([ended.code, ended.stderr], words.join(" ")).toEqual([0, ""]);
    }
  });

  it.skipIf(spawnSync("zsh", ["-c", "true"]).status !== 0)("loads in zsh", async () => {
    const { stdout: script } = await place.run(["completion", "zsh"]);
    await place.write("_soong", script);
    const ask = `autoload -Uz compinit; compinit -D -u; source ./_soong; functions _soong; print -r -- $_comps[soong]`;
    const options = { encoding: "utf8", env, cwd: place.project } as const;
    expect(execFileSync("zsh", ["-f", "-c", ask], options)).toMatch(/__complete[^]*\n_soong\n$/);
  });

  it.skipIf(spawnSync("fish", ["-c", "true"]).status !== 0)("completes in fish", async () => {
    const { stdout: script } = await place.run(["completion", "fish"]);
    await place.write("soong.fish", script);
    const ask = `source soong.fish; complete -C "soong sessions r"; complete -C "soong show "`;
    const options = { encoding: "utf8", env, cwd: place.project } as const;
    const printed = execFileSync("fish", ["--no-config", "-c", ask], options);
    expect(printed).toMatch(/^rm\tremove sessions.*\n\w{8}\tsay hello {2}just now\n$/);
  });
});
