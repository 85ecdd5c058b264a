// CMD-6: ways out of the sandbox, as root and as an ordinary user. They are tried one after the other in one process of the
// sandbox; each is a test of its own.

import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { foreignPrograms } from "./foreign-programs.ts";
import { CALLS, NUMBERS, PRELUDE, PROBES, PROXY_PROBES, type Probe } from "./probes.ts";
import { needsSandbox, RUNTIME_SECRET, USERS, useRuntimes, type Runtime } from "./support.ts";
import { createWorld, type World } from "./world.ts";

const runtimes = useRuntimes();
const arch = process.arch === "arm64" ? "arm64" : "x64";
const calls = CALLS.filter((call) => call[arch] !== undefined);

describe.each(USERS)("in the sandbox, as $user,", ({ uid }) => {
  let runtime: Runtime;
  let world: World | undefined;
  let tried: ReadonlyMap<string, string>;
  let triedWithHosts: ReadonlyMap<string, string>;

  beforeAll(async () => {
    runtime = await runtimes.open(uid);
    if ("missing" in runtime.state) return;
    world = await createWorld(uid);
    tried = await tryAll(runtime, world, PROBES, world.profile);
    const profile = { ...world.profile, hosts: ["open.example"] };
    triedWithHosts = await tryAll(runtime, world, PROXY_PROBES, profile);
  });
  afterAll(async () => {
    await runtime.close();
    await world?.close();
  });

  test.for(PROBES)("one cannot $name", ({ name }, context) => {
    verifies("CMD-6");
    needsSandbox(context, runtime.state);
    const printed = tried.get(name);
    expect(printed, "it was tried").toBeDefined();
    expect(printed).not.toContain("THROUGH");
    expect(printed).not.toContain(world?.secret);
    expect(printed).not.toContain(RUNTIME_SECRET);
  });

  test.for(PROXY_PROBES)("with open hosts, one cannot $name", ({ name }, context) => {
    verifies("CMD-6");
    needsSandbox(context, runtime.state);
    expect(triedWithHosts.get(name)).toBeDefined();
    expect(triedWithHosts.get(name)).not.toMatch(/THROUGH|SECRET/);
  });

  test.for(calls)("the kernel refuses $name", ({ name }, context) => {
    verifies("CMD-6");
    needsSandbox(context, runtime.state);
    expect(tried.get(name), "it was tried").toMatch(/^(EPERM|EACCES|ENOSYS|killed)$/);
  });

  test.for(foreignPrograms)("one cannot $name", ({ name }, context) => {
    verifies("CMD-6");
    needsSandbox(context, runtime.state);
    expect(Number(/\d+$/.exec(tried.get(name)?.trim() ?? "")?.[0])).toBeGreaterThan(100);
  });

  test("nothing outside is other than before: files, their modes and links, sockets, processes", async (context) => {
    verifies("CMD-6");
    needsSandbox(context, runtime.state);
    expect(await world?.damage()).toEqual([]);
  });
});

describe("outside of the sandbox", () => {
  const { uid } = USERS[0];
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await runtimes.open(uid);
  });
  afterAll(() => runtime.close());

  test("the same attempts get through, so that their refusal says something", async (context) => {
    needsSandbox(context, runtime.state);
    const every = process.env["SOONG_TEST_FULL"] === "1" ? 1 : 4;
    const probes = PROBES.filter(({ works }) => works).filter((_, index) => index % every === 0);
    const outcomes: string[] = [];
    // Each has a world of its own, for it changes it; mostly it waits.
    for (let at = 0; at < probes.length; at += AT_ONCE) {
      const tries = probes.slice(at, at + AT_ONCE).map((probe) => tryOutside(probe));
      outcomes.push(...(await Promise.all(tries)));
    }
    const failed = outcomes.filter((outcome) => outcome !== "");
    expect(failed).toEqual([]);
  });

  /** What it printed, if it did not get through. */
  async function tryOutside(probe: Probe): Promise<string> {
    const world = await createWorld(uid);
    try {
      const printed = (await tryAll(runtime, world, [probe])).get(probe.name) ?? "";
      const isThrough = printed.includes("THROUGH") || printed.includes(world.secret);
      return isThrough ? "" : `${probe.name}: ${printed}`;
    } finally {
      await world.close();
    }
  }

  test("the same system calls are answered", async (context) => {
    needsSandbox(context, runtime.state);
    const world = await createWorld(uid);
    const tried = await tryAll(runtime, world, []);
    await world.close();
    const names = calls.filter(({ works }) => works).map(({ name }) => name);
    expect(names.filter((name) => /^(EPERM|EACCES|ENOSYS)$/.test(tried.get(name) ?? ""))).toEqual(
      [],
    );
  });
});

