// The policy a run here would be judged by (PERM-9), for users and as a record: every rule in order, with where it is
// written, and what holds besides the rules.

import {
  describePolicy,
  type Decision,
  type PatternWarning,
  type PermissionRule,
  type Policy,
} from "@soong/core";
import {
  pad,
  visibleJson,
  visibleLine,
  wrap,
  type Colours,
  type Output,
} from "../../output/index.ts";

const NAME_WIDTH = 13;

export function renderPolicy(
  output: Output,
  policy: Policy,
  unmatched: readonly PatternWarning[],
): { record: object; lines: string[] } {
  const { rules: _, ...rest } = describePolicy(policy);
  const rules = policy.input.rules ?? [];
  const numbered = rules.map((rule, i) => ({ rule: `rules[${i}]`, layer: "rules", ...rule }));
  return {
    // Grants are answers of a session, and this is none.
    record: { ...rest, rules: numbered, grants: [], warnings: unmatched },
    lines: [
      output.colours.bold("The policy of a run here"),
      ...listPolicySettings(policy).flatMap(([name, text]) => {
        const indent = " ".repeat(NAME_WIDTH + 2);
        const [first = "", ...more] = wrap(visibleLine(text), output.width, indent);
        return [`  ${pad(name, NAME_WIDTH)}${first.trimStart()}`, ...more];
      }),
      "",
      rules.length === 0
        ? "No rules: what is not named above is decided by mode and defaults."
        : "Rules; any deny counts more than any ask, and any ask more than any allow:",
      ...rules.flatMap((rule, i) => renderRule(output, rule, i)),
      ...renderUnmatched(output, unmatched),
    ],
  };
}

/** What can never match was a warning at the start already (PERM-17). */
export function renderUnmatched(
  { width, colours }: Output,
  unmatched: readonly PatternWarning[],
): string[] {
  const notNow = unmatched.filter(({ kind }) => kind === "now");
  if (notNow.length === 0) return [];
  return [
    "",
    "Matches nothing now, and may later:",
    ...notNow.flatMap(({ where, message }) =>
      wrap(visibleLine(`${where}: ${message}`), width, "  ").map(colours.dim),
    ),
  ];
}

/** What holds beside the rules, by name. */
export function listPolicySettings(policy: Policy): [string, string][] {
  const { input, mode, destructive, network, read_only_commands, sandbox } = policy;
  const { roots, protected_roots = [], sensitive_paths = [], readonly_mcp = [] } = input;
  const hosts = network.hosts.length === 0 ? "" : `; ${network.hosts.join(", ")}`;
  const isProtected = protected_roots.join(", ") || "nothing";
  const settings: [string, string][] = [
    ["mode", mode],
    ["destructive", destructive],
    ["reading", `${read_only_commands}: commands that are proven to only read`],
    ["network", `${network.mode}${hosts}`],
    ["sandbox", describeSandboxPolicy(sandbox)],
    ["project", roots?.project ?? "none"],
    ["also writes", roots?.write?.join(", ") || "nowhere else"],
    ["protected", `${isProtected}: never written, in spite of any rule`],
    ["sensitive", ["the built-in list", ...sensitive_paths].join(", ")],
    ["read-only", readonly_mcp.join(", ")],
    ["grants", "none; they are given in a session, and end with it"],
  ];
  return settings.filter(([, text]) => text !== "");
}

function describeSandboxPolicy({ mode, auto_allow, tools }: Policy["sandbox"]): string {
  const ofTools = Object.entries(tools).map(([pattern, own]) => `${pattern} ${own}`);
  const allowed = auto_allow && mode !== "off" ? ["commands in it need no approval"] : [];
  return [mode, ...ofTools, ...allowed].join("; ");
}

function renderRule({ colours, width }: Output, rule: PermissionRule, index: number): string[] {
  const { decision, reason = "", origin, every_time, sandbox, ...conditions } = rule;
  const words = Object.entries(conditions).map(([key, value]) => `${key} = ${visibleJson(value)}`);
  const always = every_time === true ? ", every time" : "";
  const runs = sandbox === undefined ? "" : `, sandbox ${sandbox}`;
  const head = `${pad(`rules[${index}]`, 10)}${colourDecision(colours, decision)}${always}${runs}`;
  return [
    `  ${head}  ${words.join(", ") || "every call"}`,
    ...[reason, describeOrigin(origin)].flatMap((text) =>
      wrap(visibleLine(text), width, " ".repeat(12)).map(colours.dim),
    ),
  ];
}

export function colourDecision({ green, yellow, red }: Colours, decision: Decision): string {
  return { allow: green, ask: yellow, deny: red }[decision](decision);
}

/** Where a rule is written: file and line, flag, or code. */
export function describeOrigin(origin: PermissionRule["origin"]): string {
  const { file, line, flag, code } = origin ?? {};
  const place = file !== undefined && line !== undefined ? `${file}:${line}` : file;
  return [place, flag, code]
    .flatMap((one) => (one === undefined ? [] : [visibleLine(one)]))
    .join(" ");
}
