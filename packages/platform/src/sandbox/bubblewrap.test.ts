// Real processes in a real bubblewrap. The attempts to get out are in test/sandbox.

import { existsSync } from "node:fs";
import {
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolFailure } from "@soong/core";
import { verifies } from "#laws";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  OPEN_INPUT,
  startProcess,
  type ProcessOptions,
  type SandboxProfile,
} from "../process/index.ts";
import { openSandbox } from "./open-sandbox.ts";

const sandbox = openSandbox();
afterAll(() => sandbox.close());
const isThere = "backend" in sandbox.state();

let base: string;
let root: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "soong-inside-")));
  const made = base;
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  root = join(base, "project");
  await mkdir(root);
});

function startInside(
  script: string,
  profile: Partial<SandboxProfile> = {},
  options: Partial<ProcessOptions> = {},
) {
  return startProcess({
    executable: "/bin/sh",
    argv: ["sh", "-c", script],
    cwd: root,
    env: { PATH: "/usr/bin:/bin" },
    ...options,
    sandbox: {
      by: sandbox,
      profile: { writable: [root], fixed: [], masked: [], absent: [], ...profile },
    },
  });
}

/** What it wrote, and how it ended. */
async function runInside(
  script: string,
  profile: Partial<SandboxProfile> = {},
  options: Partial<ProcessOptions> = {},
) {
  let text = "";
  const take = (chunk: Buffer) => void (text += chunk.toString());
  const running = startInside(script, profile, { onStdout: take, onStderr: take, ...options });
  const end = await running.end;
  return { text, end };
}

async function write(path: string, text = "old\n"): Promise<string> {
  const file = join(base, path);
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, text);
  return file;
}

describe.runIf(process.platform === "linux")("bubblewrap", () => {
  test("that is not there is named, with how to get it", () => {
    verifies("CMD-6");
    const none = openSandbox({ path: `relative:${base}` });
    expect(none.state()).toHaveProperty("missing", "bubblewrap is not installed");
    expect(none.state()).toHaveProperty("fix", expect.stringContaining("apt install bubblewrap"));
    const start = () =>
      startProcess({
        executable: "/bin/true",
        argv: ["true"],
        cwd: "/",
        env: {},
        sandbox: { by: none, profile: { writable: [], fixed: [], masked: [], absent: [] } },
      });
    expect(start).toThrow("bubblewrap is not installed");
  });

  test("that another than the administrator could replace is not used", async () => {
    verifies("CMD-6");
    // It would say anything.
    await write("bin/bwrap", "#!/bin/sh\necho bubblewrap 9.9\n");
    await chmod(join(base, "bin", "bwrap"), 0o755);
    const path = join(base, "bin");
    expect(openSandbox({ path }).state()).toHaveProperty(
      "missing",
      expect.stringContaining(`${path}/bwrap is not used`),
    );
    // One of the system behind it is found.
    const own = openSandbox({ path: `${path}:/usr/bin:/bin` }).state();
    expect("backend" in own).toBe(isThere);
  });
});

describe.runIf(isThere)("a command in the sandbox", () => {
  test("runs as this user without rights, with its own processes, in its directory and environment", async () => {
    verifies("CMD-6");
    const env = {
      PATH: "/usr/bin:/bin",
      A: "1 =\n2",
      B: "",
      TMPDIR: "/nowhere",
      LD_PRELOAD: "/evil.so",
    };
    const { text } = await runInside(
      "exec 2>/dev/null; id -u; pwd; env -0 | tr '\\0\\n' '|_'; echo; grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status; ls -A /proc/1",
      {},
      { env },
    );
    const [user, where, variables, ...rights] = text
      .replaceAll(/^.*LD_PRELOAD cannot be preloaded.*\n/gm, "")
      .trim()
      .split("\n");
    expect([user, where]).toEqual([String(process.geteuid?.()), root]);
    expect(variables?.split("|").filter(Boolean).toSorted()).toEqual([
      "A=1 =_2",
      "B=",
      "LD_PRELOAD=/evil.so",
      "PATH=/usr/bin:/bin",
      // Without a network no one tries again.
      "PIP_RETRIES=0",
      `PWD=${root}`,
      expect.stringMatching(/^SOONG_PROCESS=[0-9a-f]{32}\.\d+;$/),
      "TMPDIR=/tmp",
      "npm_config_fetch_retries=0",
    ]);
    // Of the first process, which was started outside, there is nothing.
    expect(rights).toEqual(["CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"]);
  });

  test("reports its exit code, or the signal that ended it", async () => {
    const exits = async (script: string) => {
      const { exit_code, signal, ended_by } = (await runInside(script)).end;
      return [exit_code, signal, ended_by];
    };
    expect(await exits("exit 1")).toEqual([1, null, "exit"]);
    expect(await exits("exit 129")).toEqual([129, null, "exit"]);
    expect(await exits("kill -9 $$")).toEqual([null, "SIGKILL", "exit"]);
    expect(await exits("kill -11 $$")).toEqual([null, "SIGSEGV", "exit"]);
  });

  test("gets its input and descriptors, and no others", async () => {
    const descriptor = await open(await write("given", "given"));
    onTestFinished(() => descriptor.close());
    const running = await runInside(
      "cat; cat <&3; for f in /proc/self/fd/*; do readlink $f; done | grep -c -e socket -e project",
      { masked: [await write("project/a/b/.env")] },
      { stdin: "typed ", descriptors: [descriptor.fd] },
    );
    // Two of its streams; the third is the pipe to grep.
    expect(running.text).toBe("typed given2\n");
  });

  test("that could not be set up has failed, and was not run", async () => {
    verifies("CMD-6");
    const failure = async (run: () => Promise<unknown>) => {
      try {
        await run();
      } catch (error) {
        if (error instanceof ToolFailure) return [error.error.code, error.message];
      }
      return ["ran"];
    };
    const nowhere = { executable: join(base, "tool"), argv: ["tool"] };
    await write("tool", "#!/bin/sh\ntouch project/ran\n");
    await chmod(join(base, "tool"), 0o755);
    expect(await failure(() => runInside("", {}, nowhere))).toEqual([
      "sandbox_failed",
      expect.stringMatching(/cannot be run inside.*execvp/),
    ]);
    const cwd = join(root, "closed");
    await mkdir(cwd);
    expect(await failure(() => runInside("touch ran", { masked: [cwd] }, { cwd }))).toEqual([
      "sandbox_failed",
      expect.stringMatching(/working directory is not there inside/),
    ]);
    for (const writable of [[join(base, "missing")], ["/proc/sys"], ["/dev"]]) {
      expect((await failure(() => runInside("touch ran", { writable })))[0]).toBe("sandbox_failed");
    }
    expect(existsSync(join(root, "ran"))).toBe(false);
    expect(sandbox.state()).toHaveProperty("backend");
  });
});

