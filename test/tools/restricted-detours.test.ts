// Detours to a path that a rule denies (PERM-15): programs that load files by a computed name, the directories of a process
// below /proc, and links inside a tree that is walked.

import { execFileSync } from "node:child_process";
import { link, symlink } from "node:fs/promises";
import { join } from "node:path";
import type { PermissionRule } from "@soong/core";
import { resolvePathNow } from "@soong/tools";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { explainCommand, allowCode, createWorkbench, type Workbench } from "./workbench.ts";

const DENY: PermissionRule = { path: "secrets/**", decision: "deny" };

async function projectWithSecrets(rules: readonly PermissionRule[] = [DENY]): Promise<Workbench> {
  const bench = await createWorkbench({
    rules: [...allowCode, ...rules],
    session: { resolvePath: (path) => resolvePathNow("/", path) },
  });
  onTestFinished(() => bench.close());
  await bench.write("secrets/db.json", '"the secret"\n');
  await bench.write("src/a.json", '{"include": ["src"], "import": 1}\n');
  await bench.write("src/p.jq", ".\n");
  return bench;
}

async function decided(bench: Workbench, argv: string[], cwd?: string) {
  return (await explainCommand(bench, argv, cwd)).outcome;
}

describe("jq, which loads modules and programs from files,", () => {
  test.each([
    [["jq", "-n", String.raw`import "sec\u0072ets/db" as $d; $d`]],
    [["jq", "-n", String.raw`import "db" as $d {search:"./sec\u0072ets"}; $d`]],
    [["jq", "-n", 'import "db" as $d {search:("./sec"+"rets")}; $d']],
    [["jq", "-n", '# first\nimport"a" as $d; $d']],
    [["jq", "-n", 'module {}; include\n# here\n"a"; 1']],
    [["jq", "-n", 'import @text "a" as $d; $d']],
    [["jq", "-n", '"./a" | modulemeta']],
    [["jq", "-nf", "src/p.jq"]],
    [["jq", "--from-file", "src/p.jq", "src/a.json"]],
    [["jq", "-L", "src", "-n", "1"]],
    [["jq", "-nLsrc", "1"]],
  ])("asks where it may load any: %j", async (argv) => {
    verifies("PERM-15");
    expect(await decided(await projectWithSecrets(), argv)).toBe("ask");
    expect(await decided(await projectWithSecrets([]), argv)).toBe("allow");
  });

  test.each([
    [["jq", ".include", "src/a.json"]],
    [["jq", "{include, import}", "src/a.json"]],
    [["jq", "--arg", "x", "1", ".import == $x", "src/a.json"]],
    [["jq", "-r", "input_filename", "src/a.json"]],
  ])("is as allowed as before with an ordinary filter: %j", async (argv) => {
    verifies("PERM-15");
    expect(await decided(await projectWithSecrets(), argv)).toBe("allow");
  });
});

describe("awk, which opens the files its program names,", () => {
  test.each([
    [["awk", 'BEGIN{f="sec" "rets/db.json"; while((getline l<f)>0)print l}']],
    [["awk", 'BEGIN{ARGV[1]="sec" "rets/db.json"; ARGC=2} 1']],
    [["awk", "-f", "src/p.awk"]],
  ])("asks where the name is computed: %j", async (argv) => {
    verifies("PERM-15");
    expect(await decided(await projectWithSecrets(), argv)).toBe("ask");
  });

  test("is judged by the names that are handed to such a program as variables", async () => {
    verifies("PERM-15", "PATH-3");
    const bench = await projectWithSecrets();
    await bench.write(".env", "TOKEN=1\n");
    const program = "BEGIN{while((getline l<f)>0)print l}";
    expect(await decided(bench, ["awk", "-v", "f=secrets/db.json", program])).toBe("deny");
    expect(await decided(bench, ["awk", "-vf=secrets/db.json", program])).toBe("deny");
    const sensitive = await projectWithSecrets([]);
    await sensitive.write(".env", "TOKEN=1\n");
    expect(await decided(sensitive, ["awk", "-v", "f=.env", program])).toBe("ask");
    expect(await decided(sensitive, ["awk", "-v", "f=.env", "{print f}", "src/a.json"])).toBe(
      "allow",
    );
  });
});

