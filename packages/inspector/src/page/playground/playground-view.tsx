// Trying a tool: choose one, fill in its form, see what would be decided, and call it through the whole pipeline.

import { visibleLine } from "@soong/core";
import { useMemo, useState } from "preact/hooks";
import type { PastCall, PlaygroundTool } from "../../wire/home-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { TextInput } from "../parts/input.tsx";
import { usePhone } from "../parts/phone.ts";
import { Loaded, Mono, ProblemText, splitWords } from "../parts/text.tsx";
import { writeHash } from "../route/hash-route.ts";
import { CallHistory } from "./call-history.tsx";
import { setDraft, ToolTrial } from "./tool-trial.tsx";

export function PlaygroundView({ tool_name }: { tool_name: string | undefined }) {
  const { go } = useInspector();
  const loaded = useAnswer("GET /api/playground/tools", {});
  const past = useAnswer("GET /api/playground/history", {});
  const history = past.value?.calls ?? [];
  const { value } = loaded;
  const tool = value?.tools.find((one) => one.tool_name === tool_name);

  function useAgain(call: PastCall): void {
    if (call.input !== undefined) setDraft(call.tool_name, call.input);
    go({ view: "playground", tool_name: call.tool_name });
  }

  // On a phone the list gives way to the tool that was chosen.
  const isAlone = usePhone() && tool_name !== undefined;
  return (
    <section class="view playground">
      <div class="playground-tools" hidden={isAlone}>
        <h1>Playground</h1>
        <Loaded from={loaded} what="the tools">
          {({ tools, problems }) => (
            <>
              {problems.map((problem) => (
                <p key={problem} class="problem">
                  ⚠ {visibleLine(problem)}
                </p>
              ))}
              <ToolList tools={tools} chosen={tool_name} history={history} />
            </>
          )}
        </Loaded>
      </div>
      <div class="playground-trial">
        {isAlone && (
          <>
            <h1 class="unseen">Playground</h1>
            <p>
              <a href={writeHash({ view: "playground" })}>← All tools</a>
            </p>
          </>
        )}
        {tool && (
          <ToolTrial
            key={tool_name}
            tool={tool}
            cwd={value?.cwd ?? ""}
            history={history}
            onCalled={past.reload}
          />
        )}
        {value && tool === undefined && (
          <p class="quiet">
            {tool_name === undefined
              ? "Choose a tool: its form is made from its schema. Explain shows what would decide the call; Run makes it."
              : `There is no tool ${visibleLine(tool_name)} here.`}
          </p>
        )}
        {tool === undefined && <CallHistory calls={history} onUse={useAgain} namesTools />}
        <ProblemText text={past.problem} onRetry={past.reload} />
      </div>
    </section>
  );
}

const MOST_TOOLS = 200;

function ToolList(props: {
  tools: readonly PlaygroundTool[];
  chosen: string | undefined;
  history: readonly PastCall[];
}) {
  const { tools, chosen } = props;
  const [typed, setTyped] = useState("");
  const found = useMemo(() => findTools(tools, typed), [tools, typed]);
  const first = useMemo(() => chooseFirst(tools, props.history), [tools, props.history]);
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
      {typed === "" && (
        <>
          <h2>Try first</h2>
          <ToolNames label="Tools to try first" tools={first} chosen={chosen} />
          <h2>All tools</h2>
        </>
      )}
      <ToolNames label="Tools" tools={found.slice(0, MOST_TOOLS)} chosen={chosen} />
      <p class="quiet" role="status">
        {found.length === 0 && "No tool matches."}
        {left > 0 && `${left} more: type to narrow them down.`}
      </p>
    </>
  );
}

function ToolNames(props: {
  label: string;
  tools: readonly PlaygroundTool[];
  chosen: string | undefined;
}) {
  return (
    <ul class="plain tool-names" aria-label={props.label}>
      {props.tools.map(({ tool_name, permission }) => (
        <li key={tool_name}>
          <a
            href={writeHash({ view: "playground", tool_name })}
            aria-current={tool_name === props.chosen ? "true" : undefined}
          >
            <Mono text={tool_name} /> {permission === "write" && <span class="quiet">✎ write</span>}
          </a>
        </li>
      ))}
    </ul>
  );
}

const FIRST_TOOLS = 6;
/** What most people begin with. */
const USUAL_TOOLS = [
  "code.read_file",
  "code.list_dir",
  "code.search",
  "code.run_command",
  "code.edit_file",
  "web.fetch",
];

/** Those called here lately, then the usual ones. */
export function chooseFirst(
  tools: readonly PlaygroundTool[],
  history: readonly Pick<PastCall, "tool_name">[],
): PlaygroundTool[] {
  const names = new Set([...history.map(({ tool_name }) => tool_name), ...USUAL_TOOLS]);
  const known = new Map(tools.map((tool) => [tool.tool_name, tool]));
  return [...names].flatMap((name) => known.get(name) ?? []).slice(0, FIRST_TOOLS);
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
