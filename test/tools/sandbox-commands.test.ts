// Commands in a real sandbox (CMD-6), through the kernel: what rules, guards and sensitive patterns close is closed for any
// program, what the user said yes to is open, and git works without a way to plant anything.

import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Fact, PermissionRule, ToolResult } from "@soong/core";
import { openSandbox, startProcess, type Sandbox } from "@soong/platform";
import { afterAll, afterEach, describe, expect, test, type TestContext } from "vitest";
import { verifies } from "#laws";
import { needsSandbox, VISIBLE_PLACE } from "../sandbox/support.ts";
import {
  ALLOW_COMMANDS,
  dataOf,
  openStage,
  textOf,
  type Stage,
  type StageOptions,
} from "./command-stage.ts";
import { createPlaces, declared, startDeclaredRun } from "./declarative-world.ts";

const sandbox = openSandbox();
afterAll(() => sandbox.close());

let stage: Stage | undefined;
afterEach(() => stage?.close());

async function openHere(
  context: TestContext | undefined,
  rules: readonly PermissionRule[] = [],
  options: StageOptions = {},
  used: Sandbox = sandbox,
): Promise<Stage> {
  if (context !== undefined) needsSandbox(context, sandbox.state());
  stage = await openStage({
    rules: [...ALLOW_COMMANDS, ...rules],
    tool: () => ({ sandbox: used, startProcess }),
    parent: VISIBLE_PLACE,
    ...options,
  });
  return stage;
}

type Parts = readonly (readonly [string, string])[];

/** Programs that read files whose names no argument has, as far as they can. */
const READERS: Readonly<Record<string, (files: Parts) => string[]>> = {
  sh: (files) => ["sh", "-c", files.map(([a, b]) => `x=${a}; y=${b}; cat "$x$y"`).join("; ")],
  perl: (files) => [
    "perl",
    "-e",
    files.map(([a, b]) => `open(F, "${a}" . "${b}") and print <F>;`).join(" "),
  ],
  node: (files) => [
    "node",
    "-e",
    files
      .map(([a, b]) => `try { console.log(fs.readFileSync("${a}" + "${b}", "utf8")) } catch {}`)
      .join("\n"),
  ],
  python: (files) => [
    "python3",
    "-c",
    files
      .map(([a, b]) => `try: print(open("${a}" + "${b}").read())\nexcept OSError: pass`)
      .join("\n"),
  ],
};

const SECRET = "kept-to-itself";

function place(path: string, text = SECRET): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function ofType(facts: readonly Fact[], type: string): object[] {
  return facts.filter((fact) => fact.type === type).map((fact) => fact.data);
}