describe.skipIf(process.platform !== "linux")("a path through /proc", () => {
  test.each([
    [["cat", "/dev/fd/../cwd/../secrets/db.json"]],
    [["cat", "/proc/net/../cwd/../secrets/db.json"]],
    [["cat", "/proc/self/cwd/../secrets/db.json"]],
    [["cat", "/proc/thread-self/cwd/../secrets/db.json"]],
    [["cat", "/proc/thread-self/../../cwd/../secrets/db.json"]],
    [["cat", "/proc/self/task/../cwd/../secrets/db.json"]],
    // The id that the process will have may be guessed.
    [["cat", "/proc/999999999/cwd/../secrets/db.json"]],
    [["cat", "ps/cwd/../secrets/db.json"]],
    [["cat", "ps/../self/cwd/../secrets/db.json"]],
    [["ls", "/dev/fd/../cwd/../secrets"]],
    [["cp", "/dev/fd/../cwd/../secrets/db.json", "x"]],
    [["touch", "/dev/fd/../cwd/../secrets/new"]],
    [["tar", "cf", "x.tar", "/dev/fd/../cwd/../secrets"]],
  ])("is judged as the process resolves it: %j", async (argv) => {
    verifies("PERM-15", "PATH-1");
    const bench = await projectWithSecrets();
    await symlink("/proc/self", join(bench.project, "src/ps"));
    expect(await decided(bench, argv, "src")).toBe("deny");
  });

  test("reaches what its directory holds", async () => {
    verifies("PERM-15");
    const bench = await projectWithSecrets();
    expect(await decided(bench, ["grep", "-r", "x", "/dev/fd/../cwd/.."], "src")).toBe("ask");
  });

  test("asks where it leads through an open file, since it may be any", async () => {
    verifies("PERM-15");
    const bench = await projectWithSecrets([]);
    for (const path of ["/dev/fd/3/../secrets/db.json", "/dev/fd/3/..", "/proc/self/fd/3/x"]) {
      expect(await decided(bench, ["cp", "-t", "src", path])).toBe("ask");
    }
  });

  test.each([
    [["cat", "/dev/stdin"]],
    [["cat", "/dev/fd/0"]],
    [["cat", "/proc/self/fd/0"]],
    [["cat", "/proc/cpuinfo"]],
    [["cat", "/proc/self/status"]],
    [["cat", "/proc/self/cwd/a.json"]],
    [["tee", "/dev/stderr"]],
    [["ls", "/dev/fd"]],
  ])("to something else is as allowed as before: %j", async (argv) => {
    verifies("PERM-15");
    expect(await decided(await projectWithSecrets(), argv, "src")).toBe("allow");
  });
});

describe("links inside a tree that is walked", () => {
  async function projectWithLinks(rules?: readonly PermissionRule[]) {
    const bench = await projectWithSecrets(rules);
    const { project } = bench;
    await bench.write("src/below/b.txt", "b\n");
    await bench.write("hard/a.txt", "a\n");
    await bench.write("file/a.txt", "a\n");
    await bench.write("open/a.txt", "a\n");
    await bench.write("around/a.txt", "a\n");
    await bench.write("process/a.txt", "a\n");
    await symlink("../../secrets", join(project, "src/below/sd"));
    await symlink("../secrets/db.json", join(project, "file/link.txt"));
    await symlink("..", join(project, "around/up"));
    await symlink("/proc/self", join(project, "process/ps"));
    await symlink("../open", join(project, "open/self"));
    await symlink("../src/a.json", join(project, "open/link.json"));
    await link(join(project, "secrets/db.json"), join(project, "hard/h.txt"));
    await link(join(project, "open/a.txt"), join(project, "open/second.txt"));
    return bench;
  }

  test.each<[string[], string?]>([
    [["grep", "-Rn", "x", "src"]],
    [["grep", "-R", "x"], "src/below"],
    [["cp", "-rL", "src", "copy"]],
    [["ls", "-LR", "src"]],
    [["find", "-L", "src"]],
    [["find", "src", "-follow", "-type", "f"]],
    [["du", "-aL", "src"]],
    [["diff", "-r", "src", "open"]],
    [["grep", "-Rn", "x", "around"]],
    [["grep", "-Rn", "x", "process"]],
    [["grep", "-R", "x", "/proc/self"]],
    [["find", "file", "-type", "l", "-exec", "cat", "{}", "+"]],
    [["grep", "-rn", "x", "hard"]],
    [["cp", "-r", "hard", "copy"]],
    [["find", "hard", "-exec", "cat", "{}", "+"]],
  ])("require approval where they lead to what a rule restricts: %j in %s", async (argv, cwd) => {
    verifies("PERM-15");
    for (const rule of [DENY, { path: "**/db.json", decision: "deny" } as const]) {
      expect(await decided(await projectWithLinks([rule]), argv, cwd)).toBe("ask");
    }
  });

  test.each([
    [["grep", "-rn", "x", "src"]],
    [["cp", "-r", "src", "copy"]],
    [["ls", "-R", "src"]],
    [["find", "src"]],
    [["grep", "-R", "x", "open"]],
    [["ls", "-LR", "open"]],
    [["ls", "-LR", "hard"]],
    [["cp", "-rL", "open", "copy"]],
  ])("are as allowed as before where they are not followed or lead elsewhere: %j", async (argv) => {
    verifies("PERM-15");
    expect(await decided(await projectWithLinks(), argv)).toBe("allow");
  });
});

