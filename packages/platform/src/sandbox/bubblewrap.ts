// The sandbox of Linux: bubblewrap with namespaces of its own for everything, the mounts of a profile, no capabilities, and
// a seccomp program. Its arguments go through a descriptor: there can be many masks.

import { spawnSync, type ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { constants } from "node:os";
import { messageOf, ToolFailure } from "@soong/core";
import { bridgeArgv, openBridge, proxyEnvironment, type Bridge } from "./bridge.ts";
import { followSetUp } from "./follow-set-up.ts";
import { explainFailure } from "./explain-failure.ts";
import { coverInherited } from "./inherited-descriptors.ts";
import { isOpenInside, planMounts } from "./mounts.ts";
import { layPlaceholders, removeUnneeded, type Placeholders } from "./placeholders.ts";
import { openPrivateDirectory, type PrivateDirectory } from "./private-directory.ts";
import {
  findSystemProgram,
  sandboxFailure,
  type ExitStatus,
  type Sandbox,
  type SandboxEntry,
  type SandboxProfile,
  type SandboxState,
} from "../process/index.ts";
import { seccompProgram } from "./seccomp.ts";

export interface BubblewrapOptions {
  /** Where bubblewrap is looked up: `PATH` of this process and the places of the system unless given. */
  readonly path?: string;
}

export function openBubblewrap({ path }: BubblewrapOptions): Sandbox {
  const lookup = path ?? `${process.env["PATH"] ?? ""}:${SYSTEM_PATH}`;
  let directory: PrivateDirectory | undefined;
  let isClosed = false;

  return {
    state() {
      const found = probe(lookup);
      return "missing" in found ? found : { backend: found.backend, version: found.version };
    },

    enter(command, profile) {
      const found = probe(lookup);
      if ("missing" in found) throw sandboxFailure(`${found.missing}. ${found.fix}`);
      if (isClosed) throw sandboxFailure("the runtime is closing");
      const isBridged = profile.refuseHost !== undefined;
      let placeholders: Placeholders | undefined;
      try {
        directory ??= openDirectory();
        const own = directory;
        placeholders = layPlaceholders(profile, own.notes);
        const fixed = [...profile.fixed, ...placeholders.paths];
        // Node itself opens the bridge, also where it is in a directory that is not there inside, such as /tmp.
        const readable = [...(profile.readable ?? []), ...(isBridged ? [process.execPath] : [])];
        const mounts = planMounts(
          { ...profile, fixed, readable },
          {
            temporaryDirectory: (inner) => own.temporaryDirectory(inner),
            devices: own.devices().mounts,
            masked: [own.base],
          },
        );
        const ofNetwork = isBridged ? proxyEnvironment(profile.openHosts) : WITHOUT_NETWORK;
        const env = { ...command.env, ...ofNetwork };
        const { TMPDIR } = env;
        if (TMPDIR !== undefined && !isOpenInside(profile, TMPDIR)) env["TMPDIR"] = "/tmp";
        const variables = Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]);
        const args = [...NAMESPACES, ...mounts, ...variables, "--chdir", command.cwd, ...LAST];
        const { empty } = own.devices();
        const isAlone = own.isAlone();
        const prepared = { args, empty, isAlone, profile, placeholders };
        return bubblewrapEntry(found, command, prepared);
      } catch (error) {
        placeholders?.release();
        // Such as a full disk.
        throw error instanceof ToolFailure ? error : sandboxFailure(messageOf(error));
      }
    },

    close() {
      isClosed = true;
      directory?.remove();
      directory = undefined;
    },
  };
}

interface PreparedStart {
  readonly args: readonly string[];
  readonly empty: number;
  /** No other runtime has sandboxes. */
  readonly isAlone: boolean;
  readonly profile: SandboxProfile;
  readonly placeholders: Placeholders;
}

function openDirectory(): PrivateDirectory {
  const directory = openPrivateDirectory();
  removeUnneeded(directory.notes);
  return directory;
}

