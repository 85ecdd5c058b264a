// What a command met in the sandbox, for records and for the model (CMD-6). Hosts are known by name, for the runtime refused them
// itself, and so is what came into being; the rest is guessed from what a failed command wrote, and is called a guess.

import { basename } from "node:path";
import type { SandboxLimits, SandboxViolation } from "@soong/core";
import type { RefusedHost } from "@soong/platform";
import type { NewlyThere } from "./profile-of-command.ts";

export interface MetInSandbox {
  /** Undefined where it succeeded. */
  readonly failed:
    | { readonly exit_code: number | null; readonly signal: string | null }
    | undefined;
  /** The end of what it wrote, secrets hidden. */
  readonly output: string;
  readonly refusedHosts: readonly RefusedHost[];
  /** What it made and should not have, by names for the model. */
  readonly created: readonly NewlyThere[];
  readonly masked: readonly string[];
  readonly limits: Omit<SandboxLimits, "backend">;
}

export function findViolations(met: MetInSandbox): SandboxViolation[] {
  const hosts = new Set(met.refusedHosts.map(nameRefusedHost));
  return [
    ...[...hosts]
      .slice(0, MOST_NAMED)
      .map((detail) => ({ kind: "host" as const, detail, certain: true })),
    ...met.created.slice(0, MOST_NAMED).map(({ path, why }) => ({
      kind: "write" as const,
      detail: `${path} was created, and ${CREATED[why]}`,
      certain: true,
    })),
    ...(met.created.length > MOST_NAMED
      ? [{ kind: "write" as const, detail: countMore(met.created), certain: true }]
      : []),
    ...(met.failed === undefined ? [] : guessViolations(met, met.failed)),
  ];
}

/** So that none is hidden behind others. */
function countMore({ length }: readonly unknown[]): string {
  return `${length - MOST_NAMED} more like these were created`;
}

export function nameRefusedHost({ host, port, why }: RefusedHost): string {
  return `${host}:${port} ${why}`;
}

/** What the model is to know; nothing where the sandbox was not in the way. */
export function describeViolations(
  { limits, created }: Pick<MetInSandbox, "limits" | "created">,
  violations: readonly SandboxViolation[],
  mayRequestOutside: boolean,
): string[] {
  if (violations.length === 0) return [];
  const names = (all: readonly string[]): string =>
    all
      .slice(0, MOST_NAMED)
      .map((name) => JSON.stringify(name))
      .join(", ");
  const andMore = ({ length }: readonly string[]): string =>
    length > MOST_NAMED ? ` and ${length - MOST_NAMED} more` : "";
  const notes: string[] = [];
  const madeBy = (why: NewlyThere["why"]): string[] =>
    created.filter((one) => one.why === why).map(({ path }) => path);
  const [running, denied, leading] = [madeBy("runs"), madeBy("denied"), madeBy("leads")];
  if (running.length > 0) {
    notes.push(
      `It created ${names(running)}${andMore(running)}, which other programs run on their own. Tell the user.`,
    );
  }
  if (denied.length > 0) {
    notes.push(
      `It created ${names(denied)}${andMore(denied)}, which a rule keeps from being written. Tell the user.`,
    );
  }
  if (leading.length > 0) {
    notes.push(`It created ${names(leading)}: git writes to where this link leads. Tell the user.`);
  }
  const refused = violations.filter((one) => one.kind === "host").map((one) => one.detail);
  if (refused.length > 0) notes.push(`The sandbox refused: ${refused.join("; ")}.`);
  const guessed = violations.filter((one) => !one.certain);
  if (guessed.length > 0) {
    const seen = guessed.map(({ kind, detail }) => `${kind}: ${JSON.stringify(detail)}`);
    notes.push(`The sandbox may have refused something (${seen.join("; ")}).`);
  }
  if (refused.length + guessed.length === 0) return notes;
  const { roots, network } = limits;
  const written =
    roots.length === 0
      ? "only /tmp may be written"
      : `only ${names(roots)} and /tmp may be written`;
  const hosts =
    network === "closed"
      ? "the network is closed, also to servers on this machine"
      : `only these hosts are open: ${names(network.hosts)}`;
  notes.push(
    `In the sandbox ${written}, /tmp is shared by the commands of this session alone, files with secrets are masked, and ${hosts}. ` +
      (mayRequestOutside
        ? "Do not work around it. If it cannot do without more, call again with outside_sandbox: the user decides."
        : "Do not work around it. To run a command outside of it is the user's decision: say what it needs."),
  );
  return notes;
}

const MOST_NAMED = 10;
const MOST_CHARS = 200;

function guessViolations(
  { output, masked, limits }: MetInSandbox,
  { exit_code, signal }: NonNullable<MetInSandbox["failed"]>,
): SandboxViolation[] {
  const lines = output.split("\n").filter((line) => !FIELD_OF_ERROR.test(line));
  const lineWith = (pattern: RegExp, isMeant: (line: string) => boolean = () => true) =>
    lines.findLast((line) => pattern.test(line) && isMeant(line))?.trim();
  const names = masked.map((path) => basename(path)).filter((name) => name.length > 3);
  const namesMasked = (line: string): boolean => names.some((name) => line.includes(name));
  const killed = signal === "SIGSYS" || exit_code === KILLED_BY_FILTER;
  const guesses: [SandboxViolation["kind"], string | undefined][] = [
    ["write", lineWith(WRITE)],
    ["read", lineWith(DENIED, namesMasked)],
    ["network", limits.network === "closed" ? lineWith(NETWORK) : undefined],
    ["system", lineWith(SYSTEM) ?? (killed ? "it was killed by SIGSYS" : undefined)],
  ];
  return guesses.flatMap(([kind, line]) =>
    line === undefined ? [] : [{ kind, detail: line.slice(0, MOST_CHARS), certain: false }],
  );
}

/** Mounts inside a root have borders: nothing is renamed across one, and what is mounted is not removed. */
const WRITE =
  /Read-only file system|\bEROFS\b|Device or resource busy|\bEBUSY\b|cross-device link|\bEXDEV\b/i;
const CREATED: Readonly<Record<NewlyThere["why"], string>> = {
  runs: "other programs run it on their own",
  denied: "a rule keeps it from being written",
  leads: "git writes to where this link leads",
};

/** Node prints an error with its fields, one a line: its first line says more. */
const FIELD_OF_ERROR = /^\s*(?:code|syscall): '\w+',?\s*$/;

const DENIED = /Permission denied|\bEACCES\b/i;
/** The loopback inside is the command's own, so a server outside seems to refuse. */
const NETWORK =
  /Could not resolve host|Temporary failure in name resolution|Name or service not known|Network is unreachable|Connection refused|Couldn't connect to server|\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH|ECONNREFUSED)\b/i;
const SYSTEM = /Operation not permitted|\bEPERM\b|Bad system call/i;
const KILLED_BY_FILTER = 128 + 31;