const AT_ONCE = 8;

/** What each of them printed, by name. All calls are among them unless it is about one probe. */
async function tryAll(
  runtime: Runtime,
  world: World,
  probes: readonly Probe[],
  profile?: World["profile"],
): Promise<ReadonlyMap<string, string>> {
  const scripts = mkdtempSync(join(world.base, "scripts-"));
  const names = new Map<string, string>();
  const save = (name: string, kind: string, content: string | Buffer) => {
    const file = `${String(names.size).padStart(3, "0")}.${kind}`;
    writeFileSync(join(scripts, file), content, { mode: 0o755 });
    names.set(file, name);
  };
  for (const { name, sh, perl } of probes) {
    if (sh !== undefined) save(name, "sh", PRELUDE.sh + sh);
    if (perl !== undefined) save(name, "pl", constants() + PRELUDE.perl + perl);
  }
  if (probes.length !== 1) {
    save("calls", "pl", callsInPerl());
    for (const { name, bytes } of foreignPrograms) save(name, "elf", bytes);
  }
  writeFileSync(join(scripts, "run"), RUN_ALL);
  chmodSync(scripts, 0o755);
  const { stdout, stderr, failure } = await runtime.run({
    argv: ["/bin/sh", join(scripts, "run")],
    cwd: world.project,
    env: { ...world.env, SCRIPTS: scripts },
    ...(profile === undefined ? {} : { profile }),
  });
  expect(failure ?? "").toBe("");
  const tried = new Map<string, string>();
  for (const part of stdout.split("\u0001").slice(1)) {
    const file = part.slice(0, part.indexOf("\n"));
    tried.set(names.get(file) ?? file, part.slice(file.length + 1));
  }
  for (const [, name, answer] of (tried.get("calls") ?? "").matchAll(/^(.+): (\w+)$/gm)) {
    tried.set(name ?? "", answer ?? "");
  }
  expect(tried.size, stderr).toBeGreaterThanOrEqual(names.size);
  return tried;
}

const RUN_ALL = String.raw`cd "$SCRIPTS"
for script in *.*; do
  printf '\001%s\n' "$script"
  case $script in
    *.sh) timeout 20 sh "$script" ;;
    *.pl) timeout 20 perl "$script" ;;
    *.elf) (exec "./$script"); echo $? ;;
  esac 2>&1
done
`;

function constants(): string {
  return Object.entries(NUMBERS)
    .map(([name, numbers]) => `use constant SYS_${name} => ${numbers[arch]};`)
    .join(" ");
}

/** Each in a process of its own: some change what makes it. */
function callsInPerl(): string {
  const lines = calls.map(
    ({ name, args, ...numbers }) =>
      `attempt(${JSON.stringify(name)}, sub { my @args = (${args}); syscall(${numbers[arch]}, @args) });`,
  );
  return String.raw`use Errno; $| = 1;
my $text = "x" x 8; my $iov = pack("PQ", $text, 8); my $pidfd = syscall(434, $$, 0);
sub attempt {
  my ($name, $call) = @_; my $maker = $$;
  my $child = fork;
  if ($child == 0) {
    my $me = $$;
    my $answer = $call->();
    my $code = $! + 0;
    kill 9, $$ if $$ != $me;
    my ($error) = $answer == -1 ? grep { Errno->can($_) && Errno->can($_)->() == $code } keys %! : ("answered");
    syswrite STDOUT, "$name: " . ($answer == -1 ? $error // $code : "answered") . "\n";
    exit 0;
  }
  waitpid $child, 0;
  print "$name: killed\n" if ($? & 127) == 31;
}
${lines.join("\n")}
`;
}
