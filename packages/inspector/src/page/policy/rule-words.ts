// A rule in words, for those who do not read its lines.

import { visibleJson, visibleLine, type PermissionRule } from "@soong/core";
import { commandText } from "@soong/core/internal";

const SAYS = { allow: "Allows", ask: "Asks about", deny: "Denies" } as const;

type Rule = Omit<PermissionRule, "origin">;

export function describeRuleInWords(rule: Rule): string {
  const every = rule.every_time === true ? ", every time" : "";
  const runs =
    rule.sandbox === undefined ? "" : `; its commands run with the sandbox ${rule.sandbox}`;
  return `${SAYS[rule.decision]} ${listConditions(rule).join(", ")}${every}${runs}.`;
}

function listConditions({ tool, tags, path, argv, exact_argv, host, project }: Rule): string[] {
  const name = tool === undefined ? "calls of any tool" : `calls of ${visibleLine(tool)}`;
  return [
    tool === "*" ? "calls of any tool" : name,
    ...(tags === undefined ? [] : [`tagged ${visibleLine(tags.join(" and "))}`]),
    ...(path === undefined ? [] : [`on ${visibleLine(path)}`]),
    ...(argv === undefined ? [] : [describeArgv(argv, exact_argv === true)]),
    ...(host === undefined ? [] : [`to the host ${visibleLine(host)}`]),
    ...(project === undefined ? [] : [`in ${visibleJson(project)} alone`]),
  ];
}

function describeArgv(argv: readonly string[], isExact: boolean): string {
  const isOpen = argv.at(-1) === "**";
  const words = `\`${commandText(isOpen ? argv.slice(0, -1) : argv)}\``;
  if (isExact) return `running exactly ${words}`;
  return isOpen
    ? `running ${words} with any further arguments`
    : `running what begins with ${words}`;
}
