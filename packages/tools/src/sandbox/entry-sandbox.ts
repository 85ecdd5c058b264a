// The sandbox of a program that the user configured and wants in one: an MCP server, a hook. No call is judged here, so nothing is
// open but what the entry names; the places of the runtime and secrets are masked, as they are for commands.

import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  compileSensitivePaths,
  ToolFailure,
  type Restriction,
  type SandboxChoice,
} from "@soong/core";
import { escapeGlob, isWithin, matchesHost } from "@soong/core/internal";
import type { EntryProgram, EntrySandbox, OpenEntrySandbox, Sandbox } from "@soong/platform";
import { isDirectory, lookAtNode } from "../path/index.ts";
import type { ProfilePlaces } from "./place-judge.ts";
import { profileOfCommand } from "./profile-of-command.ts";

export interface EntrySandboxOptions {
  readonly sandbox: Sandbox;
  /** Places of the runtime, which no such program reads or writes. */
  readonly closed: readonly string[];
  /** What "~/" means. */
  readonly userHome?: string;
  /** Patterns beside the built-in ones. */
  readonly sensitivePaths?: readonly string[];
  /** Where relative patterns begin. */
  readonly project: string;
}

export async function openEntrySandbox(
  options: EntrySandboxOptions,
  wanted: EntrySandbox,
  program: EntryProgram,
): ReturnType<OpenEntrySandbox> {
  const { sandbox, userHome } = options;
  const state = sandbox.state();
  if ("missing" in state) {
    throw refusal(`its entry wants a sandbox, and ${state.missing}. ${state.fix}`);
  }
  const { executable, args, cwd } = program;
  const write = (wanted.write ?? []).map((path) => findWritable(path, userHome));
  const { profile } = await profileOfCommand(
    {
      command: { kind: "command", executable, argv: [executable, ...args], cwd },
      resources: write
        .filter((path) => !isDirectory(path))
        .map((path) => ({ kind: "path", path, access: "write" })),
      choice: chooseFor(wanted, write),
      programs: neededBy(program),
      home: userHome,
    },
    closedPlaces(options),
    new AbortController().signal,
  );
  const closed = write.find((path) => !profile.writable.some((open) => isWithin(open, path)));
  if (closed === undefined) return { by: sandbox, profile };
  throw refusal(`the sandbox of its entry opens ${closed}, which is closed`);
}

function findWritable(given: string, userHome = "/"): string {
  const path = given.replace(/^~(?=\/|$)/, () => userHome);
  try {
    return realpathSync(path);
  } catch {
    throw refusal(`the sandbox of its entry opens ${path}, which is not there`);
  }
}

function chooseFor({ hosts = [] }: EntrySandbox, roots: readonly string[]): SandboxChoice {
  return {
    mode: "required",
    by: "its entry",
    roots,
    hosts,
    hostRefusal: (host) =>
      hosts.some((pattern) => matchesHost(pattern, host))
        ? undefined
        : "is not among the hosts that its entry opens",
  };
}

/** The program, and the files that its command line names. */
function neededBy({ executable, args, cwd, files = [] }: EntryProgram): string[] {
  const named = args.map((argument) => resolve(cwd, argument));
  return [executable, ...files, ...named.filter((path) => lookAtNode(path)?.isFile() === true)];
}

function closedPlaces(options: EntrySandboxOptions): ProfilePlaces {
  const { closed, sensitivePaths: extra = [], userHome: home, project } = options;
  const sensitiveBy = compileSensitivePaths({ extra, home, project });
  const globs = [...closed.map((path) => join(escapeGlob(path), "**")), ...sensitiveBy.globs];
  return {
    sensitiveBy,
    restrictedBy(path): Restriction | undefined {
      const own = closed.find((place) => isWithin(place, path));
      if (own !== undefined) return { kind: "rule", decision: "deny", by: own };
      const by = sensitiveBy(path);
      return by === undefined ? undefined : { kind: "sensitive", decision: "ask", by };
    },
    restrictedGlobs: () => globs,
  };
}

function refusal(message: string): ToolFailure {
  return new ToolFailure({
    code: "sandbox_unavailable",
    error_class: "setup_required",
    recovery: "set_up_first",
    message,
  });
}
