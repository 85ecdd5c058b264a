// `soong explain`: what would be decided about a call, by whom, and where that is written (PERM-11); without a tool,
// the whole policy (PERM-9). It runs nothing and keeps nothing.

import { resolve } from "node:path";
import type { ChainEntry, Explanation, Mode } from "@soong/core";
import { describeScopes } from "@soong/core/internal";
import { EXIT, pad, visibleJson, visibleLine, wrap, type Output } from "../../output/index.ts";
import { openRuntime } from "../../runtime/index.ts";
import { awaitServers, chooseServers, noteWaiting } from "../await-servers.ts";
import { loadUserConfig, type CommandContext } from "../context.ts";
import { explainCall } from "./explain-call.ts";
import { describeOrigin, showPolicy, showUnmatched } from "./render-policy.ts";
import { refuseUnknownTool, readToolInput } from "./tool-input.ts";
import {
  argument,
  JSON_OPTION,
  MODE_OPTION,
  RULE_OPTIONS,
  type CommandDefinition,
  type RuleFlags,
} from "../define-command.ts";

export const command: CommandDefinition = {
  name: "explain",
  summary: "show who would decide about a call, and how; runs nothing",
  arguments: [
    argument("[tool]", "its name, as `soong tools` lists it; default: the whole policy"),
    argument("[json]", "its input; - reads it from stdin; default: {}"),
  ],
  options: [JSON_OPTION, MODE_OPTION, ...RULE_OPTIONS],
  examples: [
    "soong explain",
    `soong explain code.run_command '{"argv": ["rm", "-r", "build"]}'`,
    `soong explain code.write_file '{"path": "a", "content": ""}' --allow 'code.*'`,
  ],
  run: explainCallOrPolicy,
};

interface ExplainOptions extends RuleFlags {
  readonly json?: boolean;
  readonly mode?: Mode;
}

async function explainCallOrPolicy(
  context: CommandContext,
  tool: string | undefined,
  given: string | undefined,
  { json = false, allow = [], deny = [], mode, cwd = "" }: ExplainOptions,
): Promise<number> {
  const input = tool === undefined ? "{}" : await readToolInput(given, context);
  const ofMode = mode === undefined ? {} : { mode };
  const runtime = await openRuntime({
    env: context.env,
    cwd: resolve(context.cwd, cwd),
    config: await loadUserConfig(context),
    flags: { allow, deny, ...ofMode },
    servers: chooseServers(tool),
    agents: true,
    ...noteWaiting(context, json),
  });
  try {
    if ((await awaitServers(context, runtime)) === "interrupted") return EXIT.interrupted;
    if (tool !== undefined) refuseUnknownTool(runtime, tool);
    const session = await runtime.openEphemeralSession();
    const run = await session.startRun(ofMode);
    const { unmatched } = runtime;
    if (tool === undefined) {
      showPolicy(context.output, run.policy, { json, unmatched });
      return EXIT.ok;
    }
    const { explanation, blocked } = await explainCall(run, { name: tool, arguments: input });
    if (json) {
      const chain = blocked.length === 0 ? {} : { chain: blocked };
      context.output.record("soong.explain/1", { ...explanation, ...chain, warnings: unmatched });
    } else {
      show(context.output, explanation, blocked);
      showUnmatched(context.output, unmatched);
    }
    return EXIT.ok;
  } finally {
    await runtime.close();
  }
}

function show(output: Output, explanation: Explanation, blocked: readonly ChainEntry[]): void {
  const { bold, dim, red } = output.colours;
  const name = visibleLine(explanation.tool_name);
  if (explanation.outcome === "refused") {
    output.line(`${bold(name)}: ${red("refused")} before anybody decides`);
    const { code, message } = explanation.error;
    for (const text of message.split("\n")) {
      for (const line of wrap(visibleLine(text), output.width, "  ")) output.line(line);
    }
    output.line(dim(`  ${visibleLine(code)}`));
    for (const entry of blocked) showEntry(output, entry);
    return;
  }
  const { outcome, reason, chain, observable_input, scopes, hooks, unmatched_rules } = explanation;
  output.line(`${bold(name)}: ${inColour(output, outcome)}`);
  for (const line of wrap(visibleLine(reason), output.width, "  ")) output.line(line);
  output.line(dim(`  input ${visibleJson(observable_input)}`));
  output.line();
  for (const entry of chain) showEntry(output, entry);
  if (outcome === "ask") {
    output.line();
    const covered = visibleLine(describeScopes(name, scopes));
    for (const line of wrap(`A yes for the session would mean: ${covered}`, output.width)) {
      output.line(line);
    }
  }
  const why = whyNotReadOnly(explanation.plan?.facts);
  if (why !== undefined) {
    output.line();
    for (const line of wrap(visibleLine(why), output.width)) output.line(line);
  }
  if (unmatched_rules.length > 0) {
    output.line();
    output.line("Rules that do not match this call:");
    for (const { rule, differs, origin } of unmatched_rules) {
      const place = describeOrigin(origin);
      output.line(dim(`  ${pad(rule, 10)}${differs} differs${place === "" ? "" : `  ${place}`}`));
    }
  }
  if (hooks.length > 0) {
    output.line();
    output.line(`Asked before that, and able to refuse: ${hooks.map(visibleLine).join(", ")}`);
  }
}

/** A command says of itself why it is not proven to only read (PERM-17). */
function whyNotReadOnly(facts: unknown): string | undefined {
  const { why_not_read_only: why } = (facts ?? {}) as { why_not_read_only?: unknown };
  return typeof why === "string" ? why : undefined;
}

function showEntry(output: Output, entry: ChainEntry): void {
  const { bold, dim } = output.colours;
  const mark = entry.decisive === true ? ">" : " ";
  const verdict = entry.verdict.replaceAll("_", " ");
  const heading = `${mark} ${pad(entry.layer, 9)}${pad(verdict, 13)}${visibleLine(entry.rule)}`;
  const place = describeOrigin(entry.origin);
  output.line(
    `${entry.decisive === true ? bold(heading) : heading}${place === "" ? "" : `  ${dim(place)}`}`,
  );
  for (const line of wrap(visibleLine(entry.reason), output.width, "    ")) output.line(dim(line));
}

function inColour({ colours }: Output, outcome: "allow" | "ask" | "deny"): string {
  const by = { allow: colours.green, ask: colours.yellow, deny: colours.red };
  return by[outcome](outcome);
}
