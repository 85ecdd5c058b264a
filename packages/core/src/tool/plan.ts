// What one call would touch (DEF-5). A tool describes it here; only the evaluator decides about it.

import type { JsonValue } from "@soong/schema";
import type { PlannedSandbox, SandboxSupport } from "./sandbox.ts";

/** Every target is canonical: resolved paths, lower-case hosts, the executable that would really run. */
export type Resource =
  | {
      kind: "path";
      access: "read" | "list" | "search" | "write";
      path: string;
      /** The tool found it to be of the sensitive kind by a rule of its own (a disk's case, a link). */
      sensitive?: boolean;
      /** Why the tool says so, as a clause. */
      reason?: string;
      /** It has too many entries to look through for sensitive files. */
      too_large?: boolean;
      /** Further names of the same file, canonical: as it was given, or another hard link. Only what restricts looks at them. */
      also?: string[];
      /** Its disk takes any case of the name for the same. */
      ignores_case?: boolean;
      /** What makes it a file that other programs run on their own (PATH-6), where its name alone does not show it. */
      self_running?: string;
      /** The call does not change it: no rule that is about writing alone looks at it. */
      only_read?: boolean;
      /** Found in the input of a tool that does not say what it does with it: no rule that allows looks at it. */
      only_restricts?: boolean;
      /** Of a directory: restricted paths below it, which the tool may reach without naming them (PERM-15). */
      may_reach?: string[];
      /** A program of the system that this user cannot change, also where the project is around it. */
      fixed_program?: boolean;
      /** Why the config of the repository it uses may run another program, as a clause; `foreign`: not the project's own (PERM-16). */
      config_runs?: { why: string; foreign: boolean };
    }
  | {
      kind: "command";
      executable: string;
      argv: string[];
      cwd: string;
      /** Restricted paths that the program could get at without naming them: no one can tell (PERM-15). */
      may_reach?: string[];
      /** Of those, what no sandbox closes: git has it in its objects, or only its name is restricted. */
      reach_inside?: string[];
      /** Paths that may not be written and that the program could change without naming them (PERM-15). */
      may_write?: string[];
      /** The model wants it to run outside of the sandbox: unless a sandbox is required, the user is asked, each time. */
      leaves_sandbox?: true;
      /** Whether it can be run in a sandbox here. Absent where the policy wants none, or its tool has none. */
      sandbox?: SandboxSupport;
      /** A program of the system that this user cannot change, also where the project is around it. */
      fixed_program?: boolean;
      /** Why the config of the repository it uses may run another program, as a clause; `foreign`: not the project's own (PERM-16). */
      config_runs?: { why: string; foreign: boolean };
    }
  | { kind: "host"; host: string };

export type Preview =
  | { kind: "text"; text: string }
  | { kind: "diff"; path: string; diff: string }
  | {
      kind: "command";
      argv: string[];
      cwd: string;
      /** The file that would run, with all links resolved: `git` may be one of the project's own. Not in old records. */
      executable?: string;
    };

/** What the input names, resolved, and nothing that only a look into it tells: hooks and rules judge it first. */
export type Targets = Pick<Plan, "resources" | "destructive" | "facts">;

export interface Plan {
  /** All that the call would touch: its targets, and what planning found beside them. */
  resources: Resource[];
  preview?: Preview;
  /** sha256 of what is there now, null where nothing is. */
  pre_images?: { path: string; sha256: string | null }[];
  /** Names of the environment variables a command would see; for the user who is asked (PERM-6). */
  env_summary?: string[];
  /** This very call destroys something, or does not, unlike what the definition says. */
  destructive?: boolean;
  /** How its command would run. The digest has no part in it: what is masked may change until the call runs. */
  sandbox?: PlannedSandbox;
  /** Further facts that belong under the digest. */
  facts?: JsonValue;
}

/** A plan with the digest that approval and execution are both bound to (PERM-8). */
export interface PreparedPlan extends Plan {
  digest: string;
}
