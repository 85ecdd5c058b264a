import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadScript, ScriptError } from "./check-script.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "soong-script-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function written(name: string, content: string | Uint8Array): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, content);
  return file;
}

async function refusal(file: string): Promise<string> {
  const error: unknown = await loadScript(file).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ScriptError);
  return (error as ScriptError).message.replaceAll(folder, "DIR");
}

describe("a script in a file", () => {
  test("is read as YAML or as JSON", async () => {
    const script = { turns: [{ text: "héllo" }] };
    expect(await loadScript(await written("a.yaml", "turns: [{ text: héllo }]"))).toEqual(script);
    expect(await loadScript(await written("a.json", JSON.stringify(script)))).toEqual(script);
  });

  test("with mistakes is refused with all of them, each with its place", async () => {
    const file = await written("bad.yaml", "turns:\n  - text: 1\n  - stpo: end_turn\n");
    expect(await refusal(file)).toBe(
      'the script DIR/bad.yaml cannot be played:\n  DIR/bad.yaml:2:11: turns[0].text: is 1; text is expected: put it in quotes\n  DIR/bad.yaml:3:5: turns[1].stpo: is not a field of a turn; did you mean "stop"?',
    );
    await expect(loadScript(file)).rejects.toMatchObject({
      name: "ScriptError",
      problems: [{ line: 2 }, { line: 3 }],
    });
  });

  test("that is not there, not a file, too large or no text is refused in words", async () => {
    expect(await refusal(join(folder, "none.yaml"))).toMatch(
      /cannot be read: there is no such file$/,
    );
    expect(await refusal(folder)).toMatch(/DIR:1:1: is not a regular file$/);
    const large = await written("large.yaml", new Uint8Array(5 * 1024 * 1024 + 1).fill(35));
    expect(await refusal(large)).toMatch(/is larger than 5 MiB, the most it may have$/);
    const latin = await written("latin.yaml", new Uint8Array([0x61, 0x3a, 0x20, 0xe9]));
    expect(await refusal(latin)).toMatch(/is not UTF-8 text$/);
  });

  test("that is a pipe no one writes to is not waited for", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    expect(await refusal(pipe)).toMatch(/is not a regular file$/);
  });
});
