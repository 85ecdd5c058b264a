// Commands that read whole trees (PATH-3): under an allow for the program, a tree that holds a sensitive file asks, and one
// that holds none does not.

import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { createWorkbench, explainCommand, type Workbench } from "./workbench.ts";

async function projectWithSecrets(): Promise<Workbench> {
  const bench = await createWorkbench();
  onTestFinished(() => bench.close());
  await bench.write("app/.env", "TOKEN=1\n");
  await bench.write("app/src/main.ts", "export {};\n");
  await bench.write("open/a.ts", "a\n");
  await bench.write("list", "app/.env\0");
  await bench.write("lines", "open/a.ts\napp/.env\n");
  await bench.write("beside", "./.env\n");
  await bench.write("long", `${"open/a.ts\0".repeat(10_000)}app/.env\0`);
  await bench.write("harmless", "open/a.ts\n");
  await bench.write("open/below/b.txt", "b\n");
  await bench.write("open/node_modules/tls/test/server.pem", "public\n");
  await bench.write("open/.git/config", '[remote "origin"]\n\turl = https://example.org/a.git\n');
  await bench.write("linked/c.txt", "c\n");
  await symlink("../app", join(bench.project, "linked/app"));
  await symlink("../app/.env", join(bench.project, "linked/settings"));
  return bench;
}

async function judged(bench: Workbench, argv: string[], cwd?: string) {
  const explained = await explainCommand(bench, argv, cwd);
  // A program that is not installed is refused after it was judged.
  const judgement = explained.judgements?.[0];
  const { rule } = judgement?.chain.find(({ decisive }) => decisive === true) ?? {};
  return { outcome: judgement?.decision, rule };
}

const READS_ALL: [string[], string?][] = [
  [["grep", "-r", ".", "."]],
  [["grep", "-r", "TOKEN"]],
  [["grep", "-rn", "TOKEN", "app"]],
  [["grep", "--recursive", "-e", "TOKEN", "app"]],
  [["grep", "-d", "recurse", "TOKEN", "app"]],
  [["grep", "-R", "TOKEN", "linked"]],
  [["grep", "-r", "--include=.env", "TOKEN", "."]],
  [["rgrep", "TOKEN"], "app"],
  [["rg", "--hidden", "TOKEN"]],
  [["rg", "-uu", "TOKEN"]],
  [["rg", "--type-add=x:.env", "-tx", "TOKEN"]],
  [["rg", "-tsh", "TOKEN"]],
  // The name of a directory is the pattern here, and all is searched.
  [["grep", "-r", "open"]],
  [["grep", "-r", "-e", "open"]],
  [["grep", "-rm", "1", "open"]],
  [["grep", "-r", "--context", "3", "open"]],
  [["rg", "--hidden", "-M", "100", "open"]],
  [["cp", "-r", ".", "/tmp/elsewhere"]],
  [["cp", "-a", "app", "copy"]],
  [["cp", "-t", "copy", "-r", "app"]],
  [["cp", "-rL", "linked", "copy"]],
  [["mv", "app", "moved"]],
  [["diff", "-r", "app", "open"]],
  [["find", ".", "-type", "f", "-exec", "cat", "{}", "+"]],
  [["find", "app", "-name", ".e*", "-exec", "cat", "{}", ";"]],
  [["find", "-exec", "cat", "{}", ";"], "app"],
  [["tar", "c", "."]],
  [["tar", "-czf", "x.tgz", "app"]],
  [["tar", "--create", "-f", "x.tar", "-C", "app", "."]],
  [["rsync", "-a", "app/", "copy"]],
  [["zip", "-r", "x.zip", "."]],
  [["scp", "-r", "app", "host:copy"]],
  [["gzip", "-r", "app"]],
  [["env", "grep", "-r", "TOKEN", "."]],
  [["timeout", "5", "cp", "-r", "app", "copy"]],
  [["sh", "-c", "grep -r TOKEN ."]],
  [["sh", "-c", "cd app && tar c ."]],
  [["sh", "-c", "find . -type f | xargs cat"]],
  [["diff", "app", "open"]],
  [["git", "grep", "--no-index", "TOKEN"]],
  [["git", "diff", "--no-index", "app", "open"]],
  [["sort", "--files0-from=list"]],
  [["tar", "-cf", "x.tar", "-T", "list"]],
  [["xargs", "-a", "list", "cat"]],
  [["xz", "-dcf", "--files=lines"]],
  [["xz", "-dcf", "--files0=list"]],
  [["unxz", "-cf", "--file=lines"]],
  [["env", "-C", "app", "xz", "-dcf", "--files=../beside"]],
  [["sh", "-c", "xz -dcf --files=lines"]],
  [["du", "--files0=list"]],
  [["file", "-f", "lines"]],
  [["strings", "@lines"]],
  [["git", "add", "--pathspec-from-file=lines"]],
  [["sort", "--files0-from=long"]],
];