describe("what is closed for reading", () => {
  const rules: PermissionRule[] = [
    { path: "secrets/**", decision: "deny" },
    { path: "**/*.hidden", decision: "ask" },
  ];

  test.for(Object.entries(READERS))("holds in %s", async ([, reader], context) => {
    verifies("CMD-6", "PERM-15", "PATH-3");
    const { command, project, base } = await openHere(context, rules);
    place(join(project, "secrets/prod/key"));
    place(join(project, "src/a.hidden"));
    place(join(project, "node_modules/x/b.hidden"));
    place(join(project, ".env"));
    place(join(base, "home/.ssh/config"));
    place(join(base, "home/deploy.pem"));
    place(join(project, "node_modules/x/cacert.pem"), "published");
    place(join(project, "plain"), "open");
    const secrets: Parts = [
      ["sec", "rets/prod/key"],
      ["src/a.", "hidden"],
      ["node_modules/x/b.hid", "den"],
      [".e", "nv"],
      [`${base}/home/.ss`, "h/config"],
      [`${base}/home/deploy.p`, "em"],
    ];
    const open: Parts = [
      ["pla", "in"],
      ["node_modules/x/cacert.p", "em"],
    ];
    const shown = textOf(await command(reader([...secrets, ...open])));
    expect(shown).not.toContain(SECRET);
    expect(shown).toContain("open");
    expect(shown).toContain("published");
  });

  test("also by links, hard links and new names, in this call and the next", async (context) => {
    verifies("CMD-6", "PERM-15");
    const { command, project, base, writable } = await openHere(context, rules);
    const key = place(join(project, "secrets/key"));
    place(join(project, "deep/er/.env"));
    symlinkSync(key, join(project, "link"));
    linkSync(key, join(project, "other-name"));
    linkSync(place(join(base, "home/.ssh/id")), join(writable, "linked"));
    const show = `for f in link other-name ${writable}/linked se*/* deep/*/.e* d?ep/er/.env; do cat $f; done`;
    const tries = [
      show,
      `mv secrets s2; mv deep d2; mv deep/er deep/e2; mv d??p/er/.env x; ln deep/er/.e* y; cp -r se* c; find . -type f | xargs cat; ${show}`,
      `cat s2/* d2/er/.env deep/e2/.env x y c/* c/*/*; ${show}`,
      `perl -e 'rename "se"."crets", "z"; rename "de"."ep", "z2"; unlink "de"."ep/er/.env"'; cat z/* z2/*/.e*; ${show}`,
    ];
    for (const line of tries) {
      expect.soft(textOf(await command(["sh", "-c", line])), line).not.toContain(SECRET);
    }
    expect(readFileSync(key, "utf8")).toBe(SECRET);
    expect(existsSync(join(project, "deep/er/.env"))).toBe(true);
  });

  test("opens for the very path that the user allowed, and no other", async (context) => {
    verifies("CMD-6", "PATH-3");
    const { command, project, base, asked } = await openHere(context, [], {
      answer: () => ({ decision: "allow_once" }),
    });
    place(join(project, ".env"), "from .env");
    place(join(base, "home/.ssh/config"), "from config");
    place(join(base, "home/.ssh/other"));
    expect(textOf(await command(["cat", ".env"]))).toBe("from .env");
    const line = `cat ${base}/home/.ssh/config; cat $(dirname ${base}/home/.ssh/config)/oth*`;
    const shown = textOf(await command(["sh", "-c", line]));
    expect(shown).toContain("from config");
    expect(shown).not.toContain(SECRET);
    expect(asked.map(({ sandbox: shownSandbox }) => shownSandbox?.state)).toEqual([
      "applied",
      "applied",
    ]);
  });

  test("is the home of the agent, also around a project", async (context) => {
    verifies("CMD-6", "PATH-6");
    const base = (await openHere(context)).base;
    place(join(base, "token"));
    const { command } = await openAt(base);
    const result = await command([
      "sh",
      "-c",
      `cat ../tok* ${base}/t*; echo here > note; cat note`,
    ]);
    expect(textOf(result)).not.toContain(SECRET);
    // Also where the user says yes to a command that names it.
    expect(textOf(await command(["cat", join(base, "token")]))).not.toContain(SECRET);

    async function openAt(home: string): Promise<Stage> {
      return openStage({
        tool: () => ({ sandbox, startProcess }),
        parent: home,
        policy: { protected_roots: [home] },
        answer: () => ({ decision: "allow_once" }),
      });
    }
  });
});

