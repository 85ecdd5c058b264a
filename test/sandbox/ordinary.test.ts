// CMD-6: what is ordinary in a project works in the sandbox, as root and as an ordinary user.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFolder, needsSandbox, own, USERS, useRuntimes, type Runtime } from "./support.ts";
import { hasProgram } from "./world.ts";

const runtimes = useRuntimes();

interface Ordinary {
  readonly name: string;
  readonly sh: string;
  readonly prints: RegExp;
  /** Without this program there is nothing to show. */
  readonly needs?: string;
}

const COMMANDS: readonly Ordinary[] = [
  { name: "node", sh: `node -e 'console.log(6 * 7)'`, prints: /^42\n$/ },
  { name: "npm test", sh: `npm test --silent`, prints: /tested\n$/, needs: "npm" },
  {
    name: "npm run with a shell in it",
    sh: `npm run --silent nested`,
    prints: /one\ntwo\n$/,
    needs: "npm",
  },
  {
    name: "git commit",
    sh: `git add -A && git commit -qm first && git status --short && git log --format=%s && echo x >> a.txt && git diff --stat && git branch topic && git switch -q topic && git commit -qam second && git log --oneline | wc -l`,
    prints: /^first\n a\.txt \| 1 \+\n.*\n2\n$/s,
  },
  {
    name: "git stash and rebase",
    sh: `echo y >> a.txt; git stash -q && git stash pop -q && git commit -qam third && git rebase -q HEAD~1 && git log -1 --format=%s`,
    prints: /^third\n$/,
  },
  {
    name: "git init in a directory below",
    sh: `mkdir -p below && cd below && git init -q && echo 1 > f && git add f && git commit -qm inner && git log --format=%s`,
    prints: /^inner\n$/,
  },
  { name: "rg", sh: `rg -l needle`, prints: /^src\/needle\.txt\n$/, needs: "rg" },
  {
    name: "grep and find",
    sh: `grep -rl needle src; find . -name 'needle*'`,
    prints: /^src\/needle\.txt\n\.\/src\/needle\.txt\n$/,
  },
  {
    name: "python3",
    sh: `python3 -c 'import subprocess, tempfile, os; t = tempfile.NamedTemporaryFile(); print(subprocess.check_output(["echo", "from python"]).decode(), end="")'`,
    prints: /^from python\n$/,
    needs: "python3",
  },
  {
    name: "python3 with a pool of processes",
    sh: `python3 -c 'from multiprocessing import Pool
with Pool(2) as p: print(sum(p.map(abs, [-1, -2, -3])))'`,
    prints: /^6\n$/,
    needs: "python3",
  },
  {
    name: "mktemp and TMPDIR",
    sh: `f=$(mktemp) && echo kept > "$f" && d=$(mktemp -d) && mv "$f" "$d/x" && cat "$d/x" && cat "\${TMPDIR:-/tmp}"/*/x`,
    prints: /^kept\nkept\n$/,
  },
  { name: "make", sh: `make`, prints: /made/, needs: "make" },
  {
    name: "tar",
    sh: `tar czf a.tgz src && mkdir -p out && tar xzf a.tgz -C out && cat out/src/needle.txt`,
    prints: /^a needle\n$/,
  },
  {
    name: "sed -i, cp, mv, ln, chmod, rm",
    sh: `cp src/needle.txt c && sed -i s/needle/pin/ c && mv c d && ln d e && ln -s d f && chmod 600 e && cat f && rm d e f`,
    prints: /^a pin\n$/,
  },
  {
    name: "a script of the project",
    sh: `printf '#!/bin/sh\necho ran\n' > s.sh && chmod +x s.sh && ./s.sh`,
    prints: /^ran\n$/,
  },
  {
    name: "a server and a client inside",
    sh: `node -e 'const s = require("http").createServer((q, r) => r.end("hello")).listen(0, "127.0.0.1", async () => { console.log(await (await fetch("http://127.0.0.1:" + s.address().port)).text()); s.close() })'`,
    prints: /^hello\n$/,
  },
  {
    name: "child processes and workers of node",
    sh: `node -e 'const { fork, execSync } = require("child_process"); if (process.argv[1]) process.send("pong"); else { console.log(execSync("echo sync").toString().trim()); const w = new (require("worker_threads").Worker)("require(\\"worker_threads\\").parentPort.postMessage(1)", { eval: true }); w.on("message", () => console.log("worker")); require("fs").writeFileSync("child.js", "process.send(1)"); fork("./child.js").on("message", () => console.log("forked")) }' | sort`,
    prints: /^forked\nsync\nworker\n$/,
  },
  { name: "ps", sh: `ps -e -o args= | grep -c '[s]h -c'`, prints: /^[1-9]/, needs: "ps" },
  {
    name: "pipes",
    sh: `seq 100000 | sort -rn | head -1; echo "$(cat <(echo sub))"`,
    prints: /^100000\nsub\n$/,
  },
  {
    name: "a lock and a named pipe",
    sh: `mkfifo p && (echo through > p &) && cat p && rm p && (flock 9 && echo locked) 9> l`,
    prints: /^through\nlocked\n$/,
    needs: "flock",
  },
  {
    name: "a terminal of its own",
    sh: `script -qec 'echo on a terminal' /dev/null`,
    prints: /on a terminal/,
    needs: "script",
  },
];

