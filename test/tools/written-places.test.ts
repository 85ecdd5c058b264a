// Commands that may write a file which something runs later (PATH-6): hooks and config of a repository, start files of a
// shell, settings of an editor. The file tools ask before they write one; so does every command.

import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { createWorkbench, explainCommand, type Workbench } from "./workbench.ts";

async function projectWithRepository(): Promise<Workbench> {
  const bench = await createWorkbench();
  onTestFinished(() => bench.close());
  await bench.write(".git/hooks/pre-commit.sample", "#!/bin/sh\n");
  await bench.write(".git/HEAD", "ref: refs/heads/main\n");
  await bench.write(".git/config", "[core]\n\tbare = false\n");
  await bench.write("x", "x\n");
  await bench.write("plain/y", "y\n");
  await bench.write("evil/.vscode/tasks.json", "{}\n");
  await symlink(".git/hooks", join(bench.project, "link"));
  await mkdir(join(bench.project, "empty"));
  return bench;
}

async function judged(bench: Workbench, argv: string[], cwd?: string) {
  const explained = await explainCommand(bench, argv, cwd);
  const judgement = explained.judgements?.[0];
  const rules = judgement?.chain.filter(({ verdict }) => verdict === "ask" || verdict === "deny");
  return {
    outcome: judgement?.decision,
    runsLater: rules?.some(({ rule }) => rule === "runtime.runs_by_itself"),
  };
}

const WRITES: [string[], string?][] = [
  [["cp", "x", ".git/hooks/pre-commit"]],
  [["cp", "x", ".git/hooks"]],
  [["cp", "-t", ".git/hooks", "x"]],
  [["cp", "--target-directory=.git/hooks", "x"]],
  [["cp", "-S.txt", "x", ".git/hooks/pre-commit"]],
  [["cp", "-bS.t", "x", ".git/hooks/pre-commit"]],
  [["cp", "-S1t", "x", ".git/hooks/pre-commit"]],
  [["cp", "-bSt", "x", ".git/hooks/pre-commit"]],
  [["cp", "x", "link/pre-commit"]],
  [["cp", "../../x", "pre-commit"], ".git/hooks"],
  [["cp", "-r", "evil/.vscode", "."]],
  [["cp", "-r", "evil/.", "."]],
  [["cp", "-rT", "evil", "."]],
  [["rsync", "-a", "evil/", "."]],
  [["mv", "x", ".git/hooks/pre-commit"]],
  [["mv", ".git/config", "elsewhere"]],
  [["mv", "evil/.vscode", "."]],
  [["ln", "-s", "../../x", ".git/hooks/pre-commit"]],
  [["ln", ".git/config", "innocent"]],
  [["install", "-m", "755", "x", ".git/hooks/pre-commit"]],
  [["tee", ".git/hooks/pre-commit"]],
  [["touch", ".envrc"]],
  [["chmod", "+x", ".git/hooks/pre-commit.sample"]],
  [["dd", "if=x", "of=.git/hooks/pre-commit"]],
  [["sed", "-i", "s/a/b/", ".git/config"]],
  [["sed", "-n", "w .git/hooks/pre-commit", "x"]],
  [["sort", "-o", ".bashrc", "x"]],
  [["sort", "-o.bashrc", "x"]],
  [["xxd", "x", ".git/hooks/pre-commit"]],
  [["uniq", "x", ".bashrc"]],
  [["tree", "-o", ".bashrc"]],
  [["patch", ".git/config", "x"]],
  [["find", ".", "-fprint", ".git/hooks/pre-commit"]],
  [["find", ".", "-name", "x", "-exec", "cp", "{}", ".git/hooks", ";"]],
  [["tar", "xf", "x", "-C", ".git/hooks"]],
  [["tar", "cf", ".git/hooks/pre-commit", "x"]],
  [["unzip", "x", "-d", ".git/hooks"]],
  [["unzip", "x", "-d./plain/.."]],
  [["tar", "-f./src.tar", "-x", ".envrc"], "plain"],
  [["curl", "-o", ".git/hooks/pre-commit", "http://localhost"]],
  [["git", "log", "--output=.git/hooks/pre-commit"]],
  [["git", "diff", "--outp=.git/hooks/pre-commit"]],
  [["git", "format-patch", "-o", ".git/hooks", "HEAD"]],
  [["git", "archive", "-o", ".git/hooks/x", "HEAD"]],
  [["git", "clone", "evil", ".husky"]],
  [["git", "config", "core.hooksPath", "evil"]],
  [["git", "config", "--local", "core.fsmonitor", "./evil"]],
  [["git", "config", "set", "core.sshCommand", "./evil"]],
  [["git", "config", "--global", "alias.x", "!./evil"]],
  [["git", "config", "core.hooksPath", "--list"]],
  [["git", "config", "core.hooksPath", "--get"]],
  [["git", "config", "core.sshCommand", "--get;x"]],
  [["git", "config", "set", "core.sshCommand", "-l"]],
  [["git", "config", "--rename-section", "color.x", "core"]],
  [["git", "config", "--ren", "color.x", "core"]],
  [["git", "config", "rename-section", "color.x", "core"]],
  [["git", "config", "--global", "--rename-section", "color.x", "core"]],
  [["git", "config", "--remove-section", "color"]],
  [["git", "config", "--add", "core.hooksPath", "evil"]],
  [["git", "config", "--type", "path", "core.hooksPath", "evil"]],
  [["git", "config", "-f", ".git/config", "user.name", "x"]],
  [["git", "config", "--fi", ".git/config", "user.name", "x"]],
  [["git", "config", "--edit"]],
  [["git", "config", "--new-option", "core.hooksPath"]],
  [["git", "init", "--template=evil"]],
  [["git", "init", "--template", "evil", "."]],
  [["git", "-C", "plain", "config", "core.hooksPath", "evil"]],
  [["sh", "-c", "echo x > .git/hooks/pre-commit"]],
  [["sh", "-c", "echo x >>'.git/hooks/pre-commit'"]],
  [["sh", "-c", "cat x >| .git/hooks/pre-commit"]],
  [["sh", "-c", "cp x .git/hooks/pre-commit"]],
  [["env", "cp", "x", ".git/hooks/pre-commit"]],
  [["sh", "-c", "cd .git/hooks && echo x > pre-commit"]],
  [["env", "-C", ".git/hooks", "cp", "../../x", "pre-commit"]],
  [["git", "fast-export", "--export-marks=.git/hooks/pre-commit", "HEAD"]],
  [["git", "config", "--file=.bashrc", "user.name", "x"]],
  [["node", "-e", "require('fs').writeFileSync('.git/hooks/pre-commit', '')"]],
  [["python3", "x.py", ".git/hooks/pre-commit"]],
  [["awk", '{ print > ".bashrc" }', "x"]],
];