describe.runIf(isThere)("in the sandbox", () => {
  test("only what is writable can be written, and what is fixed inside of it not", async () => {
    verifies("CMD-6");
    await write("project/kept/deep/file");
    await write("project/kept-not/file");
    const { text } = await runInside(
      `echo new >file; echo new >kept-not/file; echo new >kept/other
      echo new >kept/deep/file; rm -f kept/deep/file; mv kept/deep kept/moved; mv kept moved
      ln kept/deep/file link; echo new >/etc/soong-test; touch ${base}/beside; touch /usr/soong-test`,
      { fixed: [join(root, "kept", "deep")] },
    );
    expect(text.split("\n").filter(Boolean)).toHaveLength(7);
    expect(await readFile(join(root, "kept-not", "file"), "utf8")).toBe("new\n");
    expect(await readFile(join(root, "kept", "deep", "file"), "utf8")).toBe("old\n");
    expect((await readdir(root)).toSorted()).toEqual(["file", "kept", "kept-not"]);
    expect(await readdir(base)).toEqual(["project"]);
    expect(existsSync("/etc/soong-test") || existsSync("/usr/soong-test")).toBe(false);
  });

  test("what is masked can be neither read nor moved, in roots and in directories between them", async () => {
    verifies("CMD-6");
    const secret = "swordfish";
    await write("project/a/b/.env", secret);
    await write("project/keys/id", secret);
    await write("home/token", secret);
    await write("home/work/inner/file");
    await write("home/work/inner/.env", secret);
    const inner = join(base, "home", "work", "inner");
    const masked = [
      join(root, "a", "b", ".env"),
      join(root, "keys"),
      join(base, "home"),
      join(inner, ".env"),
      join(root, "nothing"),
    ];
    const { text } = await runInside(
      `cat a/b/.env keys/id ../home/token ../home/work/inner/.env; ls keys ../home
      mv a/b a/c; mv a c; mv keys open; rm -rf a keys; cp a/b/.env copy
      echo open >../home/work/inner/file && echo inside
      find keys && grep -r word keys; echo "walked $?"`,
      { writable: [base, inner], masked },
    );
    expect(text).not.toContain(secret);
    expect(text).toContain("inside");
    // Nothing is found there, and nothing failed.
    expect(text).toContain("keys\nwalked 1\n");
    expect(await readFile(join(root, "a", "b", ".env"), "utf8")).toBe(secret);
    expect(await readFile(join(root, "keys", "id"), "utf8")).toBe(secret);
    expect(await readFile(join(inner, "file"), "utf8")).toBe("open\n");
  });

  test("a link where a path is expected is not followed", async () => {
    verifies("CMD-6");
    await mkdir(join(base, "real"));
    await symlink("real", join(base, "link"));
    const link = join(base, "link");
    const none = { writable: [base] };
    for (const profile of [
      { writable: [link] },
      { ...none, masked: [link] },
      { ...none, fixed: [link] },
      { ...none, absent: [join(link, "name")] },
    ]) {
      expect(() => startInside("true", profile)).toThrow(/is a link, or behind one/);
    }
    expect(await readdir(join(base, "real"))).toEqual([]);
  });

  test("/tmp is one for all commands of the runtime, and none of the machine; it goes with the sandbox", async () => {
    verifies("CMD-6");
    const own = openSandbox();
    const run = async (script: string) => {
      let text = "";
      const profile = { writable: ["/usr/share"], fixed: [], masked: [], absent: [] };
      await startProcess({
        executable: "/bin/sh",
        argv: ["sh", "-c", script],
        cwd: "/",
        env: {},
        onStdout: (chunk) => void (text += chunk.toString()),
        sandbox: { by: own, profile },
      }).end;
      return text;
    };
    expect(
      await run("ls -A /tmp /run /var/tmp; mkdir -p /tmp/a; echo kept >/tmp/a/b; chmod 0 /tmp/a"),
    ).toBe("/run:\n\n/tmp:\n\n/var/tmp:\n");
    expect(await run("chmod 700 /tmp/a; cat /tmp/a/b; mktemp -u; chmod 0 /tmp/a")).toMatch(
      /^kept\n\/tmp\//,
    );
    // Other tests have theirs there, too.
    const runtimes = `/tmp/soong-${process.geteuid?.()}/sandbox`;
    const kept = (await readdir(runtimes)).map((name) => join(runtimes, name));
    const mine = kept.filter((directory) => existsSync(join(directory, "tmp", "a")));
    expect(mine).toHaveLength(1);
    own.close();
    expect(mine.filter((directory) => existsSync(directory))).toEqual([]);
    await expect(run("true")).rejects.toThrow("the runtime is closing");
  });

  test("no link that a command leaves in /tmp becomes the place of another root", async () => {
    verifies("CMD-6");
    // The root of the second command is inside /tmp, where the first one has put a link on its way.
    const outside = await realpath(await mkdtemp(join(tmpdir(), "soong-outside-")));
    onTestFinished(() => rm(outside, { recursive: true, force: true }));
    const away = `/oldroot${outside}`;
    const { text } = await runInside(
      `rm -rf ${base} 2>/dev/null; mv ${base} /tmp/x; ln -s ${away} /tmp/other; ls -d /tmp/other`,
    );
    expect(text).toContain("/tmp/other");
    await runInside("touch there", { writable: [root, join(base)] });
    expect(existsSync(join(root, "there"))).toBe(true);
    expect(await readdir(outside)).toEqual([]);
  });

  test("many paths can be masked", async () => {
    const names = Array.from({ length: 150 }, (_, index) => join(root, "many", `${index}.key`));
    await mkdir(join(root, "many"));
    await Promise.all(names.map((name) => writeFile(name, "swordfish")));
    const { text } = await runInside("cat many/*.key | wc -c", { masked: names });
    expect(text.trim().split("\n").at(-1)?.trim()).toBe("0");
  });
});