describe.each(USERS)("in the sandbox, as $user,", ({ uid }) => {
  let runtime: Runtime;
  let base: string;
  let project: string;
  let server: Server;
  const asked: string[] = [];

  beforeAll(async () => {
    runtime = await runtimes.open(uid);
    base = createFolder(uid);
    project = join(base, "project");
    mkdirSync(join(project, "src"), { recursive: true });
    const write = (path: string, text: string) => writeFileSync(join(base, path), text);
    mkdirSync(join(base, "home"));
    write("home/.gitconfig", "[user]\n\tname = A\n\temail = a@example.org\n");
    write("project/a.txt", "a\n");
    write("project/src/needle.txt", "a needle\n");
    write("project/Makefile", "all:\n\t@echo made > made && cat made\n");
    const scripts = {
      test: "node -e \"console.log('tested')\"",
      nested: "sh -c 'echo one; echo two'",
    };
    write("project/package.json", JSON.stringify({ name: "p", version: "1.0.0", scripts }));
    own(base, uid);
    server = createServer((request, response) => {
      asked.push(request.headers.host ?? "");
      response.end("served\n");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    if (!("missing" in runtime.state)) await inside("git init -q");
  });
  afterAll(async () => {
    await runtime.close();
    server.close();
    rmSync(base, { recursive: true, force: true });
  });

  function inside(script: string, rest: object = {}, hosts?: readonly string[]) {
    return runtime.run({
      argv: ["/bin/bash", "-c", script],
      cwd: project,
      env: { HOME: join(base, "home"), LC_ALL: "C" },
      profile: { writable: [project], ...(hosts === undefined ? {} : { hosts }) },
      ...rest,
    });
  }

  test.for(COMMANDS)("$name works", async ({ sh, prints, needs }, context) => {
    verifies("CMD-6");
    needsSandbox(context, runtime.state);
    if (needs !== undefined && !hasProgram(needs)) context.skip(`needs ${needs}`);
    const { stdout, stderr, end, failure } = await inside(sh);
    expect(failure ?? stderr).toBe("");
    expect(stdout).toMatch(prints);
    expect(end).toMatchObject({ exit_code: 0, ended_by: "exit", survivors: 0 });
  });

  test("exit codes and signals are those of the command", async (context) => {
    verifies("CMD-6");
    needsSandbox(context, runtime.state);
    expect((await inside("exit 42")).end).toMatchObject({ exit_code: 42, signal: null });
    expect((await inside("kill -9 $$")).end).toMatchObject({ exit_code: null, signal: "SIGKILL" });
    expect((await inside("nonesuch")).end).toMatchObject({ exit_code: 127 });
  });

  test("input is read, and where there is none it is at its end", async (context) => {
    verifies("CMD-6");
    needsSandbox(context, runtime.state);
    expect((await inside("cat", { stdin: "given\n" })).stdout).toBe("given\n");
    expect((await inside("cat; echo done")).stdout).toBe("done\n");
  });

  test("much output passes through whole, and costs no memory", async (context) => {
    verifies("CMD-6", "CMD-2");
    needsSandbox(context, runtime.state);
    const bytes = (process.env["SOONG_TEST_FULL"] === "1" ? 1024 : 200) * 1_000_000;
    const { counted } = await inside(`yes | head -c ${bytes}`, { count: true });
    expect(counted?.bytes).toBe(bytes);
    expect(counted?.grown).toBeLessThan(100 * 1024 * 1024);
    const expected = createHash("sha256");
    const megabyte = "y\n".repeat(500_000);
    for (let left = bytes; left > 0; left -= 1_000_000) expected.update(megabyte);
    expect(counted?.sha256).toBe(expected.digest("hex"));
  });

  test("an open host is reached through the proxy, and a refused one is named", async (context) => {
    verifies("CMD-6");
    needsSandbox(context, runtime.state);
    if (!hasProgram("curl")) context.skip("needs curl");
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/`;
    const open = await inside(`curl -sS ${url}`, {}, ["127.0.0.1"]);
    expect(open.stdout).toBe("served\n");
    expect(open.refusedHosts).toEqual([]);
    const refused = await inside("curl -sS http://example.org/", {}, ["127.0.0.1"]);
    expect(refused.stdout).not.toContain("served");
    expect(refused.refusedHosts.map(({ host }) => host)).toEqual(["example.org"]);
    expect(asked).toEqual([`127.0.0.1:${port}`]);
  });

  test("what it wrote to the project is there, and nothing of its /tmp", async (context) => {
    verifies("CMD-6");
    needsSandbox(context, runtime.state);
    await inside("echo here > written; echo there > /tmp/soong-not-there");
    expect(readFileSync(join(project, "written"), "utf8")).toBe("here\n");
    expect(() => readFileSync("/tmp/soong-not-there")).toThrow("ENOENT");
    // Its other commands have it.
    expect((await inside("cat /tmp/soong-not-there")).stdout).toBe("there\n");
  });
});