const WRITES_NONE: [string[], string?][] = [
  [["cat", ".git/HEAD"]],
  [["ls", "-l", ".git/hooks"]],
  [["cp", ".git/hooks/pre-commit.sample", "copy"]],
  [["cp", "-r", ".git", "/tmp/elsewhere/copy"]],
  [["cp", "-r", "evil", "copy"]],
  [["cp", "-r", "plain", "."]],
  [["rm", "-f", ".git/index.lock"]],
  [["find", ".git/hooks", "-type", "f"]],
  [["grep", "x", ".git/hooks/pre-commit.sample"]],
  [["tar", "czf", "x.tgz", ".git"]],
  [["git", "add", ".husky/pre-commit", ".vscode/settings.json"]],
  [["git", "diff", "--", ".vscode/settings.json"]],
  [["git", "commit", "-m", "Change .bashrc and .git/hooks"]],
  [["git", "config", "user.name", "Me"]],
  [["git", "config", "--get", "core.hooksPath"]],
  [["git", "config", "core.hooksPath"]],
  [["git", "config", "--global", "--list"]],
  [["git", "config", "-zl"]],
  [["git", "config", "get", "core.hooksPath"]],
  [["git", "config", "--unset", "user.name"]],
  [["git", "init", "."]],
  [["git", "--git-dir=.git", "log"]],
  [["sh", "-c", "ls .git/hooks > list"]],
  [["sh", "-c", "cat .git/HEAD | tee copy"]],
  [["sed", "-n", "1p", ".git/hooks/pre-commit.sample"]],
  [["sh", "-c", "cd .git && ls"]],
  [["npm", "test"]],
  [["touch", "plain/z"]],
];

test("a command that may write what runs later requires approval", async () => {
  verifies("PATH-6");
  const bench = await projectWithRepository();
  for (const [argv, cwd] of WRITES) {
    const found = await judged(bench, argv, cwd);
    expect([argv, found]).toEqual([argv, { outcome: "ask", runsLater: true }]);
  }
});

