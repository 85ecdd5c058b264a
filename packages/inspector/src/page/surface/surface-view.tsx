// Which tools a run sees, why, what that costs in tokens, and the search that the model has.

import { visibleLine } from "@soong/core";
import { useEffect, useState } from "preact/hooks";
import type { SurfaceTool, SurfaceView as Surface } from "../../wire/session-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { LinkButton } from "../parts/button.tsx";
import { TextField } from "../parts/input.tsx";
import { Table } from "../parts/list.tsx";
import { countText, Loaded, Mono } from "../parts/text.tsx";
import { writeHash } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { groupTools, ToolGroup } from "./tool-group.tsx";

/** To be keyed by the run. */
export function SurfaceView({ session_id, run_id }: { session_id: string; run_id: string }) {
  const { session } = useInspector();
  const [revision, setRevision] = useState<number>();
  const [filter, setFilter] = useState("");
  const surfaces = useStore(session, (model) => model?.runs.get(run_id)?.surfaces);
  const loaded = useAnswer(
    "GET /api/sessions/:session_id/runs/:run_id/surface",
    { path: { session_id, run_id }, query: { revision: revision?.toString() } },
    { version: surfaces },
  );
  return (
    <div class="surface">
      <Loaded from={loaded} what="the surface">
        {(view) => (
          <>
            <SurfaceHead view={view} />
            <TokenCost tokens={view.tokens} />
            <Revisions session_id={session_id} view={view} onChoose={setRevision} />
            <SurfaceSearch session_id={session_id} run_id={run_id} tools={view.tools} />
            <h2>Tools</h2>
            <TextField
              name="Filter tools"
              type="search"
              data-search
              value={filter}
              placeholder="part of a name, reason or description"
              onText={setFilter}
            />
            {groupTools(view.tools, filter).map((group) => (
              <ToolGroup key={group.state} group={group} />
            ))}
          </>
        )}
      </Loaded>
    </div>
  );
}

function SurfaceHead({ view }: { view: Surface }) {
  const [loaded, deferred, excluded] = groupTools(view.tools, "").map(({ tools }) => tools.length);
  return (
    <p>
      <strong>{loaded}</strong> loaded, <strong>{deferred}</strong> deferred,{" "}
      <strong>{excluded}</strong> excluded{" "}
      <span class="quiet">
        for the role {visibleLine(view.role)} in the mode {visibleLine(view.mode)}, made for{" "}
        {visibleLine(view.profile)}; revision {view.revision}
      </span>
    </p>
  );
}

function Revisions(props: {
  session_id: string;
  view: Surface;
  onChoose: (revision: number) => void;
}) {
  const { session_id, view } = props;
  const { revisions } = view;
  if (revisions.length < 2) return null;
  return (
    <details class="revisions">
      <summary>
        It changed {revisions.length === 2 ? "once" : `${revisions.length - 1} times`}
      </summary>
      <ol class="plain">
        {revisions.slice(0, 200).map(({ revision, seq, changed }) => (
          <li key={revision}>
            <LinkButton
              aria-pressed={revision === view.revision}
              onClick={() => props.onChoose(revision)}
            >
              Revision {revision}
            </LinkButton>
            {revision === view.revision && " (shown)"}: {changed} tools{" "}
            <a class="mono" href={writeHash({ view: "session", session_id, tab: "facts", seq })}>
              #{seq}
            </a>
          </li>
        ))}
      </ol>
    </details>
  );
}

function TokenCost({ tokens }: { tokens: Surface["tokens"] }) {
  const { loaded, deferred_names, deferred_in_full } = tokens;
  const saved = Math.max(0, deferred_in_full - deferred_names);
  const parts = [
    { key: "loaded", tokens: loaded, name: "loaded, in full" },
    { key: "names", tokens: deferred_names, name: "names of deferred ones" },
    { key: "saved", tokens: saved, name: "not sent, because they are deferred" },
  ];
  return (
    <figure class="token-cost">
      <figcaption>
        About <strong>{countText(loaded + deferred_names)}</strong> tokens with every request
        {saved > 0 && (
          <>
            ; all in full would be about <strong>{countText(loaded + deferred_in_full)}</strong>
          </>
        )}
        .
      </figcaption>
      <div class="token-bar" aria-hidden="true">
        {parts.map(({ key, tokens }) => (
          <span key={key} class={`token-${key}`} style={{ flexGrow: String(tokens) }} />
        ))}
      </div>
      <ul class="token-legend">
        {parts.map(({ key, tokens, name }) => (
          <li key={key}>
            <span class={`token-swatch token-${key}`} aria-hidden="true" /> {countText(tokens)}{" "}
            {name}
          </li>
        ))}
      </ul>
    </figure>
  );
}

const PAUSE_MS = 250;
const MOST_MATCHES = 100;

/** The search the model has, with the score and the reasons, and whether the model would find each tool by it. */
function SurfaceSearch(props: {
  session_id: string;
  run_id: string;
  tools: readonly SurfaceTool[];
}) {
  const { session_id, run_id } = props;
  const [typed, setTyped] = useState("");
  const [query, setQuery] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setQuery(typed.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const loaded = useAnswer(
    "GET /api/sessions/:session_id/runs/:run_id/search",
    { path: { session_id, run_id }, query: { q: query } },
    { subject: query, isPaused: query === "" },
  );
  const stateOf = (name: string) => props.tools.find(({ tool_name }) => tool_name === name)?.state;
  return (
    <section class="surface-search" aria-label="The model's search">
      <TextField
        name="Search as the model does"
        type="search"
        value={typed}
        placeholder="a query of the model"
        onText={setTyped}
      />
      {query !== "" && (
        <Loaded from={loaded} what="what is found">
          {({ matches }) => (
            <>
              <p role="status" class="quiet">
                {matches.length === 0 ? "Nothing found." : `${matches.length} found, best first.`}
              </p>
              {matches.length > 0 && (
                <Table
                  head={["Tool", "#Score", "Because", "The model"]}
                  rows={matches.slice(0, MOST_MATCHES)}
                  cells={({ tool_name, score, reasons, is_found_by_model }) => [
                    <Mono text={tool_name} />,
                    score.toFixed(2),
                    visibleLine(reasons.join(", ")),
                    is_found_by_model ? "✓ finds it here" : missedText(stateOf(tool_name)),
                  ]}
                />
              )}
            </>
          )}
        </Loaded>
      )}
    </section>
  );
}

function missedText(state: string | undefined): string {
  if (state === "loaded") return "– has it loaded";
  return state === "excluded" ? "⊘ never sees it" : "– does not find it";
}