function bubblewrapEntry(
  { program, filter }: Usable,
  {
    executable,
    args,
    descriptor,
  }: { executable: string; args: readonly string[]; descriptor: number },
  { args: ownArgs, empty, isAlone, profile, placeholders }: PreparedStart,
): SandboxEntry {
  const [own, seccomp, status] = [descriptor, descriptor + 1, descriptor + 2];
  const { masked, refuseHost } = profile;
  const channel = descriptor + PIPES.length;
  const command = [executable, ...args];
  const argv = refuseHost === undefined ? command : bridgeArgv(command, { masked, channel });
  const setUp = followSetUp(ownArgs, isAlone);
  const block = channel + (refuseHost === undefined ? 0 : 1);
  let bridge: Bridge | undefined;
  let report = Promise.resolve("");
  return {
    executable: program,
    args: [
      "--args",
      `${own}`,
      "--seccomp",
      `${seccomp}`,
      "--json-status-fd",
      `${status}`,
      ...(setUp.isHeld ? ["--block-fd", `${block}`] : []),
      "--",
      ...argv,
    ],
    // None of the command's: a variable can make a program load code, and this one is still outside.
    env: {},
    stdio: [
      ...PIPES,
      ...(refuseHost === undefined ? [] : (["ipc"] as const)),
      ...(setUp.isHeld ? (["pipe"] as const) : []),
      ...coverInherited(setUp.isHeld ? block + 1 : block, empty),
    ],
    empty,
    isMonitored: true,
    started(child) {
      send(child, own, Buffer.from(ownArgs.map((argument) => `${argument}\0`).join("")));
      send(child, seccomp, filter);
      report = readReport(child.stdio[status] as Readable, (pid) =>
        setUp.begun(pid, {
          open: () => send(child, block, Buffer.from("1")),
          refuse: () => void child.kill("SIGKILL"),
        }),
      );
      if (refuseHost !== undefined) bridge = openBridge(child, { ...profile, refuseHost });
    },
    async outcome(end, said) {
      if (setUp.isRefused()) {
        throw sandboxFailure("a path was replaced while it was being set up. Try it again");
      }
      if (end.code === null) return end;
      // Reported only if the command was started.
      const code = /"exit-code": (\d+)/.exec(await report)?.[1];
      if (code !== undefined) {
        if (!end.wasStopped) await bridge?.check(said);
        return readExit(Number(code));
      }
      // Asked to end before it began.
      if (end.wasStopped) return readExit(end.code);
      throw sandboxFailure(explainFailure(said, end.code).missing);
    },
    refusedHosts: () => bridge?.refusedHosts() ?? [],
    release() {
      bridge?.close();
      setUp.ended();
      placeholders.release();
    },
  };
}

/** So that they say at once that there is no network: npm would try for 70 seconds. */
const WITHOUT_NETWORK: Record<string, string> = { npm_config_fetch_retries: "0", PIP_RETRIES: "0" };

/** For its arguments, for the seccomp program, and for how it ended. */
const PIPES = ["pipe", "pipe", "pipe"] as const;

function send(child: ChildProcess, descriptor: number, bytes: Buffer): void {
  const stream = child.stdio[descriptor] as Writable;
  // It ended before it had read this, and says why.
  stream.on("error", () => {});
  stream.end(bytes);
}

/** Calls back with the first process inside, by its number here. */
async function readReport(stream: Readable, onStart: (pid: number) => void): Promise<string> {
  let text = "";
  let isStarted = false;
  try {
    for await (const chunk of stream) {
      text += String(chunk);
      const pid = isStarted ? undefined : /"child-pid": (\d+)[^\d]/.exec(text)?.[1];
      if (pid === undefined) continue;
      isStarted = true;
      onStart(Number(pid));
    }
  } catch {
    // As far as it came.
  }
  return text;
}

