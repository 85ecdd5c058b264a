// Moves the policy of another machine to this one. Rules about the project there apply to the project here. What they restrict there
// stays restricted, because that directory may be on this machine, too.

import {
  compilePolicy,
  type CompiledPolicy,
  type PermissionRule,
  type Policy,
  type PolicyInput,
  type Roots,
} from "@soong/core";
import {
  compilePathPattern,
  escapeGlob,
  globsInside,
  joined,
  patternPlaces,
  readLinks,
} from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
import { chooseFold, movePath } from "../dispatch/index.ts";

/** The inputs of a policy that depend on the machine. */
export interface MachinePlaces extends Pick<
  PolicyInput,
  "home" | "tmp_dir" | "protected_roots" | "case_insensitive_paths"
> {
  readonly roots: Roots;
  /** Resolves links. */
  readonly resolvePath: (path: string) => string | undefined;
}

/** Also moves all ceilings of the policy. */
export function movePolicy({ input, rules, ceiling }: Policy, here: MachinePlaces): CompiledPolicy {
  const above = ceiling && movePolicy(ceiling, here);
  if (above?.ok === false) return above;
  const { roots, resolvePath, tmp_dir, ...places } = here;
  const { roots: there, links: _links, tmp_dir: tmpThere, ...rest } = input;
  const move = createMove(input, there?.project, roots.project);
  const moved: PolicyInput = {
    ...rest,
    ...places,
    // Only if both machines allow ordinary writes to it.
    ...(tmp_dir !== undefined && tmpThere !== undefined && { tmp_dir }),
    roots: { ...roots, write: roots.write.filter((root) => there?.write.includes(root) === true) },
    rules: rules.flatMap(({ rule }) => move.rule(rule)),
    sensitive_paths: (input.sensitive_paths ?? []).flatMap((pattern) =>
      ANCHORED.test(pattern) ? move.pattern(pattern) : [pattern],
    ),
  };
  const links = readLinks(moved, resolvePath);
  return compilePolicy({ ...moved, links, ...(above !== undefined && { ceiling: above.policy }) });
}

interface Move {
  rule(rule: PermissionRule): PermissionRule[];
  /** Returns the patterns that restrict as much here as `pattern` does there. */
  pattern(pattern: string): string[];
}

function createMove(input: PolicyInput, there: string | undefined, here: string): Move {
  if (there === undefined) return { rule: (rule) => [rule], pattern: (pattern) => [pattern] };
  const places = patternPlaces(input);
  const fold = chooseFold(places);
  return {
    rule(rule) {
      const { path, project, argv, decision } = rule;
      // A rule for another project did not apply to the dispatch.
      if (project !== undefined && trimSlash(project) !== there) return [];
      const own = project === undefined ? rule : { ...rule, project: here };
      const isAllowed = decision === "allow";
      const program = argv?.map((item) => movePath(item, { there, here }));
      const programs = program && (isAllowed ? [program] : [argv, program]);
      const allowed = path && [
        movePath(path, { there: escapeGlob(there), here: escapeGlob(here) }),
      ];
      const paths = path && (isAllowed ? allowed : movePattern(path, there));
      const variants = (programs ?? [undefined]).flatMap((one) =>
        (paths || [undefined]).map((at) => omitUndefined({ ...own, argv: one, path: at })),
      );
      return [...new Map(variants.map((one) => [JSON.stringify(one), one])).values()];
    },
    pattern: (pattern) => movePattern(pattern, there),
  };

  /** The places it names there, also through links, and, for those in the project there, the same for the project here. */
  function movePattern(pattern: string, project: string): string[] {
    const moved = compilePathPattern(pattern, "restricts", places).globs.flatMap((glob, index) => {
      const given = index === 0 ? pattern : glob;
      if (!ANCHORED.test(given)) return [given, glob];
      const inside = globsInside(glob, project, fold).map((rest) =>
        rest === "" ? escapeGlob(here) : joined(escapeGlob(here), rest),
      );
      return [given, ...inside];
    });
    return [...new Set(moved)];
  }
}

/** A pattern that is not relative to the project. */
const ANCHORED = /^~?\//;

function trimSlash(path: string): string {
  return path.replace(/(?<=.)\/+$/, "");
}
