// The sandbox of the operating system around a command (CMD-6), as policy, tools and records speak of it. How it is made is
// the platform's matter.

export const SANDBOX_MODES = ["off", "on", "required"] as const;

/** `on`: where the machine supports it. `required`: or the command does not run. */
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** Whether a tool could run its command in a sandbox here, as it found out before the call was judged. */
export type SandboxSupport = { backend: string } | { missing: string };

/** What the policy says of one command. */
export interface SandboxChoice {
  readonly mode: SandboxMode;
  /** The rule or setting that says so. */
  readonly by: string;
  /** Where writing is ordinary: the project, the write roots, and the directory for temporary files if the user opened it. */
  readonly roots: readonly string[];
  /** Patterns of the hosts that may be reached. None: the network is closed. */
  readonly hosts: readonly string[];
  /** Why a host may not be reached, as a clause that follows its name; undefined where it may. */
  readonly hostRefusal: (host: string) => string | undefined;
}

/** What the sandbox leaves open for one command, and what it hides from it. */
export interface SandboxLimits {
  backend: string;
  /** What may be written. */
  roots: string[];
  /** What is neither read nor written: paths, as many as are worth a record. */
  masked: string[];
  /** How many more are masked. */
  masked_more?: number;
  network: "closed" | { hosts: string[] };
}

/** How a planned command would run: for `explain` and for the user who is asked. */
export type PlannedSandbox =
  | ({ state: "applied" } & SandboxLimits)
  | { state: "off"; by: string }
  | { state: "missing"; why: string };

/** What the sandbox refused. Only what the runtime itself refused is certain. */
export interface SandboxViolation {
  kind: "host" | "network" | "write" | "read" | "system";
  detail: string;
  certain: boolean;
}