/**
 * Of a command that was ended by a signal bubblewrap reports what a shell would. Programs use few of these numbers as codes of
 * their own: 129 is one of git's.
 */
const SIGNALS = "INT QUIT ILL TRAP ABRT BUS FPE KILL SEGV PIPE ALRM TERM XCPU XFSZ SYS".split(" ");

function readExit(code: number): ExitStatus {
  const signal = SIGNALS.map((name) => `SIG${name}` as NodeJS.Signals).find(
    (name) => constants.signals[name] === code - 128,
  );
  return signal === undefined ? { code, signal: null } : { code: null, signal };
}

const SYSTEM_PATH =
  "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin:/nix/var/nix/profiles/default/bin";

/** A session of its own: it can be asked to end without its monitor. */
const NAMESPACES =
  "--die-with-parent --new-session --unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net".split(
    " ",
  );
const LAST = ["--cap-drop", "ALL"];

interface Usable {
  readonly backend: "bubblewrap";
  readonly version: string;
  readonly program: string;
  readonly filter: Buffer;
}

type Probed = Usable | Extract<SandboxState, { missing: string }>;

let probed: { readonly lookup: string; readonly state: Probed } | undefined;

/** Once per process: where it fails later, commands fail, and none runs outside because of one that made it fail. */
function probe(lookup: string): Probed {
  if (probed?.lookup !== lookup) probed = { lookup, state: tryOut(lookup) };
  return probed.state;
}

function tryOut(lookup: string): Probed {
  const filter = seccompProgram();
  if (filter === undefined) {
    return {
      missing: `the sandbox does not know the system calls of this processor (${process.arch})`,
      fix: "It runs on x64 and arm64.",
    };
  }
  const found = findSystemProgram("bwrap", lookup);
  if ("refused" in found) return notFound(found.refused);
  const { program } = found;
  const none = { writable: [], fixed: [], masked: [] };
  // With the flags that commands have, but for their /tmp: nothing is made before it is needed.
  const mounts = planMounts(none, {
    temporaryDirectory: () => "/var/empty",
    devices: [],
    masked: [],
  });
  const at = mounts.indexOf("/var/empty") - 1;
  if (at >= 0) mounts.splice(at, 2, "--tmpfs");
  const flags = [...NAMESPACES, ...mounts, "--chdir", "/", ...LAST, "--seccomp", "0", "--"];
  const run = spawnSync(program, [...flags, program, "--version"], {
    env: {},
    cwd: "/",
    input: filter,
    encoding: "utf8",
    timeout: 10_000,
    killSignal: "SIGKILL",
  });
  const passing = PASSING.exec(`${run.error?.message} ${run.stderr}`)?.[0];
  if (passing !== undefined) {
    throw sandboxFailure(`it could not be tried out (${passing}). Try it again`);
  }
  const version = /^bubblewrap (\S+)/.exec(run.stdout ?? "")?.[1];
  if (run.status !== 0 || version === undefined) {
    return explainFailure(run.stderr ?? "", run.status ?? run.error?.message ?? "no answer");
  }
  return {
    backend: "bubblewrap",
    version: process.arch === "x64" ? version : `${version} (untested on ${process.arch})`,
    program,
    filter,
  };
}

/** It says nothing of the machine: a command may use up what is missing. */
const PASSING =
  /\b(?:EAGAIN|ENOMEM|EMFILE|ENFILE|ETIMEDOUT)\b|Resource temporarily unavailable|Cannot allocate memory|Too many open files/;

function notFound(refused: string | undefined): { missing: string; fix: string } {
  const fix =
    "Install the package bubblewrap (apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap).";
  if (refused === undefined) return { missing: "bubblewrap is not installed", fix };
  return {
    missing: `${refused} is not used, because others than the administrator can replace it`,
    fix: `${fix.slice(0, -1)}, so that it is in a directory of the system.`,
  };
}
