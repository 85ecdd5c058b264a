// What escapes are tried on: a project with secrets, a repository and sockets in it, an agent's home, files outside, servers
// and a process. What must not change is compared with how it was.

import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createSocket } from "node:dgram";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { once } from "node:events";
import { isRoot } from "../tools/path-ordinary-user.ts";
import { createFolder, own, type Command } from "./support.ts";

export interface World {
  readonly base: string;
  readonly project: string;
  /** Of the one world: in every secret, in nothing else. */
  readonly secret: string;
  readonly profile: NonNullable<Command["profile"]>;
  readonly env: Readonly<Record<string, string>>;
  /** What is different from how it was made: of files that must not change, of the process, of who was connected to. */
  damage(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function createWorld(uid: number): Promise<World> {
  const base = createFolder(uid);
  const id = randomUUID();
  const secret = `SECRET-${id}`;
  const at = (...names: string[]) => join(base, ...names);
  const project = at("project");
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text, { mode });
  };
  write("project/src/main.js", "console.log(1)\n");
  write("project/.env", secret);
  write("project/keys/private.pem", secret);
  write("project/config/deep/secret.json", secret);
  write("project/script.sh", "#!/bin/sh\n", 0o755);
  write("second/file", "second\n");
  write("outside/file", "outside\n");
  write("outside/secret", secret);
  write("outside/folder/file", "outside\n");
  write("agent/token", secret, 0o600);
  write("agent/facts.db", secret);
  write("home/.bashrc", "# mine\n");
  write("home/.profile", "# mine\n");
  write("home/.gitconfig", "[user]\n\tname = A\n\temail = a@example.org\n");
  write("home/.ssh/id_ed25519", secret, 0o600);
  symlinkSync("../outside", at("project/link-out"));
  symlinkSync("../outside/secret", at("project/link-secret"));
  execFileSync("git", ["init", "-q", project]);
  rmSync(at("project/.git/config.worktree"), { force: true });
  write("project/.git/hooks/pre-commit.sample", "#!/bin/sh\n", 0o755);

  const hidden = join(tmpdir(), `soong-hidden-${id}`);
  writeFileSync(hidden, secret, { mode: 0o666 });
  const connections: string[] = [];
  const servers = await Promise.all([
    listen(connections, { host: "127.0.0.1", port: 0 }),
    listen(connections, { host: "::1", port: 0 }),
    listen(connections, { path: at("project/app.sock") }),
    listen(connections, { path: at("agent/control.sock") }),
    listen(connections, { path: `${hidden}.sock` }),
  ]);
  const udp = createSocket("udp4").on("message", (message) => {
    connections.push(`udp: ${message.toString()}`);
  });
  udp.bind(0, "127.0.0.1");
  await once(udp, "listening");
  own(base, uid);
  const victim = startVictim(uid, at("received"), at("outside/letters.sock"), id);
  await once(victim.stdout, "data");
  const fixed = [".git/config", ".git/hooks", "script.sh"].map((path) => join(project, path));
  const absent = [".git/commondir", ".git/config.worktree", ".envrc"].map((path) =>
    join(project, path),
  );
  const masked = [
    at("project/.env"),
    at("project/keys"),
    at("project/config/deep/secret.json"),
    at("outside/secret"),
    at("home/.ssh"),
    at("agent"),
  ];
  const guarded = [
    ...fixed,
    ...absent,
    ...masked,
    ...["outside", "home", "project/config", "project/config/deep"].map((path) => at(path)),
    at("received"),
    hidden,
    join(project, ".git"),
  ];
  const before = describeFiles(guarded);
  return {
    base,
    project,
    secret,
    profile: { writable: [project, at("second")], fixed, masked, absent },
    env: {
      WORLD: base,
      PROJECT: project,
      OUTSIDE: at("outside"),
      AGENT: at("agent"),
      HOME: at("home"),
      ID: id,
      HIDDEN: hidden,
      VICTIM: String(victim.pid),
      TCP4: portOf(servers[0]),
      TCP6: portOf(servers[1]),
      UDP: String(udp.address().port),
    },
    async damage() {
      // What was sent is there by the time a later connection is.
      await once(udp.send("last", udp.address().port, "127.0.0.1") ?? udp, "message");
      const now = describeFiles(guarded);
      const names = new Set([...before.keys(), ...now.keys()]);
      return [
        ...[...names]
          .filter((name) => before.get(name) !== now.get(name))
          .map((name) => `${name}: ${before.get(name)} is ${now.get(name)}`),
        ...changedDevices(),
        ...connections.filter((connection) => connection !== "udp: last"),
        ...(victim.exitCode !== null || victim.signalCode !== null
          ? ["the process was ended"]
          : []),
        ...(niceOf(victim.pid) === "0" ? [] : ["the process runs at another priority"]),
      ];
    },
    async close() {
      victim.kill("SIGKILL");
      udp.close();
      for (const server of servers) server?.close();
      for (const path of [base, hidden, `${hidden}.sock`]) {
        rmSync(path, { recursive: true, force: true });
      }
    },
  };
}

