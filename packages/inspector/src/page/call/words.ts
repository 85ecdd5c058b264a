// Ways out of an error, origins of rules and words of a command, as text.

const RECOVERIES: Readonly<Record<string, string>> = {
  change_arguments: "The same call with other arguments may work.",
  discover_first: "The tool must be found with a search first.",
  needs_approval: "It requires approval.",
  retry: "The same call may work when it is made again.",
  retry_after_delay: "The same call may work after a while.",
  use_another_tool: "Use another tool.",
  set_up_first: "Something must be set up first.",
  ask_the_user: "Ask the user what to do.",
  none: "Nothing will make this call work.",
};

export function recoveryText(recovery: string): string {
  return Object.hasOwn(RECOVERIES, recovery)
    ? (RECOVERIES[recovery] ?? "")
    : recovery.replaceAll("_", " ");
}

export function originText(
  origin: { file?: string; line?: number; flag?: string; code?: string } | undefined,
): string {
  if (origin === undefined) return "";
  const { file, line, flag, code } = origin;
  if (file !== undefined) return line === undefined ? file : `${file}:${line}`;
  return flag ?? code ?? "";
}