describe("what may be written", () => {
  test("are the roots, what was allowed outside of them, and nothing that a rule denies", async (context) => {
    verifies("CMD-6", "PATH-2", "PERM-15");
    const { command, project, base } = await openHere(
      context,
      [
        { path: "kept/**", tags: ["write"], decision: "deny" },
        { path: "never", decision: "deny" },
      ],
      { answer: () => ({ decision: "allow_once" }) },
    );
    place(join(project, "kept/a"), "a");
    const outside = place(join(base, "outside/.bashrc"), "before");
    place(join(base, "outside/beside"), "before");
    const line = `x=ke; echo b > a; echo b > \${x}pt/a; echo b > \${x}pt/new; mv \${x}pt z; y=nev; echo b > \${y}er; echo done`;
    expect(textOf(await command(["sh", "-c", line]))).toContain("done");
    expect(readFileSync(join(project, "a"), "utf8")).toBe("b\n");
    expect(readFileSync(join(project, "kept/a"), "utf8")).toBe("a");
    expect(existsSync(join(project, "kept/new"))).toBe(false);
    expect(existsSync(join(project, "never"))).toBe(false);

    await command([
      "sh",
      "-c",
      `x=beside; echo after > ${outside}; echo after > ${base}/outside/$x`,
    ]);
    expect(readFileSync(outside, "utf8")).toBe("after\n");
    expect(readFileSync(join(base, "outside/beside"), "utf8")).toBe("before");
  });

  test("of many new files that other programs run none is hidden behind the others", async (context) => {
    verifies("CMD-6", "PATH-6");
    const { command, facts } = await openHere(context);
    const script = `x=.en; for i in $(seq 13); do mkdir d$i; touch d$i/\${x}vrc; done`;
    expect(textOf(await command(["sh", "-c", script]))).toContain(" and 3 more, which other");
    expect(ofType(facts, "sandbox.violation").at(-1)).toEqual({
      kind: "write",
      detail: "3 more like these were created",
      certain: true,
    });
  });

  test("files that other programs run stay as they are; new ones are noticed", async (context) => {
    verifies("CMD-6", "PATH-6");
    const { command, project, facts } = await openHere(context);
    const settings = place(join(project, ".vscode/settings.json"), "{}");
    const perl = `my $d = "."; open(F, ">", "\${d}vscode/settings.json") and print F "evil"; mkdir "\${d}husky"; open(F, ">", "\${d}husky/pre-commit") and print F "evil";`;
    const result = await command(["perl", "-e", perl]);
    expect(readFileSync(settings, "utf8")).toBe("{}");
    expect(textOf(result)).toContain(".husky");
    expect(ofType(facts, "sandbox.violation")).toEqual([
      expect.objectContaining({ kind: "write", certain: true }),
    ]);
  });
});

function git(cwd: string, ...args: string[]): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", args, { cwd, env, encoding: "utf8" });
}

function startRepository(directory: string): void {
  git(directory, "init", "-q");
  git(directory, "config", "user.email", "a@example.org");
  git(directory, "config", "user.name", "a");
  git(directory, "commit", "-q", "--allow-empty", "-m", "first");
}

const COMMIT = `echo more >> file && git add file && git commit -q -m second && git branch side && git stash list && git gc -q && git log --oneline`;

