// What one call would touch (DEF-5). A tool describes it here; only the evaluator decides about it.

import type { JsonValue } from "../schema/index.ts";

/** Every target is canonical: resolved paths, lower-case hosts, the executable that would really run. */
export type Resource =
  | {
      kind: "path";
      access: "read" | "list" | "search" | "write";
      path: string;
      /** The tool found it to be of the sensitive kind by a rule of its own (a disk's case, a link). */
      sensitive?: boolean;
      /** Further names of the same file, canonical: as it was given, or another hard link. Only what restricts looks at them. */
      also?: string[];
      /** Its disk takes any case of the name for the same. */
      ignores_case?: boolean;
    }
  | {
      kind: "command";
      executable: string;
      argv: string[];
      cwd: string;
      /** Restricted paths that the program could get at without naming them: nobody can tell (PERM-15). */
      may_reach?: string[];
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
  /** All that the call would touch: its targets, and whatever planning found beside them. */
  resources: Resource[];
  preview?: Preview;
  /** sha256 of what is there now, null where nothing is. */
  pre_images?: { path: string; sha256: string | null }[];
  /** Names of the environment variables a command would see; for the person who is asked (PERM-6). */
  env_summary?: string[];
  /** This very call destroys something, or does not, whatever the definition feared. */
  destructive?: boolean;
  /** Further facts that belong under the digest. */
  facts?: JsonValue;
}

/** A plan with the digest that approval and execution are both bound to (PERM-8). */
export interface PreparedPlan extends Plan {
  digest: string;
}
