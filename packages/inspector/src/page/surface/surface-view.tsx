// Which tools a run sees, why, what that costs in tokens, and the search that the model has.

import { useState } from "preact/hooks";
import type { SurfaceView as Surface } from "../../wire/index.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { useInspector } from "../app/context.ts";
import { LoadState } from "../parts/loading.tsx";
import { visibleLine } from "@soong/core";
import { hashOf } from "../route/hash-route.ts";
import { useStore } from "../state/use-store.ts";
import { surfaceGroups } from "./groups.ts";
import { SurfaceSearch } from "./surface-search.tsx";
import { TokenCost } from "./token-cost.tsx";
import { ToolGroup } from "./tool-group.tsx";

export function SurfaceView(props: { session_id: string; run_id: string }) {
  return <SurfaceOf key={`${props.session_id} ${props.run_id}`} {...props} />;
}

function SurfaceOf(props: { session_id: string; run_id: string }) {
  const { session_id, run_id } = props;
  const { api, session } = useInspector();
  const [revision, setRevision] = useState<number>();
  const [filter, setFilter] = useState("");
  const surfaces = useStore(session, (model) => model?.runs.get(run_id)?.surfaces);
  const loaded = useLoaded(
    (signal) =>
      api.ask("GET /api/sessions/:session_id/runs/:run_id/surface", {
        path: { session_id, run_id },
        query: revision === undefined ? {} : { revision: String(revision) },
        signal,
      }),
    `${session_id} ${run_id}`,
    `${surfaces ?? ""} ${revision ?? ""}`,
  );
  const view = loaded.value;
  return (
    <div class="surface">
      <LoadState loaded={loaded} what="the surface" />
      {view !== undefined && (
        <>
          <SurfaceHead view={view} />
          <TokenCost tokens={view.tokens} />
          <Revisions session_id={session_id} view={view} onChoose={setRevision} />
          <SurfaceSearch session_id={session_id} run_id={run_id} tools={view.tools} />
          <h3>Tools</h3>
          <label class="field">
            Only those with
            <input
              type="search"
              data-search
              value={filter}
              placeholder="a part of the name, a reason, a word of the description"
              onInput={(event) => setFilter(event.currentTarget.value)}
            />
          </label>
          {surfaceGroups(view.tools, filter).map((group) => (
            <ToolGroup key={group.state} group={group} />
          ))}
        </>
      )}
    </div>
  );
}

function SurfaceHead(props: { view: Surface }) {
  const { view } = props;
  const [loaded, deferred, excluded] = surfaceGroups(view.tools, "").map(
    ({ tools }) => tools.length,
  );
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
  const { view, session_id } = props;
  if (view.revisions.length < 2) return null;
  return (
    <details class="revisions">
      <summary>
        It changed {view.revisions.length === 2 ? "once" : `${view.revisions.length - 1} times`}
      </summary>
      <ol class="plain">
        {view.revisions.slice(0, 200).map(({ revision, seq, changed }) => (
          <li key={revision}>
            <button
              type="button"
              class="link"
              aria-pressed={revision === view.revision}
              onClick={() => props.onChoose(revision)}
            >
              Revision {revision}
            </button>
            {revision === view.revision && " (shown)"}: {changed} tools{" "}
            <a class="mono" href={hashOf({ view: "session", session_id, tab: "facts", seq })}>
              #{seq}
            </a>
          </li>
        ))}
      </ol>
    </details>
  );
}
