// The tools of one state: a line each, the definition on demand. A long list is shown in pages.

import { Mono, Prose } from "../parts/text.tsx";
import { Button } from "../parts/button.tsx";
import { useEffect, useState } from "preact/hooks";
import type { SurfaceTool } from "../../wire/index.ts";
import { JsonCode } from "../call/json-code.tsx";
import { visibleLine } from "@soong/core";
import { hashOf } from "../route/hash-route.ts";
import { flagsOf, type SurfaceGroup } from "./groups.ts";

const PAGE = 200;

export function ToolGroup(props: { group: SurfaceGroup }) {
  const { name, means, tools } = props.group;
  const [page, setPage] = useState(0);
  const pages = Math.max(1, Math.ceil(tools.length / PAGE));
  useEffect(() => setPage(0), [tools.length]);
  const at = Math.min(page, pages - 1);
  return (
    <section class="tool-group" aria-label={`${name} tools`}>
      <h4>
        {name} <span class="quiet">{tools.length}</span>
      </h4>
      <p class="quiet">{means}</p>
      {pages > 1 && (
        <div class="pager" role="group" aria-label={`Pages of ${name}`}>
          <Button disabled={at === 0} onClick={() => setPage(at - 1)}>
            ← Previous
          </Button>
          <Button disabled={at === pages - 1} onClick={() => setPage(at + 1)}>
            Next →
          </Button>
          <span class="quiet">
            {at * PAGE + 1}–{Math.min(tools.length, (at + 1) * PAGE)} of {tools.length}
          </span>
        </div>
      )}
      <ul class="tools">
        {tools.slice(at * PAGE, (at + 1) * PAGE).map((tool) => (
          <li key={tool.tool_name}>
            <Tool tool={tool} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const POLICIES: Readonly<Record<string, string>> = {
  allowed: "✓ allowed",
  ask: "? asks",
  denied: "⊘ denied",
  sandboxed: "▣ sandboxed",
  unavailable: "– unavailable",
};

function Tool(props: { tool: SurfaceTool }) {
  const { tool } = props;
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Mono text={tool.tool_name} />{" "}
        <span class="chip">{POLICIES[tool.policy] ?? visibleLine(tool.policy)}</span>{" "}
        {tool.tokens > 0 && <span class="quiet">{tool.tokens.toLocaleString("en")} tokens</span>}{" "}
        {tool.reason !== undefined && (
          <span>
            {visibleLine(tool.reason.replaceAll("_", " "))}
            {tool.detail !== undefined && `: ${visibleLine(tool.detail)}`}
          </span>
        )}
      </summary>
      {isOpen && (
        <div class="tool-body">
          <Prose text={tool.description} />
          <p class="quiet">
            {visibleLine(
              [...flagsOf(tool), ...(tool.capabilities ?? []), tool.metadata_ref ?? ""]
                .filter((word) => word !== "")
                .join(", "),
            )}
          </p>
          {tool.input_schema === undefined ? (
            <p class="quiet">Its schema was not sent to the model.</p>
          ) : (
            <JsonCode value={tool.input_schema} label={`Input schema of ${tool.tool_name}`} />
          )}
          <a href={hashOf({ view: "playground", tool_name: tool.tool_name })}>Try it</a>
        </div>
      )}
    </details>
  );
}