describe("git", () => {
  test("commits, and cannot be led to run anything later", async (context) => {
    verifies("CMD-6", "PATH-6");
    const { command, project, base } = await openHere(context);
    startRepository(project);
    rmSync(join(project, ".git/hooks"), { recursive: true });
    const committed = await command(["sh", "-c", COMMIT]);
    expect(textOf(committed)).toContain("second");
    expect(dataOf(committed)).toMatchObject({ contained_by: "sandbox", exit_code: 0 });

    const mark = join(base, "ran");
    const evil = `[core]\\nrepositoryformatversion = 0\\nfsmonitor = \\"touch ${mark}; false\\"\\n`;
    const hook = `#!/bin/sh\\ntouch ${mark}\\n`;
    const tries = [
      `printf "${evil}" >> $g/config`,
      `printf "${evil}" > c2; mv c2 $g/config; cp c2 $g/config`,
      `mkdir $g/hooks; printf "${hook}" > $g/hooks/post-index-change; chmod +x $g/hooks/*`,
      `mv $g g2 && cp -r g2 $g; mv $g/hooks h2; ln -s ../h2 $g/hooks`,
      `mkdir ev && cp -r $g/objects $g/refs ev && printf "${evil}" > ev/config && echo ../ev > $g/commondir; rm $g/commondir; mkdir $g/commondir`,
      `git config core.hooksPath h2; git config core.fsmonitor "touch ${mark}"`,
    ];
    for (const line of tries) await command(["sh", "-c", `g=.g; g="\${g}it"; ${line}`]);
    expect(git(project, "log", "--oneline")).toContain("second");
    git(project, "status");
    git(project, "commit", "-q", "--allow-empty", "-m", "outside");
    expect(existsSync(mark)).toBe(false);
    expect(existsSync(join(project, ".git/commondir"))).toBe(false);
    expect(existsSync(join(project, ".git/hooks"))).toBe(false);
    const again = `g=.g; g="\${g}it"; rm -rf $g; git init -q; printf "${evil}" >> $g/config; mkdir $g/hooks`;
    await command(["sh", "-c", again]);
    expect(readFileSync(join(project, ".git/config"), "utf8")).not.toContain("fsmonitor");
  });

  test("handles files that it has the content of as always, and no others", async (context) => {
    verifies("CMD-6", "PATH-3");
    const { command, project } = await openHere(context);
    startRepository(project);
    place(join(project, "fixtures/test.pem"), "published");
    place(join(project, ".env.example"), "published");
    git(project, "add", "-A");
    git(project, "commit", "-q", "-m", "fixtures");
    place(join(project, ".env"));
    git(project, "update-index", "--add", "--cacheinfo", `100644,${"1".repeat(40)},.env`);
    place(join(project, ".env.example"), SECRET);
    const script = `for ("fixtures/test.p"."em", ".e"."nv", ".e"."nv.example") { open(F, $_) and print <F>; } print \`git status --short; git stash list\``;
    const shown = textOf(await command(["perl", "-e", script]));
    expect(shown).toContain("published");
    expect(shown).not.toContain(SECRET);
    expect(shown).not.toContain("fixtures");
  });

  test("asks for what a rule restricts and git has in its objects, and for names that are shown", async (context) => {
    verifies("CMD-6", "PERM-15");
    const rules: PermissionRule[] = [
      { path: "secrets/**", decision: "deny" },
      { path: "**/*.hidden", decision: "deny" },
      { tool: "code.run_command", argv: ["git", "**"], decision: "allow" },
    ];
    const { command, project } = await openHere(context, rules);
    startRepository(project);
    place(join(project, "secrets/key"), "not committed");
    const free = [
      ["perl", "-e", "print `git log -p --all`"],
      ["git", "log", "-p"],
      ["ls", "-R"],
    ];
    for (const argv of free)
      expect((await command(argv)).status, argv.join(" ")).not.toBe("denied");
    git(project, "add", "-A");
    git(project, "commit", "-q", "-m", "a secret");
    place(join(project, "a.hidden"));
    for (const argv of [...free, ["git", "show"], ["git", "grep", "not", "HEAD"], ["ls", "-la"]]) {
      expect((await command(argv)).status, argv.join(" ")).toBe("denied");
    }
  });

  test("commits in a linked work tree; a forged .git file opens nothing", async (context) => {
    verifies("CMD-6");
    const { command, project, base, writable } = await openHere(context);
    const main = join(base, "main");
    mkdirSync(main);
    startRepository(main);
    rmSync(project, { recursive: true });
    git(main, "worktree", "add", "-q", project);
    expect(textOf(await command(["sh", "-c", COMMIT.replace("git gc -q && ", "")]))).toContain(
      "second",
    );
    const planted = await command([
      "sh",
      "-c",
      `m=${base}/main; g=.g; for f in config hooks/pre-commit worktrees/project/commondir HEAD; do echo x > $m/\${g}it/$f; done; echo x > $m/$f; true`,
    ]);
    expect(planted.error).toBeUndefined();
    expect(readFileSync(join(main, ".git/config"), "utf8")).not.toBe("x\n");
    expect(existsSync(join(main, ".git/hooks/pre-commit"))).toBe(false);
    expect(existsSync(join(main, "HEAD"))).toBe(false);
    expect(readFileSync(join(main, ".git/HEAD"), "utf8")).not.toBe("x\n");
    expect(git(project, "log", "--oneline")).toContain("second");

    writeFileSync(join(writable, ".git"), `gitdir: ${main}/.git/worktrees/project\n`);
    rmSync(join(project, ".git"));
    const forged = await command([
      "sh",
      "-c",
      `m=${base}/main; g=.g; echo x > $m/\${g}it/worktrees/project/HEAD`,
    ]);
    expect(forged.error?.code).toBe("command_failed");
  });
});

