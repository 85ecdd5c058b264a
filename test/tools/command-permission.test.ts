import { execFileSync } from "node:child_process";
import { existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Hook, PermissionAnswer } from "@soong/core";
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import {
  ALLOW_COMMANDS,
  ALLOW_READ_ONLY,
  openStage,
  textOf,
  type Stage,
  type StageOptions,
} from "./command-stage.ts";

const no = (): PermissionAnswer => ({ decision: "deny" });
const yes = (): PermissionAnswer => ({ decision: "allow_once" });

let stage: Stage | undefined;
afterEach(() => stage?.close());

async function open(options: StageOptions = {}): Promise<Stage> {
  stage = await openStage(options);
  stage.write("a.txt", "hello\n");
  stage.write(".env", "PASSWORD=x\n");
  return stage;
}

describe("by default", () => {
  test("a command that is not proven to only read requires approval, with all the user needs to judge it", async () => {
    verifies("CMD-1", "CMD-4");
    const { command, asked, project } = await open({ rules: [], answer: no });
    const result = await command(["rm", "a.txt"], { description: "tidy up" });
    expect(result.status).toBe("rejected");
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      tool_name: "code.run_command",
      dangerous: true,
      destructive: true,
      // What every command is says nothing of this one.
      marks: [],
      preview: { kind: "command", argv: ["rm", "a.txt"], cwd: project },
    });
    expect(existsSync(join(project, "a.txt"))).toBe(true);
  });

  test("one that is proven to only read does not, unless config says so", async () => {
    verifies("CMD-4", "PERM-3", "PERM-7");
    const { command, asked } = await open({ rules: [], answer: no });
    expect(textOf(await command(["cat", "a.txt"]))).toContain("hello");
    expect(asked).toEqual([]);
    expect((await command(["cat", ".env"])).status).toBe("rejected");
    stage?.close();
    const asking = await open({ rules: [], policy: { read_only_commands: "ask" }, answer: no });
    expect((await asking.command(["cat", "a.txt"])).status).toBe("rejected");
    expect(asking.asked).toMatchObject([{ dangerous: true, destructive: false }]);
  });

  test("without anyone to ask, nothing runs", async () => {
    verifies("CMD-1");
    const { command, project } = await open({ rules: [] });
    expect((await command(["touch", "x"])).status).toBe("denied");
    expect(existsSync(join(project, "x"))).toBe(false);
  });

  test("a wildcard or a tag alone allows no command", async () => {
    verifies("CMD-1");
    const rules = [
      { tool: "code.*", decision: "allow" },
      { tags: ["readonly"], decision: "allow" },
    ] as const;
    const { command, asked } = await open({
      rules,
      policy: { read_only_commands: "ask" },
      answer: no,
    });
    await command(["ls"]);
    await command(["touch", "x"]);
    expect(asked).toHaveLength(2);
  });
});