test("a command that reads such a file, or writes elsewhere, is as allowed as before", async () => {
  verifies("PATH-6");
  const bench = await projectWithRepository();
  for (const [argv, cwd] of WRITES_NONE) {
    const found = await judged(bench, argv, cwd);
    expect([argv, found]).toEqual([argv, { outcome: "allow", runsLater: false }]);
  }
});

test("a command that plainly writes into the agent's home is denied", async () => {
  verifies("PERM-14");
  const bench = await projectWithRepository();
  const home = join(bench.base, "agent-home");
  await mkdir(home);
  const guarded = await createWorkbench({ policy: { protected_roots: [home] } });
  onTestFinished(() => guarded.close());
  for (const argv of [
    ["tee", join(home, "hooks.json")],
    ["cp", "x", join(home, "config.toml")],
    ["rm", "-r", home],
    ["sh", "-c", `echo x > ${home}/config.toml`],
  ]) {
    expect([argv, (await judged(guarded, argv)).outcome]).toEqual([argv, "deny"]);
  }
  expect((await judged(guarded, ["cat", join(home, "config.toml")])).outcome).toBe("ask");
});

/** The agent's home is `../h`. */
async function benchBesideHome(): Promise<Workbench> {
  const bench = await createWorkbench();
  onTestFinished(() => bench.close());
  const home = join(bench.base, "h");
  const guarded = await createWorkbench({
    session: { roots: { project: bench.project, write: [] } },
    policy: { protected_roots: [home] },
  });
  onTestFinished(() => guarded.close());
  await mkdir(join(home, "store"), { recursive: true });
  await writeFile(join(home, "config.toml"), "");
  await bench.write("src/t/h/hooks.json", "{}\n");
  await bench.write("src/deep/x", "x\n");
  await bench.write("src/t/plain", "x\n");
  await bench.write("src/links/direct", "x\n");
  await bench.write("src/u/x/y", "x\n");
  await bench.write("src/behind/hooks.json", "{}\n");
  await mkdir(join(bench.project, "src/through"));
  await symlink("../behind", join(bench.project, "src/through/h"));
  await mkdir(join(bench.project, "src/above"));
  await symlink("../t", join(bench.project, "src/above", basename(bench.base)));
  await symlink("h/config.toml", join(bench.base, "direct"));
  await mkdir(join(bench.base, "a"));
  await symlink("../h", join(bench.base, "a", "x"));
  execFileSync("git", ["init", "-q"], { cwd: bench.project, env: { PATH: process.env["PATH"] } });
  return guarded;
}

