// Settings that are sound one by one and make no sense together, and keys that were written where only
// their names belong (CONF-2).

import { createRedactor } from "@soong/core";
import type { Finding } from "./check-values.ts";
import { modelReferenceProblem } from "./model-sections.ts";
import type { SoongConfig } from "./soong-config.ts";
import type { TomlPath } from "./toml-places.ts";
import { isTable, LOOKS_LIKE_A_KEY } from "./value-kinds.ts";

/** Of values that passed all other checks. */
export function checkTogether(values: SoongConfig): Finding[] {
  const { sandbox, model, models, tools, agents, memory } = values;
  const findings: Finding[] = [];
  const problem = (path: TomlPath, message: string): void => {
    findings.push({ path, at: "value", weight: "problem", message });
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
  const references: [TomlPath, string | undefined][] = [
    [["model", "default"], model.default],
    ...Object.entries(agents.worker_pools).map(([name, pool]): [TomlPath, string | undefined] => [
      ["agents", "worker_pools", name, "model"],
      pool.model,
    ]),
    ...models.fallback.map((text, index): [TomlPath, string] => [
      ["models", "fallback", index],
      text,
    ]),
  ];
  for (const [path, reference] of references) {
    if (reference === undefined) continue;
    const wrong = modelReferenceProblem(reference, Object.keys(models.profiles));
    if (wrong !== undefined) problem(path, wrong);
  }
  return findings;
}

/** Every text in the document that looks like a key, wherever it stands. */
export function keysWritten(document: unknown): Finding[] {
  const redactor = createRedactor();
  const findings: Finding[] = [];
  visit(document, []);
  return findings;

  function visit(value: unknown, path: TomlPath): void {
    if (typeof value === "string" && redactor.finds(value)) {
      findings.push({ path, at: "value", weight: "problem", message: LOOKS_LIKE_A_KEY });
    } else if (Array.isArray(value)) value.forEach((item, index) => visit(item, [...path, index]));
    else if (isTable(value)) {
      for (const [key, member] of Object.entries(value)) visit(member, [...path, key]);
    }
  }
}