describe("where config lets proven commands run unasked", () => {
  const unasked: [name: string, argv: string[]][] = [
    ["a listing", ["ls", "-la"]],
    ["an ordinary file", ["cat", "a.txt"]],
    ["a count", ["wc", "-l", "a.txt"]],
    ["a search in one file", ["grep", "-n", "hello", "a.txt"]],
    ["names by pattern", ["find", ".", "-name", "*.txt"]],
  ];
  test.each(unasked)("%s needs no approval", async (_, argv) => {
    verifies("CMD-4");
    const { command, asked, facts } = await open({ rules: ALLOW_READ_ONLY, answer: no });
    const result = await command(argv);
    expect(textOf(result)).toMatch(/a\.txt|hello/);
    expect(asked).toEqual([]);
    const judged = facts.find(({ type }) => type === "permission.evaluated");
    expect(judged?.data).toMatchObject({
      permission: "readonly",
      effects: { read_only: true, concurrency_safe: true, destructive: false },
    });
  });

  const stillAsked: [name: string, argv: string[]][] = [
    ["a place outside", ["ls", "/etc"]],
    ["a sensitive file", ["cat", ".env"]],
    ["contents read recursively", ["grep", "-r", "PASSWORD", "."]],
    ["a program of the project's own", ["./ls"]],
    ["a link of the project's own to the system's", ["./linked-ls"]],
    ["an interpreter", ["bash", "-c", "ls"]],
    ["a wrapper", ["env", "ls"]],
    ["an unknown option", ["ls", "--hyperlink"]],
    ["what writes", ["sort", "-o", "a.txt", "a.txt"]],
    ["what runs others", ["find", ".", "-exec", "ls", ";"]],
    ["what never ends", ["tail", "-f", "a.txt"]],
  ];
  test.each(stillAsked)("%s requires approval", async (_, argv) => {
    verifies("CMD-4");
    const { command, asked, project, write } = await open({ rules: ALLOW_READ_ONLY, answer: no });
    write("ls", "#!/bin/sh\ntouch ran\n", 0o755);
    symlinkSync("/bin/ls", join(project, "linked-ls"));
    expect((await command(argv)).status).toBe("rejected");
    expect(asked).toHaveLength(1);
    expect(existsSync(join(project, "ran"))).toBe(false);
  });

  test("a PATH that leads through the project is noticed", async () => {
    verifies("CMD-4");
    const { command, asked, project, write } = await open({
      rules: ALLOW_READ_ONLY,
      answer: no,
      tool: (place) => ({ env: { PATH: `${place.project}/bin:/usr/bin:/bin` } }),
    });
    write("bin/ls", "#!/bin/sh\ntouch ran\n", 0o755);
    expect((await command(["ls"])).status).toBe("rejected");
    expect((await command(["cat"])).status).toBe("succeeded");
    expect(asked).toHaveLength(1);
    expect(existsSync(join(project, "ran"))).toBe(false);
  });

  test("a deny wins over it", async () => {
    verifies("CMD-4");
    const deny = { tool: "code.run_command", argv: ["ls"], decision: "deny" } as const;
    const { command } = await open({ rules: [...ALLOW_READ_ONLY, deny], answer: yes });
    expect((await command(["ls"])).status).toBe("denied");
    expect((await command(["/bin/ls"])).status).toBe("denied");
    expect((await command(["pwd"])).status).toBe("succeeded");
  });

  test("git runs without approval in a harmless repository, and requires it in a hostile one", async () => {
    verifies("CMD-4");
    const { command, asked, project, write } = await open({ rules: ALLOW_READ_ONLY, answer: no });
    const env = { PATH: process.env["PATH"], HOME: project };
    execFileSync("git", ["init", "-q"], { cwd: project, env });
    expect(textOf(await command(["git", "status", "--short"]))).toContain("?? a.txt");
    expect(asked).toEqual([]);
    const evil = write("evil", "#!/bin/sh\ntouch ran\n", 0o755);
    execFileSync("git", ["config", "core.fsmonitor", evil], { cwd: project, env });
    expect((await command(["git", "status", "--short"])).status).toBe("rejected");
    expect(asked).toHaveLength(1);
    expect(existsSync(join(project, "ran"))).toBe(false);
  });

  test("what an earlier call of the same turn made doubtful does not run", async () => {
    verifies("CMD-4", "PERM-8");
    const bash = { tool: "code.run_command", argv: ["bash", "**"], decision: "allow" } as const;
    const { run, project, write } = await open({ rules: [...ALLOW_READ_ONLY, bash], answer: no });
    execFileSync("git", ["init", "-q"], {
      cwd: project,
      env: { PATH: process.env["PATH"], HOME: project },
    });
    const evil = write("evil", "#!/bin/sh\ntouch ran\n", 0o755);
    // Inside a file, where no one sees it: `bash -c` with the same words asks.
    write("setup.sh", `git config core.fsmonitor ${evil}\n`);
    const [first, second] = await run.execute([
      call("one", ["bash", "setup.sh"]),
      call("two", ["git", "status"]),
    ]);
    expect(first?.status).toBe("succeeded");
    expect(second?.error?.code).toBe("changed_since_approval");
    expect(existsSync(join(project, "ran"))).toBe(false);
  });

  test("what an earlier call of the same turn wrote for a build tool is what that tool runs", async () => {
    verifies("PERM-8");
    const { run, write, project } = await open({ rules: ALLOW_COMMANDS, answer: no });
    write("Makefile", "all:\n\t@echo old\n");
    write("new.mk", "all:\n\t@touch built\n");
    const results = await run.execute([
      call("one", ["cp", "new.mk", "Makefile"]),
      call("two", ["make"]),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
    expect(existsSync(join(project, "built"))).toBe(true);
  });

  test("proven commands run beside each other, others alone", async () => {
    verifies("CMD-4");
    let arrived = 0;
    let release = (): void => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    // The first one waits here for the second, which comes only if neither waits for the other's end.
    const hook: Hook<"PreToolUse"> = {
      id: "meet",
      event: "PreToolUse",
      async run() {
        arrived += 1;
        if (arrived === 2) release();
        await both;
        return {};
      },
    };
    const { run, facts } = await open({ session: { hooks: [hook] } });
    const results = await run.execute([
      call("one", ["ls"]),
      call("two", ["pwd"]),
      call("three", ["bash", "-c", "true"]),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
    const order = facts
      .filter(({ type }) => type === "tool.started" || type === "tool.completed")
      .map(({ type, tool_call_id }) => `${type.slice(5)} ${tool_call_id}`);
    expect(order.slice(-2)).toEqual(["started three", "completed three"]);
  });
});

describe("sensitive paths in a command", () => {
  const inside: string[][] = [
    ["cat", ".env"],
    ["cat", "linked"],
    ["node", "--env-file=.env", "x.js"],
    ["git", "show", "HEAD:.env"],
    ["curl", "--data", "@.env", "localhost"],
    ["bash", "-c", "cat .env"],
    ["bash", "-c", "cat .e*"],
  ];
  test.each(inside.map((argv) => [argv.join(" "), argv] as const))(
    "%s is asked about, though a rule allows every command",
    async (_, argv) => {
      verifies("PATH-3");
      const allow = { tool: "code.run_command", argv: [argv[0] ?? ""], decision: "allow" } as const;
      const { command, asked, project } = await open({
        rules: [...ALLOW_COMMANDS, allow],
        answer: no,
      });
      symlinkSync(".env", join(project, "linked"));
      expect((await command(argv)).status).toBe("rejected");
      expect(asked).toHaveLength(1);
      expect(asked[0]?.reason).toContain(join(project, ".env"));
    },
  );

  test("without anyone to ask the answer is no", async () => {
    verifies("PATH-3");
    const { command } = await open();
    const result = await command(["cat", ".env"]);
    expect(result).toMatchObject({ status: "denied", error: { code: "sensitive_path" } });
  });

  test("a yes lets it be read", async () => {
    verifies("PATH-3");
    const { command } = await open({ answer: yes });
    expect(textOf(await command(["cat", ".env"]))).toContain("PASSWORD=x");
  });

  test("a directory that is sensitive is no harmless place to be in", async () => {
    verifies("PATH-3");
    const { command, asked, write } = await open({ answer: no });
    write("store.jks/a", "x");
    expect((await command(["true"], { cwd: "store.jks" })).status).toBe("rejected");
    expect(asked).toHaveLength(1);
  });
});

describe("destructive commands", () => {
  test("are all those not proven to only read", async () => {
    verifies("PERM-9");
    const { command, project } = await open({
      policy: { rules: ALLOW_COMMANDS, destructive: "deny" },
    });
    expect((await command(["cat", "a.txt"])).status).toBe("succeeded");
    const refused = await command(["touch", "x"]);
    expect(refused).toMatchObject({ status: "denied", error: { code: "destructive_denied" } });
    expect(existsSync(join(project, "x"))).toBe(false);
  });
});

describe("between the judgement and the start", () => {
  test("a program that is edited while the user thinks does not run", async () => {
    verifies("PERM-8", "CMD-1");
    const { command, write, project } = await open({
      rules: [],
      answer() {
        write("tool", "#!/bin/sh\ntouch ran\n", 0o755);
        return { decision: "allow_once" };
      },
    });
    write("tool", "#!/bin/sh\necho fine\n", 0o755);
    const result = await command(["./tool"]);
    expect(result.error?.code).toBe("changed_since_approval");
    expect(existsSync(join(project, "ran"))).toBe(false);
  });

  test.each([
    ["of a shell", ["sh", "build.sh"]],
    ["behind a wrapper", ["env", "sh", "-e", "build.sh"]],
    ["of an interpreter with options", ["node", "--no-warnings", "build.sh", "data"]],
    ["behind a wrapper, executable", ["env", "./build.sh"]],
  ])("a script %s that is edited while the user thinks does not run", async (_, argv) => {
    verifies("PERM-8", "CMD-1");
    const { command, write, project } = await open({
      rules: [],
      answer() {
        write("build.sh", "#!/bin/sh\ntouch ran\n", 0o755);
        return { decision: "allow_once" };
      },
    });
    write("build.sh", "#!/bin/sh\necho fine\n", 0o755);
    const result = await command(argv);
    expect(result.error?.code).toBe("changed_since_approval");
    expect(existsSync(join(project, "ran"))).toBe(false);
  });

  test.each<[string, string[], string]>([
    ["a script that is sourced", ["sh", "-c", ". ./sub/run.sh"], "sub/run.sh"],
    ["a script that is sourced by name", ["bash", "-c", "set -e; source sub/run.sh"], "sub/run.sh"],
    ["a script behind a cd", ["sh", "-c", "cd sub && . ./run.sh"], "sub/run.sh"],
    ["a program in a script", ["sh", "-c", "./tool x && echo done"], "tool"],
    ["the Makefile", ["make"], "Makefile"],
    ["the Makefile of a directory", ["make", "-C", "sub", "all"], "sub/Makefile"],
    ["a Makefile right behind its option", ["make", "-fMakefile"], "Makefile"],
    ["a Makefile that comes first", ["make"], "GNUmakefile"],
    ["the Makefile for a script", ["sh", "-c", "make all"], "Makefile"],
    ["package.json", ["npm", "test"], "package.json"],
    ["package.json of a directory", ["npm", "--prefix", "sub", "run", "build"], "sub/package.json"],
    ["package.json above", ["env", "-C", "sub/deep", "npm", "test"], "sub/package.json"],
    ["a module", ["python3", "-m", "m"], "m.py"],
    ["a module of a package", ["python3", "-um", "pack.m"], "pack/m.py"],
    ["a package", ["python3", "-mpack"], "pack/__main__.py"],
  ])("%s that is edited while the user thinks is not run", async (_, argv, changed) => {
    verifies("PERM-8");
    const { command, write } = await open({
      rules: [],
      answer() {
        write(changed, "changed\n", 0o755);
        return { decision: "allow_once" };
      },
    });
    for (const name of ["sub/run.sh", "tool", "m.py", "pack/m.py", "pack/__main__.py"]) {
      write(name, "", 0o755);
    }
    for (const name of ["Makefile", "sub/Makefile"]) write(name, "all:\n");
    for (const name of ["package.json", "sub/package.json"]) write(name, "{}\n");
    write("sub/deep/a.txt", "");
    expect((await command(argv)).error?.code).toBe("changed_since_approval");
  });

  test("data of a script may change: only what is run was approved", async () => {
    verifies("PERM-8");
    const { command, write } = await open({
      rules: [],
      answer() {
        write("log.txt", "more\n");
        return { decision: "allow_once" };
      },
    });
    write("show.sh", "cat $1\n");
    write("log.txt", "one\n");
    expect((await command(["sh", "show.sh", "log.txt"])).status).toBe("succeeded");
  });

  test("the user sees which variables the command would see", async () => {
    verifies("PERM-6");
    const { command, asked } = await open({
      rules: [],
      answer: () => ({ decision: "deny" }),
      tool: () => ({ env: { SOONG_TEST_NAME: "value of it" } }),
    });
    await command(["touch", "x"]);
    expect(asked[0]?.env_summary).toContain("SOONG_TEST_NAME");
    expect(asked[0]?.env_summary).toContain("PATH");
    expect(JSON.stringify(asked[0])).not.toContain("value of it");
  });

  const swaps: [name: string, argv: string[], cwd: string, swap: (project: string) => void][] = [
    [
      "another program under the same name",
      ["./tool"],
      ".",
      (project) => {
        rmSync(join(project, "tool"));
        symlinkSync("evil", join(project, "tool"));
      },
    ],
    [
      "new contents of the program",
      ["./tool"],
      ".",
      (project) => writeFileSync(join(project, "tool"), "#!/bin/sh\ntouch ran ran2\n"),
    ],
    [
      "the same program in another place",
      ["./tool"],
      ".",
      (project) => {
        renameSync(join(project, "tool"), join(project, "elsewhere"));
        symlinkSync("elsewhere", join(project, "tool"));
      },
    ],
    [
      "another directory to run in",
      ["../tool"],
      "work",
      (project) => {
        renameSync(join(project, "work"), join(project, "old"));
        symlinkSync("old", join(project, "work"));
      },
    ],
    [
      "a link in place of a harmless file",
      ["cat", "a.txt"],
      ".",
      (project) => {
        rmSync(join(project, "a.txt"));
        symlinkSync(".env", join(project, "a.txt"));
      },
    ],
  ];
  test.each(swaps)("%s is noticed, also after a rule's yes", async (_, argv, cwd, swap) => {
    verifies("PERM-8", "CMD-1");
    // A guard runs after the targets were resolved.
    const hook: Hook<"PreToolUse"> = {
      id: "swap",
      event: "PreToolUse",
      run() {
        swap(stage?.project ?? "");
        return {};
      },
    };
    const { command, write, project } = await open({ session: { hooks: [hook] } });
    write("tool", "#!/bin/sh\ntouch ran\n", 0o755);
    write("evil", "#!/bin/sh\ntouch ran\n", 0o755);
    write("work/x", "");
    const result = await command(argv, { cwd });
    expect(result.error?.code).toBe("changed_since_approval");
    expect(result.error?.recovery).toBe("retry");
    expect(existsSync(join(project, "ran"))).toBe(false);
    expect(textOf(result)).not.toContain("PASSWORD");
  });

  test("that is no longer a program is reported as such", async () => {
    verifies("PERM-8", "CMD-1");
    const { command, write } = await open({
      session: {
        hooks: [
          {
            id: "swap",
            event: "PreToolUse",
            run: () => rmSync(join(stage?.project ?? "", "tool")),
          } satisfies Hook<"PreToolUse">,
        ],
      },
    });
    write("tool", "#!/bin/sh\ntouch ran\n", 0o755);
    const result = await command(["./tool"]);
    expect(result.error?.code).toBe("executable_not_found");
  });
});

function call(id: string, argv: string[]): { id: string; name: string; arguments: object } {
  return { id, name: "code.run_command", arguments: { argv } };
}

test("a yes for the beginning of a command is a grant on record that covers what begins so", async () => {
  verifies("PERM-5", "PERM-6", "PERM-16");
  const answers: PermissionAnswer[] = [
    { decision: "allow_for_session", scope: "prefix" },
    { decision: "allow_for_session", scope: "program" },
    { decision: "deny" },
  ];
  const answer = () => answers.shift() ?? no();
  const { command, asked, facts, write, project } = await open({ rules: [], answer });
  write("a.mjs", "console.log('ran', ...process.argv.slice(2));\n");
  expect(textOf(await command(["node", "a.mjs", "one"]))).toContain("ran one");
  expect(asked[0]?.scope_choices).toMatchObject([
    { id: "exact", always_rule: { argv: ["node", "a.mjs", "one"], exact_argv: true } },
    {
      id: "prefix",
      scopes: [{ kind: "argv_prefix", argv: ["node", "a.mjs"], cwd: project }],
      always_rule: { argv: ["node", "a.mjs", "**"] },
    },
  ]);
  expect(facts.find(({ type }) => type === "grant.created")?.data).toMatchObject({
    grant: { scopes: [{ kind: "argv_prefix", argv: ["node", "a.mjs"] }] },
  });
  expect(textOf(await command(["node", "a.mjs", "two", "three"]))).toContain("ran two three");
  expect(asked).toHaveLength(1);
  // What was not offered is no answer.
  expect(await command(["node", "a.mjs", "--", "/etc/hostname"])).toMatchObject({
    status: "denied",
    error: { code: "permission_unanswered" },
  });
  expect((await command(["node", "--import", "./a.mjs", "a.mjs"])).status).toBe("rejected");
  expect(asked).toHaveLength(3);
});

test("explain says why a command is proven to only read, and why another is not", async () => {
  verifies("PERM-17", "PERM-11");
  const { run } = await open({ rules: [] });
  const explain = async (argv: string[]): Promise<string> => {
    const call = { name: "code.run_command", arguments: JSON.stringify({ argv }) };
    const explained = await run.explain(call);
    if (explained.outcome === "refused") return "refused";
    return `${explained.outcome}: ${explained.proof?.why}`;
  };
  expect(await explain(["cat", "a.txt"])).toMatch(/^allow: Proven to only read: "\/.*cat" is /);
  expect(await explain(["touch", "x"])).toMatch(/^ask: Not proven to only read: "touch" is /);
});
