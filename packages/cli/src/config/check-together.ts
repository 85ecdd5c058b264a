// Settings that are sound one by one and make no sense together (CONF-2).

import type { DocumentPath } from "@soong/platform";
import { modelReferenceProblem } from "./model-sections.ts";
import type { SoongConfig } from "./soong-config.ts";

/** Of values that passed all other checks. */
export function checkTogether(
  values: SoongConfig,
): { readonly path: DocumentPath; readonly message: string }[] {
  const { sandbox, model, models, tools, agents, memory } = values;
  const problems: ReturnType<typeof checkTogether> = [];
  const problem = (path: DocumentPath, message: string): void => {
    problems.push({ path, message });
  };
  if (sandbox === "required") {
    problem(["sandbox"], 'is "required", and there is no sandbox yet: nothing may run; use "off"');
  }
  if (tools.default_timeout_ms > tools.max_timeout_ms) {
    const most = `max_timeout_ms (${tools.max_timeout_ms})`;
    problem(["tools", "default_timeout_ms"], `is more than ${most}; raise that, too`);
  }
  for (const [pattern, override] of Object.entries(tools.overrides)) {
    const path = ["tools", "overrides", pattern];
    if ((override.timeout_ms ?? 0) > tools.max_timeout_ms) {
      const most = `tools.max_timeout_ms (${tools.max_timeout_ms})`;
      problem([...path, "timeout_ms"], `is more than ${most}; raise that, too`);
    }
    if (override.readonly !== undefined && !pattern.startsWith("mcp.")) {
      problem(
        [...path, "readonly"],
        "is for tools of MCP servers only (mcp.…); what other tools do is known",
      );
    }
  }
  for (const [name, { prices }] of Object.entries(models.profiles)) {
    const path = ["models", "profiles", name, "prices"];
    const { currency: _, ...given } = prices;
    if (Object.values(given).every((price) => price === undefined)) continue;
    for (const key of ["input", "output"] as const) {
      if (given[key] === undefined) problem(path, `has no ${key}: without it no cost is known`);
    }
  }
  for (const [name, { provider, base_url }] of Object.entries(models.profiles)) {
    if (provider !== "openai-compatible" || base_url !== undefined) continue;
    problem(["models", "profiles", name], "needs a base_url: openai-compatible has no own address");
  }
  if (memory.write_mode === "external" && memory.external_tool === undefined) {
    problem(
      ["memory", "write_mode"],
      'is "external", and external_tool does not say which tool of an MCP server keeps memories',
    );
  }
  if (memory.provider === "external" && memory.recall_tool === undefined) {
    problem(
      ["memory", "provider"],
      'is "external", and recall_tool does not say which tool of an MCP server recalls memories',
    );
  }
  const references: [DocumentPath, string | undefined][] = [
    [["model", "default"], model.default],
    ...Object.entries(agents.worker_pools).map(
      ([name, pool]): [DocumentPath, string | undefined] => [
        ["agents", "worker_pools", name, "model"],
        pool.model,
      ],
    ),
    ...models.fallback.map((text, index): [DocumentPath, string] => [
      ["models", "fallback", index],
      text,
    ]),
  ];
  for (const [path, reference] of references) {
    if (reference === undefined) continue;
    const wrong = modelReferenceProblem(reference, Object.keys(models.profiles));
    if (wrong !== undefined) problem(path, wrong);
  }
  return problems;
}
