// Rules, flags and hooks that match nothing, as a user meets them: at the start, in `doctor`, in `explain` (PERM-17).

import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, recordsOf, type CliBundle, type Ended } from "./cli-bundle.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const runAllChecks = (doctor: Ended) =>
  new Map(recordsOf(doctor).map((finding) => [finding["about"], finding]));

describe("rules, flags and hooks that match nothing", () => {
  it("are warnings at the start, in the doctor and in explain", async () => {
    verifies("PERM-17");
    const place = await bundle.place();
    const hook = join(place.home, "hook.sh");
    await place.write(
      join(place.home, "config.toml"),
      [
        "[[permissions.rules]]",
        'tags = ["dangeros"]',
        'decision = "deny"',
        "[[permissions.rules]]",
        'argv = ["rm -rf"]',
        'decision = "deny"',
        "[[permissions.rules]]",
        'path = "$HOME/keys/**"',
        'decision = "deny"',
      ].join("\n"),
    );
    await place.write(hook, "#!/bin/sh\n");
    await chmod(hook, 0o700);
    const guard = { id: "guard", event: "PreToolUse", tags: ["wirte"], command: [hook] };
    await place.write(join(place.home, "hooks.json"), JSON.stringify({ hooks: [guard] }));
    const [call, doctor, policy, explain] = await Promise.all([
      place.run(["call", "code.list_dir", "{}", "--deny", "code.reed_file"]),
      place.run(["doctor", "--json"]),
      place.run(["explain", "--json"]),
      place.run(["explain", "code.list_dir", "{}", "--json"]),
    ]);
    const config = join(place.home, "config.toml");
    const warnings = [
      `${config}:1: tags has "dangeros", which no tool has; did you mean "dangerous"?`,
      `${config}:4: argv matches nothing: "rm -rf" is one item, the name of the program; write argv = ["rm","-rf"]`,
      `${config}:7: path "$HOME/keys/**" matches nothing: variables such as $HOME are not expanded; write "~/keys/**"`,
      'hooks.json, hook "guard": tags has "wirte", which no tool has; did you mean "write"?',
    ];
    const flag =
      '--deny code.reed_file: tool "code.reed_file" matches no tool; did you mean "code.read_file"?';
    expect(call.code).toBe(0);
    for (const warning of [...warnings, flag]) {
      expect(call.stderr).toContain(`warning: ${warning}\n`);
    }
    const { state, says } = runAllChecks(doctor).get("rules") ?? {};
    expect(state).toBe("warn");
    expect(String(says).split("\n")).toEqual(["3 in the config", ...warnings]);
    for (const record of [...recordsOf(policy), ...recordsOf(explain)]) {
      expect(record["warnings"]).toHaveLength(4);
    }
  });

  it("may be rules of an agent's definition", async () => {
    verifies("PERM-17");
    const place = await bundle.place();
    const file = join(place.home, "agents/reviewer.md");
    await place.write(
      file,
      [
        "---",
        "description: Reviews.",
        "rules:",
        "  - { path: src/**, decision: ask }",
        "  - { tool: code.reed_file, decision: deny }",
        "---",
        "You review.",
      ].join("\n"),
    );
    await place.write("s.yaml", "turns: [ { text: Done. } ]");
    await place.write("src/a.txt", "");
    const [run, doctor, explain] = await Promise.all([
      place.run(["run", "--model", "script:s.yaml", "go"]),
      place.run(["doctor", "--json"]),
      place.run(["explain", "--json"]),
    ]);
    const where = `${file}:5`;
    const message = 'tool "code.reed_file" matches no tool; did you mean "code.read_file"?';
    expect(run.stderr).toContain(`warning: ${where}: ${message}\n`);
    expect(runAllChecks(doctor).get("rules")).toMatchObject({
      state: "warn",
      says: `0 in the config\n${where}: ${message}`,
    });
    expect(recordsOf(explain)[0]?.["warnings"]).toEqual([{ kind: "never", where, message }]);
  });

  it("are no warning while what they name may still be made", async () => {
    verifies("PERM-17");
    const place = await bundle.place();
    await place.write(
      join(place.home, "config.toml"),
      '[[permissions.rules]]\npath = "secrets/**"\ndecision = "deny"\n',
    );
    const [call, doctor, policy] = await Promise.all([
      place.run(["call", "code.list_dir", "{}"]),
      place.run(["doctor", "--json"]),
      place.run(["explain"]),
    ]);
    expect(call).toMatchObject({ code: 0, stderr: "" });
    expect(runAllChecks(doctor).get("rules")).toMatchObject({
      state: "ok",
      says: expect.stringContaining('path "secrets/**" matches nothing now') as string,
    });
    expect(policy.stdout).toContain("Matches nothing now, and may later:");
  });

  it("are not looked for while tools cannot be read, and the doctor names those once", async () => {
    verifies("CONF-2");
    const place = await bundle.place();
    await place.write(join(place.home, "tools", "bad.json"), '{ "tool_name": "notes.bad" }');
    const doctor = await place.run(["doctor", "--json"]);
    const findings = runAllChecks(doctor);
    expect(doctor.code).toBe(1);
    expect(findings.get("tools")).toMatchObject({ state: "fail" });
    expect(findings.get("rules")).toMatchObject({
      state: "warn",
      says: "not checked: tools, hooks or servers cannot be read",
    });
  });
});
