// Trying a tool: choose one, fill in its form, see what would be decided, and call it through the whole pipeline.

import { useMemo, useState } from "preact/hooks";
import type { PlaygroundTool } from "../../wire/index.ts";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/context.ts";
import { LoadState } from "../parts/loading.tsx";
import { visibleLine } from "@soong/core";
import { hashOf } from "../route/hash-route.ts";
import { Mono, wordsIn } from "../parts/text.tsx";
import { ToolTrial } from "./tool-trial.tsx";

export function PlaygroundView(props: { tool_name?: string }) {
  const { about } = useInspector();
  if (!about.can.playground) {
    return (
      <section class="view">
        <h1>Playground</h1>
        <p>This inspector was started without a playground.</p>
      </section>
    );
  }
  return <Playground tool_name={props.tool_name} />;
}

function Playground(props: { tool_name: string | undefined }) {
  const loaded = useAnswer("GET /api/playground/tools", {});
  const tools = loaded.value?.tools ?? [];
  const tool = tools.find(({ tool_name }) => tool_name === props.tool_name);
  return (
    <section class="view playground">
      <div class="playground-tools">
        <h1>Playground</h1>
        <LoadState loaded={loaded} what="the tools" />
        {loaded.value?.problems.map((problem) => (
          <p key={problem} class="problem">
            ⚠ {visibleLine(problem)}
          </p>
        ))}
        {loaded.value !== undefined && <ToolList tools={tools} chosen={props.tool_name} />}
      </div>
      <div class="playground-trial">
        {tool !== undefined && (
          <ToolTrial key={tool.tool_name} tool={tool} cwd={loaded.value?.cwd ?? ""} />
        )}
        {tool === undefined && loaded.value !== undefined && (
          <p class="quiet">
            {props.tool_name === undefined
              ? "Choose a tool."
              : `There is no tool ${visibleLine(props.tool_name)} here.`}
          </p>
        )}
      </div>
    </section>
  );
}

const MOST_TOOLS = 200;

function ToolList(props: { tools: readonly PlaygroundTool[]; chosen: string | undefined }) {
  const [typed, setTyped] = useState("");
  const found = useMemo(() => findTools(props.tools, typed), [props.tools, typed]);
  return (
    <>
      <label class="field">
        <span class="unseen">Find a tool</span>
        <input
          type="search"
          data-search
          placeholder={`Find one of ${props.tools.length} tools`}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      <ul class="plain tool-names" aria-label="Tools">
        {found.slice(0, MOST_TOOLS).map(({ tool_name, permission }) => (
          <li key={tool_name}>
            <a
              href={hashOf({ view: "playground", tool_name })}
              aria-current={tool_name === props.chosen ? "true" : undefined}
            >
              <Mono text={tool_name} />{" "}
              {permission === "write" && <span class="quiet">✎ write</span>}
            </a>
          </li>
        ))}
      </ul>
      <p class="quiet" role="status">
        {found.length === 0 && "No tool matches."}
        {found.length > MOST_TOOLS &&
          `${found.length - MOST_TOOLS} more: type to narrow them down.`}
      </p>
    </>
  );
}

/** Those with the words in their name first, then those that mention them. */
export function findTools(tools: readonly PlaygroundTool[], typed: string): PlaygroundTool[] {
  const words = wordsIn(typed);
  const ranked = tools.flatMap((tool) => {
    const name = tool.tool_name.toLowerCase();
    const text = `${name} ${tool.description.toLowerCase()} ${tool.tags.join(" ").toLowerCase()}`;
    if (!words.every((word) => text.includes(word))) return [];
    return [{ tool, rank: words.filter((word) => !name.includes(word)).length }];
  });
  return ranked
    .toSorted((a, b) => a.rank - b.rank || compare(a.tool.tool_name, b.tool.tool_name))
    .map(({ tool }) => tool);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