const INTO_HOME: [string[], string?][] = [
  [["cp", "-r", "src/t/.", ".."]],
  [["cp", "-rT", "src/t", ".."]],
  [["cp", "-r", "src/links/.", ".."]],
  [["cp", "-r", "-t", "..", "src/t/h"]],
  [["rsync", "-a", "src/t/", ".."]],
  [["rsync", "-rt", "src/t/", ".."]],
  [["mv", "src/t/h", ".."]],
  [["sh", "-c", "cp -r src/t/. .."]],
  [["env", "cp", "-r", "src/t/.", ".."]],
  [["env", "-C", "..", "tee", "h/config.toml"]],
  [["env", "--chdir=..", "tee", "h/config.toml"]],
  [["env", "-C", "..", "cp", "project/src/deep/x", "h/config.toml"]],
  [["env", "-C", "..", "cp", "-r", "project/src/t/.", "."]],
  [["sh", "-c", "cd ..; echo x > h/config.toml"]],
  [["sh", "-c", "cd src; cd ..; cd ..; echo x > h/config.toml"]],
  [["sh", "-c", "(cd src; cd ../..; cp project/src/deep/x h/config.toml)"]],
  [["git", "-C", "..", "init", "h"]],
  [["git", "-C", "src", "-C", "../..", "init", "h"]],
  [["rm", "-rf", ".."]],
  [["rm", "-r", "../../"], "src"],
  [["sh", "-c", "cd src && rm -rf ../.."]],
  [["find", "..", "-name", "config.toml", "-delete"]],
  [["find", "..", "-delete"]],
  [["chmod", "-R", "777", ".."]],
  [["chown", "-R", "1", ".."]],
  [["gzip", "-r", ".."]],
  [["mv", "..", "/tmp/elsewhere"]],
  // Under its whole name.
  [["cp", "--parents", "h/hooks.json", "../../.."], "src/t"],
  [["cp", "--par", "-r", "h", "../../.."], "src/t"],
  [["cp", "-t", "../../..", "--parents", "./h/../h/hooks.json"], "src/t"],
  [["rsync", "-R", "h/hooks.json", "../../.."], "src/t"],
  [["rsync", "-aR", "h", "../../.."], "src/t"],
  [["rsync", "-a", "--relative", "src/t/./h/hooks.json", ".."]],
  // Through links.
  [["cp", "-rL", "src/through/.", ".."]],
  [["cp", "-r", "--dereference", "src/through/.", ".."]],
  [["cp", "-rH", "src/through/h", ".."]],
  [["rsync", "-aL", "src/through/", ".."]],
  [["rsync", "-a", "--copy-links", "src/through/", ".."]],
  [["rsync", "-ak", "src/through/", ".."]],
  [["scp", "-r", "src/through/.", ".."]],
  [["cp", "-rL", "src/above/.", "../.."]],
  [["cp", "-r", "--dereference", "src/above/.", "../.."]],
  [["rsync", "-aL", "src/above/", "../.."]],
  [["rsync", "-a", "--copy-links", "src/above/", "../.."]],
  [["rsync", "-ak", "src/above/", "../.."]],
  [["scp", "-r", "src/above/.", "../.."]],
  [["rsync", "-a", "--files-from=src/list", "src/t", ".."]],
  // What the shell makes of its words.
  [["sh", "-c", "cp -r src/t/* .."]],
  [["sh", "-c", "cp -r s?c/[t]/* .."]],
  [["sh", "-c", "mv src/t/* .."]],
  [["sh", "-c", "nohup cp -r src/t/* .."]],
  [["sh", "-c", "sh -c 'cp -r src/t/* ..'"]],
  [["sh", "-c", "cp -r src/**/h .."]],
  [["sh", "-c", "rm -rf ../*"]],
  [["sh", "-c", "cd ../? && echo x > config.toml"]],
  [["sh", "-c", "cp $A -r src/t/. .."]],
  [["sh", "-c", "cp -r src/t/{h,plain} .."]],
  [["sh", "-c", 'echo x >../"h"/config.toml']],
  [["sh", "-c", "echo x >'..'/h/config.toml"]],
  [["sh", "-c", "echo x >../\\h/config.toml"]],
  [["sh", "-c", "echo x >../h''/config.toml"]],
  [["sh", "-c", "echo x >../?/config.toml"]],
  [["sh", "-c", "tee ../?/config.toml"]],
  [["sh", "-c", "tee ../[h]/hooks.json"]],
  [["env", "-S-C .. tee h/config.toml"]],
  [["env", "-S", "-C .. tee h/config.toml"]],
  [["env", "--split-string=--chdir=.. tee h/config.toml"]],
  [["env", "-S-C\\_..", "tee", "h/config.toml"]],
  // Programs that mostly read.
  [["ptx", "-G", "src/deep/x", "../h/config.toml"]],
  [["base64", "-i", "src/deep/x", "-o", "../h/config.toml"]],
  [["less", "-o", "../h/config.toml", "src/deep/x"]],
  [["time", "-o", "../h/config.toml", "true"]],
  [["csplit", "-f../h/xx", "src/deep/x", "1"]],
];

const MAYBE_INTO_HOME: [string[], string?][] = [
  [["tar", "-xPf", "src/abs.tar", "-C", "src/deep"]],
  [["tar", "-xf", "src/abs.tar", "--absolute-names", "-C", "src/deep"]],
  [["tar", "xf", "a.tar", "-C", ".."]],
  [["tar", "-xC..", "-f", "a.tar"]],
  [["tar", "xf", "a.tar", "--one-top-level=.."]],
  [["unzip", "a.zip", "-d", ".."]],
  [["sh", "-c", "cd .. && tar xf a.tar"]],
  [["env", "-C", "..", "unzip", "a.zip"]],
  [["rsync", "-a", "--delete", "src/deep/", ".."]],
  [["env", "-C", "..", "python3", "x.py", "h/config.toml"]],
  [["sh", "-c", "for d in src/t/*; do cp -r $d ..; done"]],
  [["sh", "-c", "mv $(ls -d src/t/*) .."]],
  [["find", "src/t", "-exec", "cp", "-r", "{}", "..", ";"]],
  [["cpio", "-pdm", ".."]],
  [["git", "checkout-index", "-a", "--prefix=../"]],
  [["git", "--work-tree", "..", "reset", "--hard"]],
  [["git", "--work-tree=..", "checkout", "-f"]],
  [["git", "--work-tree=../h", "checkout", "-f"]],
  [["git", "-C", "src", "--work-tree=../..", "checkout", "-f"]],
  [["git", "--work-tree=..", "checkout", "HEAD", "--", "h/config.toml"]],
  [["git", "--work-tree=..", "clean", "-fdx"]],
  [["git", "--work-tree=..", "stash"]],
  [["sh", "-c", "git --work-tree=.. reset --hard"]],
  [["git", "--work-tree=..", "init"]],
  [["git", "--git-dir=project/.git", "-C", "..", "checkout", "-f"]],
  [["tree", "-R", "-L", "1", ".."]],
  [["env", "GIT_WORK_TREE=..", "git", "reset", "--hard"]],
  [["sh", "-c", "GIT_WORK_TREE=.. git reset --hard"]],
  [["sh", "-c", "export GIT_WORK_TREE=..; git reset --hard"]],
  [["git", "-c", "core.worktree=..", "reset", "--hard"]],
];

