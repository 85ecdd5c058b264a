// The tools of a server, a row each; the whole definition is asked for when a row is opened.

import { visibleLine } from "@soong/core";
import { useMemo, useState } from "preact/hooks";
import type { ServerRow, ServerToolRow } from "../../wire/home-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { TextInput } from "../parts/input.tsx";
import { JsonCode } from "../parts/json-code.tsx";
import { useFirst } from "../parts/list.tsx";
import { createMatcher, Loaded, Mono, Prose, spacedText } from "../parts/text.tsx";
import { writeHash } from "../route/hash-route.ts";

const FIRST_TOOLS = 50;
/** Fewer are found by looking. */
const SEARCHED_FROM = 12;

export function ServerTools(props: { server_id: string; tools: readonly ServerToolRow[] }) {
  const { server_id, tools } = props;
  const [typed, setTyped] = useState("");
  const found = useMemo(() => {
    const matches = createMatcher(typed);
    return tools.filter(({ tool_name, description }) => matches(`${tool_name} ${description}`));
  }, [tools, typed]);
  const [shown, more] = useFirst(found, FIRST_TOOLS, "tools");
  if (tools.length === 0) return null;
  return (
    <details>
      <summary>Tools</summary>
      {tools.length >= SEARCHED_FROM && (
        <TextInput
          type="search"
          aria-label={`Find a tool of ${server_id}`}
          placeholder={`Find one of ${tools.length} tools`}
          value={typed}
          onText={setTyped}
        />
      )}
      <ul class="tools">
        {shown.map((tool) => (
          <li key={tool.tool_name}>
            <Tool server_id={server_id} tool={tool} />
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="quiet">No tool matches.</p>}
      {more}
    </details>
  );
}

const PINS = {
  same: "✓ as allowed",
  unpinned: "○ not called yet",
  changed: "⚠ changed",
} as const satisfies Record<ServerToolRow["pin"], string>;

function Tool({ server_id, tool }: { server_id: string; tool: ServerToolRow }) {
  const { tool_name, description = "", pin } = tool;
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Mono text={tool_name} /> <span class="chip">{PINS[pin]}</span>{" "}
        <span class="quiet">{visibleLine(description)}</span>
      </summary>
      {isOpen && <Definition server_id={server_id} tool_name={tool_name} />}
    </details>
  );
}

function Definition(path: { server_id: string; tool_name: string }) {
  const { tool_name } = path;
  const loaded = useAnswer("GET /api/servers/:server_id/tools/:tool_name", { path });
  return (
    <div class="tool-body">
      <Loaded from={loaded} what="the definition">
        {({ description, input_schema, output_schema, hash }) => (
          <>
            <Prose text={description} />
            <JsonCode value={input_schema} label={`Input schema of ${tool_name}`} />
            {output_schema !== undefined && (
              <>
                <p class="quiet">Its results are checked against:</p>
                <JsonCode value={output_schema} label={`Output schema of ${tool_name}`} />
              </>
            )}
            <p class="quiet">
              Definition <Mono text={hash} />
            </p>
          </>
        )}
      </Loaded>
      <a href={writeHash({ view: "playground", tool_name })}>Try it</a>
    </div>
  );
}

export function ExcludedTools({ excluded }: Pick<ServerRow, "excluded">) {
  const [shown, more] = useFirst(excluded, FIRST_TOOLS, "tools");
  if (excluded.length === 0) return null;
  return (
    <details>
      <summary>Not offered ({excluded.length})</summary>
      <ul class="plain">
        {shown.map(({ tool_name, reason, detail }, index) => (
          <li key={index}>
            <Mono text={tool_name} /> {spacedText(reason)}: {visibleLine(detail)}
          </li>
        ))}
      </ul>
      {more}
    </details>
  );
}
