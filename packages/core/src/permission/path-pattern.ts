// Path patterns of rules and hooks (CONF-4, PERM-15): one matcher for both. A pattern that restricts is read
// broadly: what is below a path it names, any Unicode form of a name, and the place its own links lead to.

import type { Roots } from "../tool/index.ts";
import { compileGlob, escapeGlob, globProblem, literalPrefix } from "./glob.ts";
import { foldCase, joined } from "./path.ts";

export interface PatternPlaces {
  readonly project?: string;
  readonly home?: string;
  /** Of the project's disk. */
  readonly caseInsensitive?: boolean;
  /** Where the links in a path lead; undefined where they are not known. */
  readonly resolvePath?: (path: string) => string | undefined;
}

export interface PathPattern {
  /** As absolute globs: as written, and through the links of its literal part where that is another place. */
  readonly globs: readonly string[];
  /** `ignoresCase`: the disk of this very path takes any case for the same name. */
  matches(path: string, ignoresCase?: boolean): boolean;
}

/** The part of a policy that says where its places are. */
export interface PlacesInput {
  readonly roots?: Roots;
  readonly home?: string;
  readonly case_insensitive_paths?: boolean;
  readonly links?: Readonly<Record<string, string>>;
}

export function patternPlaces(input: PlacesInput): PatternPlaces {
  const { roots, home, links, case_insensitive_paths: caseInsensitive } = input;
  const resolvePath = links && ((path: string) => links[path]);
  return { project: roots?.project, home, caseInsensitive, resolvePath };
}

/** Compiles a pattern that `pathPatternProblem` finds nothing wrong with. */
export function compilePathPattern(
  pattern: string,
  use: "restricts" | "allows",
  places: PatternPlaces,
): PathPattern {
  const written = absoluteGlob(pattern, places);
  const globs = [written, ...(use === "allows" ? [] : throughLinks(written, places))];
  const matcherWith = (fold: (text: string) => string) => {
    const matchers = globs.flatMap((glob) => [
      compileGlob(fold(glob)),
      // To restrict a directory is to restrict what is in it.
      ...(use === "restricts" && !/\/(?:\*\*)?$/.test(glob)
        ? [compileGlob(fold(`${glob}/**`))]
        : []),
    ]);
    return (path: string) => {
      const folded = fold(path);
      return matchers.some((matches) => matches(folded));
    };
  };
  const exactly = use === "restricts" ? composed : (text: string) => text;
  const matches = matcherWith(places.caseInsensitive === true ? foldCase : exactly);
  let insensitive: ((path: string) => boolean) | undefined;
  return {
    globs,
    matches(path, ignoresCase = false) {
      if (matches(path)) return true;
      if (!ignoresCase || use === "allows") return false;
      insensitive ??= matcherWith(foldCase);
      return insensitive(path);
    },
  };
}

/** Says what is wrong with a pattern, in words that follow its name. */
export function pathPatternProblem(pattern: string, places: PatternPlaces): string | undefined {
  if (pattern.startsWith("~/") && places.home === undefined) {
    return 'begins with "~/", and the home directory is not known';
  }
  if (pattern.startsWith("~") && !pattern.startsWith("~/")) {
    return 'begins with "~"; only "~/" means the home directory';
  }
  const anchored = pattern.startsWith("/") || pattern.startsWith("~/");
  if (!anchored && places.project === undefined) {
    return "is relative, and there is no project directory";
  }
  const [variable] = /\$\{[^}/]*\}/.exec(pattern) ?? [];
  if (variable !== undefined) {
    return `has the variable ${variable}; variables are not expanded: write "~/…" or the path itself`;
  }
  if (pattern.startsWith("!"))
    return 'begins with "!"; write a rule with the other decision instead';
  return globProblem(absoluteGlob(pattern, places));
}

/** The literal paths whose links decide what restricting patterns mean. */
export function linkedPrefix(pattern: string, places: PatternPlaces): string {
  return literalPrefix(absoluteGlob(pattern, places)).path;
}

function absoluteGlob(pattern: string, places: PatternPlaces): string {
  if (pattern.startsWith("/")) return pattern;
  return pattern.startsWith("~/")
    ? joined(escapeGlob(places.home ?? "/"), pattern.slice(2))
    : joined(escapeGlob(places.project ?? "/"), pattern);
}

/** The glob of the place that the links in its literal part lead to; none where that is the place itself. */
export function throughLinks(
  glob: string,
  { resolvePath }: Pick<PatternPlaces, "resolvePath">,
): string[] {
  const { path, rest } = literalPrefix(glob);
  const real = resolvePath?.(path);
  if (real === undefined || real === path) return [];
  return [rest === "" ? escapeGlob(real) : joined(escapeGlob(real), rest)];
}

/** Names that look the same are the same to the user who wrote the pattern. */
export function composed(text: string): string {
  return ASCII.test(text) ? text : text.normalize("NFC");
}

const ASCII = /^[\0-\x7f]*$/;
