// Trying a tool: choose one, fill in its form, see what would be decided, and call it through the whole pipeline.

import { visibleLine } from "@soong/core";
import { useMemo, useState } from "preact/hooks";
import type { PlaygroundTool } from "../../wire/home-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { TextInput } from "../parts/input.tsx";
import { Loaded, Mono, splitWords } from "../parts/text.tsx";
import { writeHash } from "../route/hash-route.ts";
import { ToolTrial } from "./tool-trial.tsx";

export function PlaygroundView({ tool_name }: { tool_name: string | undefined }) {
  const loaded = useAnswer("GET /api/playground/tools", {});
  const { value } = loaded;
  const tool = value?.tools.find((one) => one.tool_name === tool_name);
  return (
    <section class="view playground">
      <div class="playground-tools">
        <h1>Playground</h1>
        <Loaded from={loaded} what="the tools">
          {({ tools, problems }) => (
            <>
              {problems.map((problem) => (
                <p key={problem} class="problem">
                  ⚠ {visibleLine(problem)}
                </p>
              ))}
              <ToolList tools={tools} chosen={tool_name} />
            </>
          )}
        </Loaded>
      </div>
      <div class="playground-trial">
        {tool && <ToolTrial key={tool_name} tool={tool} cwd={value?.cwd ?? ""} />}
        {value && tool === undefined && (
          <p class="quiet">
            {tool_name === undefined
              ? "Choose a tool."
              : `There is no tool ${visibleLine(tool_name)} here.`}
          </p>
        )}
      </div>
    </section>
  );
}

const MOST_TOOLS = 200;

function ToolList(props: { tools: readonly PlaygroundTool[]; chosen: string | undefined }) {
  const { tools, chosen } = props;
  const [typed, setTyped] = useState("");
  const found = useMemo(() => findTools(tools, typed), [tools, typed]);
  const left = found.length - MOST_TOOLS;
  return (
    <>
      <label class="field">
        <span class="unseen">Find a tool</span>
        <TextInput
          type="search"
          data-search
          placeholder={`Find one of ${tools.length} tools`}
          value={typed}
          onText={setTyped}
        />
      </label>
      <ul class="plain tool-names" aria-label="Tools">
        {found.slice(0, MOST_TOOLS).map(({ tool_name, permission }) => (
          <li key={tool_name}>
            <a
              href={writeHash({ view: "playground", tool_name })}
              aria-current={tool_name === chosen ? "true" : undefined}
            >
              <Mono text={tool_name} />{" "}
              {permission === "write" && <span class="quiet">✎ write</span>}
            </a>
          </li>
        ))}
      </ul>
      <p class="quiet" role="status">
        {found.length === 0 && "No tool matches."}
        {left > 0 && `${left} more: type to narrow them down.`}
      </p>
    </>
  );
}

/** Those with the words in their name first, then those that mention them. */
export function findTools(tools: readonly PlaygroundTool[], typed: string): PlaygroundTool[] {
  const words = splitWords(typed);
  const ranked = tools.flatMap((tool) => {
    const name = tool.tool_name.toLowerCase();
    const text = `${name} ${tool.description} ${tool.tags.join(" ")}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) return [];
    return [{ tool, name, rank: words.filter((word) => !name.includes(word)).length }];
  });
  return ranked
    .toSorted((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : Number(a.name > b.name)))
    .map(({ tool }) => tool);
}