/** Undefined where that kind of address is not to be had. */
async function listen(
  connections: string[],
  where: { host: string; port: number } | { path: string },
): Promise<Server | undefined> {
  const server = createServer((socket) => {
    connections.push(`connected: ${JSON.stringify(where)}`);
    socket.on("error", () => {}).end("SECRET-of-the-server");
  });
  server.listen(where);
  try {
    await once(server, "listening");
  } catch {
    return undefined;
  }
  if ("path" in where) chmodSync(where.path, 0o777);
  return server;
}

function portOf(server: Server | undefined): string {
  const address = server?.address();
  return typeof address === "object" && address !== null ? String(address.port) : "1";
}

/** A process to be hurt. It writes down what datagrams it gets. */
function startVictim(uid: number, file: string, path: string, id: string) {
  const script = String.raw`use Socket; $| = 1;
    socket(P, AF_UNIX, SOCK_DGRAM, 0); bind(P, pack_sockaddr_un($ARGV[1])) or die $!;
    socket(A, AF_UNIX, SOCK_DGRAM, 0); bind(A, pack_sockaddr_un("\0soong-$ARGV[2]")) or die $!;
    print "ready\n";
    while (1) { my $r = ""; vec($r, fileno(P), 1) = 1; vec($r, fileno(A), 1) = 1; select($r, undef, undef, undef);
      for my $s (P, A) { next unless vec($r, fileno($s), 1); recv($s, my $m, 999, 0); open(F, ">>", $ARGV[0]); print F $m; close F; } }`;
  return spawn("perl", ["-e", script, file, path, id], {
    stdio: ["ignore", "pipe", "inherit"],
    ...(isRoot ? { uid, gid: uid } : {}),
  });
}

function niceOf(pid: number | undefined): string | undefined {
  if (!existsSync(`/proc/${pid}`)) return undefined;
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16];
}

/** Attempts set a time that no device has. */
function changedDevices(): string[] {
  return ["null", "zero", "full", "random", "urandom", "tty"]
    .map((name) => `/dev/${name}`)
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.mtimeMs === 1000);
}

function describeFiles(paths: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const look = (path: string): void => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) {
      found.set(path, "missing");
      return;
    }
    const { mode, uid, ino, nlink } = stat;
    const isFile = stat.isFile();
    const content = isFile
      ? readFileSync(path, "latin1")
      : stat.isSymbolicLink()
        ? readlinkSync(path)
        : "";
    found.set(path, `${mode.toString(8)} ${uid} ${ino} ${isFile ? nlink : ""} ${content}`);
    if (stat.isDirectory() && !path.endsWith(".git")) {
      for (const name of readdirSync(path)) look(join(path, name));
    }
  };
  for (const path of paths) look(path);
  return found;
}

export function hasProgram(name: string): boolean {
  return ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"].some((folder) =>
    existsSync(join(folder, name)),
  );
}
