// The tools of a surface by their state: a line each, the definition on demand. A long list is shown in pages.

import { visibleLine } from "@soong/core";
import { useEffect, useState } from "preact/hooks";
import type { SurfaceTool } from "../../wire/session-records.ts";
import { Button } from "../parts/button.tsx";
import { JsonCode } from "../parts/json-code.tsx";
import { countText, createMatcher, Mono, Prose, spacedText } from "../parts/text.tsx";
import { writeHash } from "../route/hash-route.ts";

const STATES = [
  { state: "loaded", name: "Loaded", means: "The model sees them in full with every request." },
  {
    state: "deferred",
    name: "Deferred",
    means: "The model sees their names and finds them by search.",
  },
  { state: "excluded", name: "Excluded", means: "The model does not see them." },
] as const;

/** `filter`: words that a name, a reason or a description must have. */
export function groupTools(tools: readonly SurfaceTool[], filter: string) {
  const matches = createMatcher(filter);
  const shown = tools.filter(({ tool_name, reason, detail, description, policy }) =>
    matches([tool_name, reason, detail, description, policy].join(" ")),
  );
  return STATES.map((group) => ({
    ...group,
    tools: shown.filter((tool) => tool.state === group.state),
  }));
}

const PAGE = 200;

export function ToolGroup({ group }: { group: ReturnType<typeof groupTools>[number] }) {
  const { name, means, tools } = group;
  const [page, setPage] = useState(0);
  const pages = Math.max(1, Math.ceil(tools.length / PAGE));
  useEffect(() => setPage(0), [tools.length]);
  const at = Math.min(page, pages - 1);
  return (
    <section class="tool-group" aria-label={`${name} tools`}>
      <h3>
        {name} <span class="quiet">{tools.length}</span>
      </h3>
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

const FLAGS = [
  ["is_read_only", "readonly"],
  ["is_destructive", "destructive"],
  ["is_open_world", "open world"],
  ["is_concurrency_safe", "may run in parallel"],
] as const;

/** What a tool does, as declared or assumed. */
export function listFlags(tool: SurfaceTool): string[] {
  return FLAGS.flatMap(([flag, words]) => (tool[flag] === true ? [words] : []));
}

function Tool({ tool }: { tool: SurfaceTool }) {
  const { tool_name, policy, tokens, reason, detail, capabilities = [], metadata_ref } = tool;
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Mono text={tool_name} />{" "}
        <span class="chip">{POLICIES[policy] ?? visibleLine(policy)}</span>{" "}
        {tokens > 0 && <span class="quiet">{countText(tokens)} tokens</span>}{" "}
        {reason !== undefined && (
          <span>
            {spacedText(reason)}
            {detail !== undefined && `: ${visibleLine(detail)}`}
          </span>
        )}
      </summary>
      {isOpen && (
        <div class="tool-body">
          <Prose text={tool.description} />
          <p class="quiet">
            {visibleLine(
              [...listFlags(tool), ...capabilities, metadata_ref].filter(Boolean).join(", "),
            )}
          </p>
          {tool.input_schema === undefined ? (
            <p class="quiet">Its schema was not sent to the model.</p>
          ) : (
            <JsonCode value={tool.input_schema} label={`Input schema of ${tool_name}`} />
          )}
          <a href={writeHash({ view: "playground", tool_name })}>Try it</a>
        </div>
      )}
    </details>
  );
}