test("a link that find does not hand over is not looked at", async () => {
  verifies("PATH-3");
  const bench = await projectWithSecrets([]);
  await symlink("/proc/self", join(bench.project, "src/ps"));
  const find = (name: string) => ["find", "src", "-name", name, "-exec", "cat", "{}", "+"];
  expect(await decided(bench, find("*.json"))).toBe("allow");
  expect(await decided(bench, find("p*"))).toBe("ask");
});

describe("a hard link to a sensitive file", () => {
  async function projectWithHardLink() {
    const bench = await projectWithSecrets([]);
    const { project } = bench;
    await bench.write("app/.env", "TOKEN=1\n");
    await bench.write("node_modules/a/index.js", "a\n");
    await link(join(project, "app/.env"), join(project, "src/eh.txt"));
    await link(join(project, "src/a.json"), join(project, "src/second.json"));
    return bench;
  }

  test("asks under its other name as the file does", async () => {
    verifies("PATH-3");
    const bench = await projectWithHardLink();
    const read = { name: "code.read_file", arguments: { path: "src/eh.txt" } };
    const explained = await (await bench.session.startRun()).explain(read);
    expect(explained).toMatchObject({
      outcome: "ask",
      reason: expect.stringContaining("sensitive") as string,
    });
    expect(await decided(bench, ["cat", "src/eh.txt"])).toBe("ask");
    expect(await decided(bench, ["cat", "eh.txt"], "src")).toBe("ask");
  });

  test("does not make other files with two names ask", async () => {
    verifies("PATH-3");
    const bench = await projectWithHardLink();
    expect(await decided(bench, ["cat", "src/second.json"])).toBe("allow");
    expect(await bench.call("code.read_file", { path: "src/second.json" })).toMatchObject({
      status: "succeeded",
    });
  });
});