describe.runIf(isThere)("when a command in the sandbox ends", () => {
  test("nothing of it is left, however it tried to stay", async () => {
    verifies("CMD-3", "CMD-6");
    const { end } = await runInside(
      "(env -i setsid sh -c 'sleep 300 & sleep 300' >/dev/null 2>&1 &); (trap '' TERM; sleep 300) & echo $$; exit 3",
      {},
      { env: { PATH: "/usr/bin:/bin" } },
    );
    expect(end).toMatchObject({ exit_code: 3, ended_by: "exit", survivors: 0 });
    expect(await processesIn(root)).toEqual([]);
  });

  test("on request, it and its children are asked first and have time to clean up", async () => {
    verifies("CMD-3");
    let reached = () => {};
    const ready = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const running = startInside(
      `trap 'echo main >>asked; wait; exit 5' TERM
      (trap 'sleep 0.2; echo child >>asked; exit' TERM; echo ready; while :; do sleep 0.05; done) & wait`,
      {},
      { onStdout: reached, graceMs: 2000 },
    );
    await ready;
    const end = await running.stop("abort");
    expect(end).toMatchObject({ exit_code: 5, signal: null, ended_by: "abort", survivors: 0 });
    expect(await readFile(join(root, "asked"), "utf8")).toBe("main\nchild\n");
  });

  test("on request, one that does not listen is killed with all it started", async () => {
    verifies("CMD-3");
    let reached = () => {};
    const ready = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const running = startInside(
      "trap '' TERM; (env -i setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' &) ; echo ready; while :; do sleep 1; done",
      {},
      { onStdout: reached, graceMs: 100 },
    );
    await ready;
    expect(await running.stop("timeout")).toMatchObject({
      exit_code: null,
      signal: "SIGKILL",
      ended_by: "timeout",
      survivors: 0,
    });
    expect(await processesIn(root)).toEqual([]);
  });

  test("one that is asked at once, before it began, ends too", async () => {
    verifies("CMD-3");
    const running = startInside("sleep 300", {}, { stdin: OPEN_INPUT });
    expect(await running.stop("abort")).toMatchObject({ ended_by: "abort", survivors: 0 });
  });
});

/** Those that work in a directory, by their own word. */
async function processesIn(directory: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const places = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => "")));
  return pids.filter((_, index) => places[index]?.startsWith(directory));
}
