import { compileGlob, globProblem } from "@soong/core/internal";

/** As a shell matches names, or a little more: a set of characters stands for any one. */
export function nameMatcher(pattern: string): (name: string) => boolean {
  const simple = pattern.replaceAll(/\[[^\]]*\]/g, "?");
  return compileGlob(globProblem(simple) === undefined ? simple : "*");
}