describe("an option or a command that changes the directory", () => {
  async function repository() {
    const bench = await projectWithSecrets();
    await bench.write("src/deep/b.txt", "b\n");
    execFileSync("git", ["init", "-q"], { cwd: bench.project, env: { PATH: process.env["PATH"] } });
    return bench;
  }

  test("does not hide a denied path", async () => {
    verifies("PERM-15");
    const bench = await repository();
    for (const argv of [
      ["git", "-C", "src", "commit", "--allow-empty", "-F", "../secrets/db.json"],
      ["git", "-C", "src", "commit", "-F../secrets/db.json"],
      ["git", "-C", "src", "-C", "deep", "commit", "-F", "../../secrets/db.json"],
      ["git", "-C", "src", "blame", "../secrets/db.json"],
      ["git", "-C", "src", "annotate", "../secrets/db.json"],
      ["git", "-C", "src", "tag", "-F", "../secrets/db.json", "x"],
      ["git", "-C", "src", "tag", "x", "HEAD:../secrets/db.json"],
      ["git", "-C", "src", "config", "-f", "../secrets/db.json", "--list"],
      ["git", "-C", "src", "mv", "a.json", "../secrets/z"],
      ["git", "-C", "src", "hash-object", "-w", "../secrets/db.json"],
      ["env", "git", "-C", "src", "blame", "../secrets/db.json"],
      ["tar", "-cf", "-", "-C", "src", "../secrets/db.json"],
      ["tar", "-cf", "-", "-Csrc", "../secrets/db.json"],
      ["tar", "cCf", "src", "-", "../secrets/db.json"],
      ["tar", "-cf", "-", "--directory=src", "../secrets/db.json"],
      ["tar", "-cf", "-", "--dir", "src", "-C", "deep", "../../secrets/db.json"],
      ["env", "-C", "src", "cat", "../secrets/db.json"],
      ["env", "-iC", "src", "cat", "../secrets/db.json"],
      ["env", "--chdir=src", "tee", "../secrets/new"],
      ["sh", "-c", "cd src && cat ../secrets/db.json"],
      ["sh", "-c", "cd src; cd deep; cat ../../secrets/db.json"],
      ["sh", "-c", "mkdir -p src/new; cd src/new; cat ../../secrets/db.json"],
      ["sh", "-c", "(cd src; cat ../secrets/db.json)"],
      ["sh", "-c", "env -C src cat ../secrets/db.json"],
      ["make", "-C", "src", "-f", "../secrets/db.json"],
    ]) {
      expect([argv, await decided(bench, argv)]).toEqual([argv, "deny"]);
    }
  });

  test("asks where it is changed too often to follow", async () => {
    verifies("PERM-15");
    const bench = await repository();
    const changes = Array.from({ length: 80 }, (_, index) => ["-C", `../project/n${index}`]);
    const argv = ["git", ...changes.flat(), "blame", "../secrets/db.json"];
    expect(await decided(bench, argv)).not.toBe("allow");
  });

  test("counts only for the commands that run there", async () => {
    verifies("PATH-3");
    const bench = await projectWithSecrets([]);
    await bench.write(".env", "TOKEN=1\n");
    for (const script of [
      "(cd src; ls); grep -r x .",
      "cd src | ls; grep -r x .",
      "cd none; grep -r x .",
      "cd src; grep -r x ..",
    ]) {
      expect([script, await decided(bench, ["sh", "-c", script])]).toEqual([script, "ask"]);
    }
    expect(await decided(bench, ["sh", "-c", "cd src && grep -rn b ."])).toBe("allow");
    expect(await decided(bench, ["env", "-C", "src", "grep", "-rn", "b", "."])).toBe("allow");
  });

  test("leaves other work as it was", async () => {
    verifies("PERM-15");
    const bench = await repository();
    for (const argv of [
      ["git", "-C", "src", "blame", "a.json"],
      ["git", "-C", "src", "commit", "-m", "../secrets/db.json"],
      ["tar", "-cf", "/dev/null", "-C", "src", "a.json"],
      ["grep", "-C", "3", "word", "src/a.json"],
    ]) {
      expect([argv, await decided(bench, argv)]).toEqual([argv, "allow"]);
    }
  });
});

test("a file that names others is judged by them, and may reach any where they are unknown", async () => {
  verifies("PERM-15");
  const bench = await projectWithSecrets();
  await bench.write("src/list", "src/a.json\nsecrets/db.json\n");
  await bench.write("src/other", "src/a.json\n");
  const decide = (...argv: string[]) => decided(bench, argv);
  expect(await decide("xz", "-dcf", "--files=src/list")).toBe("deny");
  expect(await decide("xz", "-dcf", "--files=src/other")).toBe("ask");
  expect(await decide("xz", "-dcf", "--files")).toBe("ask");
  expect(await decide("unxz", "--fil=src/other")).toBe("ask");
  expect(await decide("md5sum", "-c", "src/other")).toBe("ask");
  expect(await decide("wc", "--files0-from=-")).toBe("ask");
  expect(await decide("xz", "-kc", "src/a.json")).toBe("allow");
  expect(await decide("sort", "--field-separator=,", "src/a.json")).toBe("allow");
});

test("a comparison of directories reads their files without an option", async () => {
  verifies("PERM-15");
  const bench = await projectWithSecrets([{ path: "top.txt", decision: "deny" }]);
  await bench.write("top.txt", "secret\n");
  await bench.write("src/top.txt", "other\n");
  await bench.write("empty/x", "x\n");
  const decide = (...argv: string[]) => decided(bench, argv);
  expect(await decide("diff", "-N", ".", "empty")).toBe("ask");
  expect(await decide("diff", "empty", ".")).toBe("ask");
  expect(await decide("diff", "src/top.txt", ".")).toBe("ask");
  expect(await decide("diff", "--from-file=.", "src/top.txt")).toBe("ask");
  expect(await decide("diff", "src", "empty")).toBe("allow");
  expect(await decide("diff", "src/a.json", "src/p.jq")).toBe("allow");
});

test("the names beside a missing file are those that a listing shows", async () => {
  verifies("PERM-15");
  const bench = await projectWithSecrets([{ path: "secrets/db.json", decision: "deny" }]);
  await link(join(bench.project, "secrets/db.json"), join(bench.project, "src/hard.txt"));
  await bench.write("src/harp.txt", "harp\n");
  const { error } = await bench.call("code.read_file", { path: "src/har.txt" });
  expect(error?.message).toContain("harp.txt");
  expect(error?.message).not.toContain("hard.txt");
});