const BESIDE_HOME: [string[], string?][] = [
  [["cp", "-r", "src/deep", ".."]],
  [["cp", "src/t/plain", ".."]],
  [["mv", "src/deep", ".."]],
  [["rm", "-rf", "src"]],
  [["find", "..", "-name", "*.ts", "-delete"]],
  [["chmod", "-R", "u+w", "."]],
  [["tar", "xf", "a.tar", "-C", "src/deep"]],
  [["env", "-C", "src", "tee", "h/config.toml"]],
  [["sh", "-c", "cd src && echo x > h"]],
  [["npm", "test"]],
  [["make", "-C", "src"]],
  [["cp", "--parents", "src/deep/x", ".."]],
  [["cp", "-rL", "src/deep/.", ".."]],
  [["cp", "-r", "src/through/.", "/tmp/elsewhere"]],
  [["sh", "-c", "cp -r src/deep/* .."]],
  [["sh", "-c", "for d in src/t/*; do cp -r $d src/deep; done"]],
  [["find", "src/t", "-exec", "cp", "{}", "src/deep", ";"]],
  [["sh", "-c", "cat src/*/x > all"]],
  [["git", "--work-tree=src", "checkout", "-f"]],
  [["git", "--work-tree=..", "status"]],
  [["ptx", "src/deep/x"]],
];

test("a command that writes the agent's home as part of a tree, or from another directory, is denied", async () => {
  verifies("PERM-14");
  const bench = await benchBesideHome();
  for (const [argv, cwd] of INTO_HOME) {
    expect([argv, (await judged(bench, argv, cwd)).outcome]).toEqual([argv, "deny"]);
  }
});

test("a command that may write the agent's home under names that are not known requires approval", async () => {
  verifies("PERM-14");
  const bench = await benchBesideHome();
  for (const [argv, cwd] of MAYBE_INTO_HOME) {
    expect([argv, (await judged(bench, argv, cwd)).outcome]).toEqual([argv, "ask"]);
  }
});

test("a command that writes beside the agent's home is as allowed as before", async () => {
  verifies("PERM-14");
  const bench = await benchBesideHome();
  for (const [argv, cwd] of BESIDE_HOME) {
    expect([argv, (await judged(bench, argv, cwd)).outcome]).toEqual([argv, "allow"]);
  }
});

const PATCHED: [string[], boolean][] = [
  [["git", "apply", "tasks.patch"], true],
  [["git", "apply", "plain.patch"], false],
  [["patch", "-p1", "-i", "hook.patch"], true],
  [["patch", "-Np1", "-i", "hook.patch"], true],
  [["patch", "-p1", "-i", "plain.patch"], false],
  [["sh", "-c", "patch -p1 < hook.patch"], true],
  [["tar", "xf", "a.tar"], true],
  [["tar", "-xzf", "a.tgz"], true],
  [["tar", "xf", "a.tar", "-C", "."], true],
  [["tar", "xf", "a.tar", "-C", "empty"], false],
  [["tar", "xf", "a.tar", "-C", "new"], false],
  [["tar", "xf", "a.tar", "--directory=plain"], false],
  [["tar", "tf", "a.tar"], false],
  [["unzip", "-o", "a.zip"], true],
  [["unzip", "a.zip", "-d", "empty"], false],
  [["unzip", "a.zip", "-d", "evil"], true],
  [["unzip", "-l", "a.zip"], false],
  [["cpio", "-idm"], true],
];

