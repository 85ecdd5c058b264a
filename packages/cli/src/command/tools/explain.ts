// `soong explain`: what would be decided about a call, by whom, and where that is written (PERM-11); without a tool,
// the whole policy (PERM-9). It runs nothing and stores nothing.

import {
  staticVerdict,
  type ChainEntry,
  type Explanation,
  type PolicyLayer,
  type Run,
} from "@soong/core";
import { describeSandbox, describeScopes, listSandbox, toolFacts } from "@soong/core/internal";
import { pad, visibleJson, visibleLine, wrap, type Output } from "../../output/index.ts";
import { COMMANDS } from "../commands.ts";
import { chooseServers, withReadyRuntime } from "../context.ts";
import type { Runtime } from "../../runtime/open-runtime.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { colourDecision, describeOrigin, renderPolicy, renderUnmatched } from "./render-policy.ts";
import { applyFlags, printFlagHelp, refuseUnknownTool, readToolInput } from "./tool-input.ts";

const EXPLAIN_OPTIONS = Object.keys(COMMANDS.explain.options);

export const explainCallOrPolicy: Handler<"explain"> = async (
  context,
  { tool, input: words },
  options,
) => {
  const typed = await readToolInput(tool, words, context);
  const wish = { servers: chooseServers(tool), agents: true };
  return withReadyRuntime(context, options, wish, async (runtime) => {
    if (tool !== undefined) refuseUnknownTool(runtime, tool);
    if (tool !== undefined && typed.isHelp) {
      return printFlagHelp(context, tool, runtime, EXPLAIN_OPTIONS);
    }
    const call =
      tool === undefined
        ? undefined
        : { tool, given: await applyFlags(typed, tool, runtime, EXPLAIN_OPTIONS) };
    const session = await runtime.openEphemeralSession();
    const run = await session.startRun({ mode: options.mode });
    return printExplanation(context, runtime, run, call);
  });
};

/** Without a call, the policy. */
export async function printExplanation(
  { output, json, print }: Pick<CommandContext, "output" | "json" | "print">,
  runtime: Runtime,
  run: Run,
  call: { readonly tool: string; readonly given: string } | undefined,
): Promise<void> {
  const { unmatched } = runtime;
  if (call === undefined) {
    const { record, lines } = renderPolicy(output, run.policy, unmatched);
    if (json) output.record("soong.policy/1", run.redactor.value(record));
    else lines.forEach((line) => output.line(run.redactor.text(line)));
    return;
  }
  refuseUnknownTool(runtime, call.tool);
  const input = call.given === "" ? "{}" : call.given;
  const { explanation, blocked } = await explainCall(run, { name: call.tool, arguments: input });
  const chain = blocked.length === 0 ? {} : { chain: blocked };
  print({ ...explanation, ...chain, warnings: unmatched }, () => [
    ...renderExplanation(output, explanation, blocked, runtime.roots.project),
    ...renderUnmatched(output, unmatched),
  ]);
}

/** Without secrets. `blocked`: a tool that is denied for any input is not even offered; its rule is named all the same. */
export async function explainCall(
  run: Run,
  call: { readonly name: string; readonly arguments: string },
): Promise<{ explanation: Explanation; blocked: readonly ChainEntry[] }> {
  const explanation = await run.explain(call);
  const isRefused = explanation.outcome === "refused";
  const blocked = isRefused ? findBlockingRule(run, explanation.tool_name) : [];
  return run.redactor.value({ explanation, blocked });
}

function findBlockingRule({ surface, policy }: Run, tool_name: string): ChainEntry[] {
  const standing = surface.standing.get(tool_name);
  if (standing?.state !== "excluded" || standing.tool === undefined) return [];
  const { verdict, rule, reason } = staticVerdict(policy, toolFacts(policy, standing.tool));
  if (verdict !== "denied") return [];
  const [, index] = /^rules\[(\d+)\]$/.exec(rule) ?? [];
  const origin = index === undefined ? undefined : policy.input.rules?.[Number(index)]?.origin;
  const layer = index === undefined ? (rule.split(".")[0] as PolicyLayer) : "rules";
  return [{ layer, rule, verdict: "deny", reason, decisive: true, origin }];
}

function renderExplanation(
  output: Output,
  explanation: Explanation,
  blocked: readonly ChainEntry[],
  project: string,
): string[] {
  const { width, colours } = output;
  const { bold, dim, red } = colours;
  const name = visibleLine(explanation.tool_name);
  if (explanation.outcome === "refused") {
    const { code, message } = explanation.error;
    return [
      `${bold(name)}: ${red("refused")} before any decision`,
      ...message.split("\n").flatMap((text) => wrap(visibleLine(text), width, "  ")),
      dim(`  ${visibleLine(code)}`),
      ...blocked.flatMap(renderEntry),
    ];
  }
  const { outcome, reason, chain, observable_input, scopes, hooks, unmatched_rules } = explanation;
  const covered = visibleLine(describeScopes(name, scopes));
  const { proof, plan } = explanation;
  const planned = { sandbox: plan?.sandbox, project };
  return [
    `${bold(name)}: ${colourDecision(colours, outcome)}`,
    ...wrap(visibleLine(reason), width, "  "),
    dim(`  input ${visibleJson(observable_input)}`),
    "",
    ...chain.flatMap(renderEntry),
    ...(outcome === "ask"
      ? ["", ...wrap(`A yes for the session would mean: ${covered}`, width)]
      : []),
    ...(proof === undefined ? [] : ["", ...wrap(visibleLine(proof.why), width)]),
    ...renderSandbox(planned),
    ...(unmatched_rules.length === 0 ? [] : ["", "Rules that do not match this call:"]),
    ...unmatched_rules.map(({ rule, differs, origin }) => {
      const place = describeOrigin(origin);
      return dim(`  ${pad(rule, 10)}${differs} differs${place === "" ? "" : `  ${place}`}`);
    }),
    ...(hooks.length === 0
      ? []
      : ["", `Asked before that, and able to refuse: ${hooks.map(visibleLine).join(", ")}`]),
  ];

  function renderSandbox(about: Parameters<typeof describeSandbox>[0]): string[] {
    const said = describeSandbox(about);
    if (said === undefined) return [];
    return ["", ...wrap(said, width), ...listSandbox(about).map((line) => dim(`  ${line}`))];
  }

  function renderEntry({ decisive, layer, verdict, rule, origin, reason: said }: ChainEntry) {
    const words = `${pad(layer, 9)}${pad(verdict.replaceAll("_", " "), 13)}${visibleLine(rule)}`;
    const heading = decisive === true ? bold(`> ${words}`) : `  ${words}`;
    const place = describeOrigin(origin);
    return [
      `${heading}${place === "" ? "" : `  ${dim(place)}`}`,
      ...wrap(visibleLine(said), width, "    ").map(dim),
    ];
  }
}