const READS_NONE: [string[], string?][] = [
  [["grep", "-r", ".", "open"]],
  [["grep", "-r", "app", "open"]],
  [["grep", "-rn", "TOKEN", "--include=*.ts", "."]],
  [["grep", "-r", "--exclude=.env", "TOKEN", "app"]],
  [["grep", "-r", "--exclude-dir=app", "--exclude-dir=linked", "TOKEN", "."]],
  [["grep", "-r", "TOKEN", "linked"]],
  [["grep", "-r", "TOKEN", "app/src/main.ts"]],
  [["rg", "TOKEN"]],
  [["rg", "-tts", "-A", "3", "TOKEN"]],
  [["rg", "--hidden", "-M", "100", "app", "open"]],
  [["grep", "-rnm", "1", "-e", "app", "open"]],
  [["cp", "-r", "open", "app"]],
  [["cp", "-r", "open/below", "."]],
  [["mv", "open", "app"]],
  [["mv", "open/a.ts", "."]],
  [["tar", "xf", "x.tar", "-C", "elsewhere"]],
  [["tar", "-czf", "x.tgz", "open"]],
  [["zip", "-r", "x.zip", "open"]],
  [["find", ".", "-type", "f"]],
  [["find", ".", "-name", "*.ts", "-exec", "grep", "a", "{}", "+"]],
  [["ls", "-R"]],
  [["du", "-a"]],
  [["rm", "-r", "app"]],
  [["chmod", "-R", "u+w", "app"]],
  [["sh", "-c", "cd open && grep -r a ."]],
  [["npm", "test"]],
  [["xz", "-dcf", "--files=harmless"]],
  [["xz", "-kc", "open/a.ts"]],
  [["sort", "--field-separator=,", "harmless"]],
  [["md5sum", "-c", "harmless"]],
];

describe("a command that reads a whole tree", () => {
  test("asks where the tree holds a sensitive file", async () => {
    verifies("PATH-3");
    const bench = await projectWithSecrets();
    for (const [argv, cwd] of READS_ALL) {
      const found = { outcome: "ask", rule: "runtime.sensitive_path" };
      expect([argv, await judged(bench, argv, cwd)]).toEqual([argv, found]);
    }
  });

  test("does not ask where it holds none, or where only names are shown", async () => {
    verifies("PATH-3");
    const bench = await projectWithSecrets();
    for (const [argv, cwd] of READS_NONE) {
      const found = await judged(bench, argv, cwd);
      expect([argv, found.outcome]).toEqual([argv, "allow"]);
    }
  });

  test.each([".ignore", "app/.rgignore", ".gitignore", ".git/info/exclude"])(
    "asks where %s calls a hidden file back",
    async (file) => {
      verifies("PATH-3");
      const bench = await projectWithSecrets();
      await bench.write(file, "!.env.example\n!/docs/*.md\n");
      expect((await judged(bench, ["rg", "TOKEN"])).outcome).toBe("allow");
      for (const line of ["!.env", "!app/.e*/", "!**", "!.{env,x}", "![.]env"]) {
        await bench.write(file, `${line}\n`);
        expect([line, (await judged(bench, ["rg", "TOKEN"])).outcome]).toEqual([line, "ask"]);
        expect((await judged(bench, ["rg", "TOKEN", "app"])).outcome).toBe("ask");
      }
    },
  );

  test("asks for a repository's config only if that holds a password", async () => {
    verifies("PATH-3");
    const bench = await projectWithSecrets();
    await bench.write("open/.git/config", '[remote "o"]\n\turl = https://me:word@example.org/a\n');
    expect((await judged(bench, ["cp", "-r", "open", "copy"])).outcome).toBe("ask");
  });

  test("asks for the agent's home and for what the user calls sensitive, also among installed packages", async () => {
    verifies("PATH-3", "PATH-6");
    const bench = await createWorkbench({
      policy: { sensitive_paths: ["packages/node_modules/own/notes.txt"] },
    });
    onTestFinished(() => bench.close());
    await bench.write("packages/node_modules/own/notes.txt", "");
    await bench.write("packages/node_modules/other/server.key", "");
    expect((await judged(bench, ["cp", "-r", "packages", "copy"])).outcome).toBe("ask");
    expect((await judged(bench, ["grep", "-r", "x", "packages/node_modules/other"])).outcome).toBe(
      "allow",
    );
    const home = join(bench.project, "state");
    const protecting = await createWorkbench({
      policy: { protected_roots: [home] },
      session: { roots: { project: bench.project, write: [] } },
    });
    onTestFinished(() => protecting.close());
    await mkdir(home);
    expect((await judged(protecting, ["tar", "c", "."])).outcome).toBe("ask");
  });

  test("a yes for the session covers the files that were named in the question, and no others", async () => {
    verifies("PATH-3", "PERM-5");
    const bench = await createWorkbench({ ask: async () => ({ decision: "allow_for_session" }) });
    onTestFinished(() => bench.close());
    await bench.write("a/.env", "");
    const search = (text: string) =>
      bench.call("code.run_command", { argv: ["grep", "-rc", text, "a"] });
    await search("one");
    await search("two");
    expect(bench.asked).toHaveLength(1);
    await bench.write("a/.env.local", "");
    await search("three");
    expect(bench.asked).toHaveLength(2);
    expect(bench.asked[1]?.reason).toContain(".env");
  });
});