test.each(PATCHED)("%j, by what a patch or an archive may hold, asks: %s", async (argv, asks) => {
  verifies("PATH-6");
  const bench = await projectWithRepository();
  const patch = (name: string) => `--- a/${name}\n+++ b/${name}\n@@ -0,0 +1 @@\n+x\n`;
  await bench.write("tasks.patch", patch(".vscode/tasks.json"));
  await bench.write("hook.patch", patch(".git/hooks/pre-commit"));
  await bench.write("plain.patch", patch("plain/y"));
  expect((await judged(bench, argv)).runsLater).toBe(asks);
});

test("hooks and config of a git directory by another name ask, no matter which program writes them", async () => {
  verifies("PATH-6");
  const bench = await createWorkbench();
  onTestFinished(() => bench.close());
  await bench.write("x", "x\n");
  await bench.write("evil/hooks/pre-commit", "x\n");
  await bench.write("src/hooks/use-state.ts", "x\n");
  await bench.write("src/config", "x\n");
  const git = { cwd: bench.project, env: { PATH: process.env["PATH"], HOME: bench.base } };
  execFileSync("git", ["init", "-q", "--separate-git-dir=gd"], git);
  execFileSync("git", ["init", "-q", "--bare", "bare"], git);
  for (const argv of [
    ["cp", "x", "gd/hooks/pre-commit"],
    ["cp", "x", "gd/config"],
    ["cp", "-r", "evil/.", "gd"],
    ["tee", "bare/hooks/post-receive"],
    ["tar", "xf", "a.tar", "-C", "gd"],
  ]) {
    expect([argv, (await judged(bench, argv)).runsLater]).toEqual([argv, true]);
  }
  for (const argv of [
    ["cp", "x", "src/hooks/use-x.ts"],
    ["cp", "x", "src/config"],
    ["cat", "gd/config"],
  ]) {
    expect([argv, (await judged(bench, argv)).runsLater]).toEqual([argv, false]);
  }
  const run = await bench.session.startRun();
  const write = async (path: string) =>
    (await run.explain({ name: "code.write_file", arguments: { path, content: "x" } })).outcome;
  expect(await write("gd/hooks/post-commit")).toBe("ask");
  expect(await write("src/hooks/use-y.ts")).toBe("allow");
});

test("hooks in the directory that a repository names for them ask, no matter which program writes them", async () => {
  verifies("PATH-6");
  const bench = await projectWithRepository();
  await bench.write(".git/config", '[core]\n\tbare = false\n\thooksPath = "tools/hooks" ; ours\n');
  await bench.write("tools/hooks/pre-commit", "#!/bin/sh\n");
  await bench.write("tools/build.sh", "#!/bin/sh\n");
  await bench.write("over/tools/hooks/pre-commit", "evil\n");
  await bench.write("tools/nested/hooks/x", "x\n");
  await symlink("tools/hooks", join(bench.project, "linked-hooks"));
  for (const argv of [
    ["cp", "x", "tools/hooks/pre-commit"],
    ["tee", "linked-hooks/post-commit"],
    ["cp", "-r", "over/.", "."],
    ["tar", "xf", "a.tar", "-C", "tools"],
    ["mv", "plain", "tools/hooks"],
  ]) {
    expect([argv, (await judged(bench, argv)).runsLater]).toEqual([argv, true]);
  }
  for (const argv of [
    ["cp", "x", "tools/build.sh"],
    ["cat", "tools/hooks/pre-commit"],
    ["git", "add", "tools/hooks/pre-commit"],
    ["cp", "x", "tools/nested/hooks/x"],
  ]) {
    expect([argv, (await judged(bench, argv)).runsLater]).toEqual([argv, false]);
  }
  const run = await bench.session.startRun();
  const edit = async (path: string) =>
    (await run.explain({ name: "code.write_file", arguments: { path, content: "x" } })).outcome;
  expect(await edit("tools/hooks/post-merge")).toBe("ask");
  expect(await edit("tools/new.sh")).toBe("allow");
  await bench.write(".git/config", "[core]\n\thooksPath = .\n");
  expect(await edit("pre-commit")).toBe("ask");
  expect(await edit("plain/z")).toBe("allow");
  await bench.write(".git/config", "[core]\n\thooksPath = /dev/null\n");
  expect((await judged(bench, ["tee", "/dev/null"])).runsLater).toBe(false);
});
