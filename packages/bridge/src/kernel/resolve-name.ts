import type { ModelTools, Run } from "@soong/core";

/** The tool that a model means by this name, as the kernel reads it: a wire name, a canonical one, or an alias. */
export function resolveName(
  { surface }: Pick<Run, "surface">,
  names: ModelTools["names"],
  given: string,
): string | undefined {
  const { standing, aliases } = surface;
  return names.toCanonical(given) ?? (standing.has(given) ? given : aliases.get(given));
}
