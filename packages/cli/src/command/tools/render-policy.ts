// The policy a run here would be judged by (PERM-9), for people and as a record: every rule in order, with where it is
// written, and what holds besides the rules.

import { describePolicy, type PatternWarning, type PermissionRule, type Policy } from "@soong/core";
import { pad, visibleJson, visibleLine, wrap, type Output } from "../../output/index.ts";

export function showPolicy(
  output: Output,
  policy: Policy,
  { json, unmatched }: { readonly json: boolean; readonly unmatched: readonly PatternWarning[] },
): void {
  const { rules: _, ...rest } = describePolicy(policy);
  const rules = policy.input.rules ?? [];
  if (json) {
    const numbered = rules.map((rule, i) => ({ rule: `rules[${i}]`, layer: "rules", ...rule }));
    // Grants are answers of a session, and this is none.
    output.record("soong.policy/1", { ...rest, rules: numbered, grants: [], warnings: unmatched });
    return;
  }
  output.line(output.colours.bold("The policy of a run here"));
  for (const [name, text] of listPolicySettings(policy)) showSetting(output, name, text);
  output.line();
  if (rules.length === 0) {
    output.line("No rules: what is not named above is decided by mode and defaults.");
  } else {
    output.line("Rules; any deny counts more than any ask, and any ask more than any allow:");
    rules.forEach((rule, i) => showRule(output, rule, i));
  }
  showUnmatched(output, unmatched);
}

/** What can never match was a warning at the start already (PERM-17). */
export function showUnmatched(output: Output, unmatched: readonly PatternWarning[]): void {
  const notNow = unmatched.filter(({ kind }) => kind === "now");
  if (notNow.length === 0) return;
  output.line();
  output.line("Matches nothing now, and may later:");
  for (const { where, message } of notNow) {
    const text = visibleLine(`${where}: ${message}`);
    for (const line of wrap(text, output.width, "  ")) output.line(output.colours.dim(line));
  }
}

function listPolicySettings({ input, mode, destructive, network }: Policy): [string, string][] {
  const { roots, protected_roots = [], sensitive_paths = [], readonly_mcp = [] } = input;
  const hosts = network.hosts.length === 0 ? "" : `; ${network.hosts.join(", ")}`;
  return [
    ["mode", mode],
    ["destructive", destructive],
    ["network", `${network.mode}${hosts}`],
    ["project", roots?.project ?? "none"],
    ["also writes", roots?.write?.join(", ") || "nowhere else"],
    [
      "protected",
      `${protected_roots.join(", ") || "nothing"}: never written, in spite of any rule`,
    ],
    ["sensitive", ["the built-in list", ...sensitive_paths].join(", ")],
    ...(readonly_mcp.length === 0
      ? []
      : [["read-only", readonly_mcp.join(", ")] as [string, string]]),
    ["grants", "none; they are given in a session, and end with it"],
  ];
}

const NAME_WIDTH = 13;

function showSetting(output: Output, name: string, text: string): void {
  const indent = " ".repeat(NAME_WIDTH + 2);
  wrap(visibleLine(text), output.width, indent).forEach((line, i) => {
    output.line(i === 0 ? `  ${pad(name, NAME_WIDTH)}${line.trimStart()}` : line);
  });
}

function showRule(output: Output, rule: PermissionRule, index: number): void {
  const { dim, green, yellow, red } = output.colours;
  const { decision, reason, origin, every_time, ...conditions } = rule;
  const colour = { allow: green, ask: yellow, deny: red }[decision];
  const words = Object.entries(conditions).map(([key, value]) => `${key} = ${visibleJson(value)}`);
  const always = every_time === true ? ", every time" : "";
  output.line(
    `  ${pad(`rules[${index}]`, 10)}${colour(decision)}${always}  ${words.join(", ") || "every call"}`,
  );
  const about = [reason, describeOrigin(origin)].filter(
    (text) => text !== undefined && text !== "",
  );
  const indent = " ".repeat(12);
  for (const text of about) {
    for (const line of wrap(visibleLine(text ?? ""), output.width, indent)) output.line(dim(line));
  }
}

/** Where a rule is written: file and line, flag, or code. */
export function describeOrigin(origin: PermissionRule["origin"]): string {
  if (origin === undefined) return "";
  const { file, line, flag, code } = origin;
  const inFile = file === undefined ? [] : [line === undefined ? file : `${file}:${line}`];
  return [...inFile, ...(flag === undefined ? [] : [flag]), ...(code === undefined ? [] : [code])]
    .map(visibleLine)
    .join(" ");
}
