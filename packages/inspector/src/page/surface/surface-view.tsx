// Which tools a run sees, why, what that costs in tokens, and the search that the model has.

import { LinkButton } from "../parts/button.tsx";
import { useState } from "preact/hooks";
import type { SurfaceView, SurfaceView as Surface } from "../../wire/index.ts";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/context.ts";
import { LoadState } from "../parts/loading.tsx";
import { visibleLine } from "@soong/core";
import { hashOf } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { surfaceGroups } from "./groups.ts";
import { SurfaceSearch } from "./surface-search.tsx";
import { ToolGroup } from "./tool-group.tsx";

export function SurfaceView(props: { session_id: string; run_id: string }) {
  return <SurfaceOf key={`${props.session_id} ${props.run_id}`} {...props} />;
}

function SurfaceOf(props: { session_id: string; run_id: string }) {
  const { session_id, run_id } = props;
  const { session } = useInspector();
  const [revision, setRevision] = useState<number>();
  const [filter, setFilter] = useState("");
  const surfaces = useStore(session, (model) => model?.runs.get(run_id)?.surfaces);
  const loaded = useAnswer(
    "GET /api/sessions/:session_id/runs/:run_id/surface",
    {
      path: { session_id, run_id },
      query: revision === undefined ? {} : { revision: String(revision) },
    },
    { version: surfaces },
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
            Filter tools
            <input
              type="search"
              data-search
              value={filter}
              placeholder="part of a name, reason or description"
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
            <LinkButton
              aria-pressed={revision === view.revision}
              onClick={() => props.onChoose(revision)}
            >
              Revision {revision}
            </LinkButton>
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

export function TokenCost(props: { tokens: SurfaceView["tokens"] }) {
  const { loaded, deferred_names, deferred_in_full } = props.tokens;
  const sent = loaded + deferred_names;
  const saved = Math.max(0, deferred_in_full - deferred_names);
  const parts = [
    { key: "loaded", tokens: loaded, name: "loaded, in full" },
    { key: "names", tokens: deferred_names, name: "names of deferred ones" },
    { key: "saved", tokens: saved, name: "not sent, because they are deferred" },
  ];
  return (
    <figure class="token-cost">
      <figcaption>
        About <strong>{sent.toLocaleString("en")}</strong> tokens with every request
        {saved > 0 && (
          <>
            ; all in full would be about{" "}
            <strong>{(loaded + deferred_in_full).toLocaleString("en")}</strong>
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
            <span class={`token-swatch token-${key}`} aria-hidden="true" />{" "}
            {tokens.toLocaleString("en")} {name}
          </li>
        ))}
      </ul>
    </figure>
  );
}