describe("git in a submodule, and in several commands at once", () => {
  test("commits, with the config and hooks of the outer repository kept", async (context) => {
    verifies("CMD-6");
    const { command, project, base } = await openHere(context);
    const library = join(base, "library");
    mkdirSync(library);
    startRepository(library);
    rmSync(project, { recursive: true });
    startRepository(base);
    git(
      base,
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "add",
      library,
      "project",
    );
    const identity = "-c user.name=a -c user.email=a@example.org";
    const line = `echo a > file && git add file && git ${identity} commit -q -m inner; g=.g; for f in config hooks/pre-commit modules/project/config modules/project/hooks/pre-commit; do echo x > ../\${g}it/$f; done; git log --oneline`;
    expect(textOf(await command(["sh", "-c", line]))).toContain("inner");
    for (const directory of [".git", ".git/modules/project"]) {
      expect(readFileSync(join(base, directory, "config"), "utf8")).not.toBe("x\n");
      expect(existsSync(join(base, directory, "hooks/pre-commit"))).toBe(false);
    }
  });

  test("nothing is left of names that were kept free, and none is taken for a new file", async (context) => {
    verifies("CMD-6");
    const { command, project, writable, facts } = await openHere(context, [
      { path: "never/there", decision: "deny" },
    ]);
    startRepository(project);
    const line = "sleep 0.$(($$ % 5)); git status --short; mkdir never; true";
    const many = Array.from({ length: 6 }, () => command(["sh", "-c", line]));
    for (const result of await Promise.all(many)) expect(result.error).toBeUndefined();
    expect(ofType(facts, "sandbox.violation")).toEqual([]);
    const left = [".git/commondir", "never", join(writable, ".git")];
    expect(left.filter((path) => existsSync(resolve(project, path)))).toEqual([]);
  });
});

describe("the sandbox on record", () => {
  test("what it opens, what it refused for sure and what may have been", async (context) => {
    verifies("CMD-6");
    const { command, project, facts } = await openHere(context);
    const failed = await command(["sh", "-c", "x=/usr; echo a > $x/soong-test"]);
    expect(textOf(failed)).toContain(`only "${project}"`);
    expect(textOf(failed)).toContain("call again with outside_sandbox: the user decides");
    expect(ofType(facts, "sandbox.applied")).toEqual([
      expect.objectContaining({ backend: "bubblewrap", network: "closed" }),
    ]);
    expect(ofType(facts, "sandbox.violation")).toEqual([
      expect.objectContaining({ kind: "write", certain: false }),
    ]);
  });

  test("is left where the user lets the model's command out, and only then", async (context) => {
    verifies("CMD-6");
    let decision: "allow_once" | "deny" = "deny";
    const { command, base, asked, facts } = await openHere(context, [], {
      answer: () => ({ decision }),
    });
    const argv = ["sh", "-c", `x=out; echo a > ${base}/$x`];
    const out = { outside_sandbox: true };
    expect((await command(argv, out)).status).toBe("rejected");
    expect(existsSync(join(base, "out"))).toBe(false);
    decision = "allow_once";
    expect((await command(argv, out)).status).toBe("succeeded");
    expect(existsSync(join(base, "out"))).toBe(true);
    expect(asked.map((request) => request.sandbox)).toEqual([
      { state: "off", by: "the model requests it" },
      { state: "off", by: "the model requests it" },
    ]);
    expect(ofType(facts, "sandbox.applied")).toEqual([]);
    // The yes was to that call alone.
    expect((await command(argv)).status).toBe("failed");
    expect(ofType(facts, "sandbox.applied")).toHaveLength(1);
  });

  test("is not left where one is required", async (context) => {
    verifies("CMD-6");
    const policy = { sandbox: { mode: "required" as const }, rules: [...ALLOW_COMMANDS] };
    const { command, base, facts } = await openHere(context, [], { policy });
    const argv = ["sh", "-c", `x=out; echo a > ${base}/$x`];
    const failed = await command(argv, { outside_sandbox: true });
    expect(failed.status).toBe("failed");
    expect(textOf(failed)).not.toContain("outside_sandbox");
    expect(existsSync(join(base, "out"))).toBe(false);
    expect(ofType(facts, "sandbox.applied")).toHaveLength(1);
  });

  test("is set up anew where something that it was to mask has just gone, and only once", async (context) => {
    verifies("CMD-6");
    let entered = 0;
    let failing = 1;
    const unsure: Sandbox = {
      ...sandbox,
      enter(command, profile) {
        entered += 1;
        const entry = sandbox.enter(command, profile);
        if ((failing -= 1) < 0) return entry;
        // As if the kernel had not found a place for a mount.
        return { ...entry, args: ["--ro-bind", "/nonexistent/a", "/nonexistent/b", ...entry.args] };
      },
    };
    const { command } = await openHere(context, [], {}, unsure);
    expect(textOf(await command(["sh", "-c", "x=ran; echo $x"]))).toBe("ran");
    expect(entered).toBe(2);
    failing = 2;
    expect((await command(["sh", "-c", "x=ran; echo $x"])).error?.code).toBe("sandbox_failed");
    expect(entered).toBe(4);
  });

  test("is missing: what only wants it runs and says so, what requires it does not", async () => {
    verifies("CMD-6");
    const none = { state: () => ({ missing: "it is not installed", fix: "Install it." }) };
    const without = { ...sandbox, ...none };
    const on = await openHere(undefined, [], {}, without);
    expect(textOf(await on.command(["echo", "ran"]))).toBe("ran");
    expect(ofType(on.facts, "sandbox.missing")).toEqual([{ why: "it is not installed" }]);
    on.close();
    const required = await openHere(
      undefined,
      [],
      { policy: { sandbox: { mode: "required" } } },
      without,
    );
    const refused = await required.command(["touch", "ran"]);
    expect(refused.error?.code).toBe("sandbox_unavailable");
    expect(existsSync(join(required.project, "ran"))).toBe(false);
  });

  test("is gone when the call runs: nothing runs", async (context) => {
    verifies("CMD-6", "PERM-8");
    let asked = 0;
    const leaving: Sandbox = {
      ...sandbox,
      state: () => ((asked += 1) === 1 ? sandbox.state() : { missing: "it was removed", fix: "" }),
    };
    const { command, project } = await openHere(context, [], {}, leaving);
    const result: ToolResult = await command(["touch", "ran"]);
    expect(result.error?.code).toBe("sandbox_failed");
    expect(existsSync(join(project, "ran"))).toBe(false);
  });
});

test("a declared tool runs inside, with its own files in the home of the agent and no other", async (context) => {
  verifies("CMD-6", "DECL-4", "PATH-6");
  needsSandbox(context, sandbox.state());
  const places = createPlaces(VISIBLE_PLACE);
  try {
    places.write("home/tools/lib.sh", "echo from the library\n");
    const script = `#!/bin/sh\n. "$(dirname "$0")/lib.sh"\nx=tok; cat ${places.home}/\${x}en; echo a > made; echo a > ${places.home}/x\n`;
    places.write("home/tools/run.sh", script, 0o755);
    places.write("home/token", SECRET);
    const about = { command: "./run.sh", output: "text", permission: "write" };
    places.write("home/tools/x.json", declared(about));
    const { call, journal } = await startDeclaredRun(places, {
      policy: { protected_roots: [places.home] },
      loading: { sandbox },
    });
    const result = await call("test.tool");
    expect(textOf(result)).toContain("from the library");
    expect(textOf(result)).not.toContain(SECRET);
    expect(result.metadata).toMatchObject({ tool: { process: { contained_by: "sandbox" } } });
    expect(existsSync(join(places.project, "made"))).toBe(true);
    expect(existsSync(join(places.home, "x"))).toBe(false);
    expect(ofType(journal.facts, "sandbox.applied")).toHaveLength(1);
    expect(ofType(journal.facts, "sandbox.violation")).toMatchObject([{ certain: false }]);
  } finally {
    places.remove();
  }
});
