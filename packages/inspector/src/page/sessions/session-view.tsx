// One session: its name, how far its journal is read, and its tabs.

import { Mono } from "../parts/text.tsx";
import type { JSX } from "preact";
import { ArtifactsTab } from "./artifacts-tab.tsx";
import { useInspector } from "../app/context.ts";
import { FactsView } from "../facts/facts-view.tsx";
import { ProblemText } from "../parts/loading.tsx";
import { instantText, momentText, zoneText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";
import { hashOf, SESSION_TABS, type SessionRoute, type SessionTab } from "../route/hash-route.ts";
import type { SessionModel } from "../state/session-model.ts";
import { useStore } from "../state/store.ts";
import { SurfaceView } from "../surface/surface-view.tsx";
import { TimelineView } from "../timeline/timeline-view.tsx";
import { RunPicker, runShown } from "./run-picker.tsx";
import { projectOf } from "./session-order.ts";

export function SessionView(props: { route: SessionRoute }) {
  const inspector = useInspector();
  const model = useStore(inspector.session);
  const noSession = useStore(inspector.noSession);
  if (noSession !== undefined) {
    return (
      <section class="view">
        <h1>This session cannot be shown</h1>
        <ProblemText text={noSession} />
      </section>
    );
  }
  if (model === undefined) return <p class="quiet view">Loading the session…</p>;
  return (
    <section class="session" aria-label="Session">
      <SessionHead model={model} />
      <Tabs route={props.route} />
      <div class="tab" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${props.route.tab}`}>
        {tabOf(props.route, model)}
      </div>
    </section>
  );
}

function SessionHead({ model }: { model: SessionModel }) {
  const { session } = model;
  if (session === undefined) return <div class="session-head">Loading the session…</div>;
  const { title, session_id, live, updated_at, last_seq } = session;
  return (
    <div class="session-head">
      <h1>{visibleLine(title ?? session_id)}</h1>
      <span class="session-facts">
        {live === undefined ? "not live" : `live, process ${live.pid}`}
        {" · "}
        <Mono text={projectOf(session) ?? "no project"} />
        {" · "}
        <time dateTime={updated_at} title={instantText(Date.parse(updated_at))}>
          {momentText(Date.parse(updated_at), Date.now())} {zoneText(Date.parse(updated_at))}
        </time>
        {" · "}
        {last_seq.toLocaleString("en")} facts
      </span>
      {model.read_seq < last_seq && (
        <span class="reading">
          Reading the journal{" "}
          <progress max={last_seq} value={model.read_seq} aria-label="Facts read" />{" "}
          {Math.floor((model.read_seq / last_seq) * 100)} %
        </span>
      )}
    </div>
  );
}

const TAB_NAMES: Readonly<Record<SessionTab, string>> = {
  timeline: "Timeline",
  facts: "Facts",
  surface: "Surface",
  artifacts: "Artifacts",
};

function Tabs(props: { route: SessionRoute }) {
  return (
    <div class="session-tabs" role="tablist" aria-label="Views of the session" onKeyDown={onTabKey}>
      {SESSION_TABS.map((tab) => {
        const isHere = tab === props.route.tab;
        return (
          <a
            key={tab}
            id={`tab-${tab}`}
            role="tab"
            aria-selected={isHere}
            aria-controls="tab-panel"
            tabIndex={isHere ? 0 : -1}
            href={hashOf({ ...props.route, tab })}
          >
            {TAB_NAMES[tab]}
          </a>
        );
      })}
    </div>
  );
}

function onTabKey(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined || !(event.currentTarget instanceof HTMLElement)) return;
  const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")];
  const at = tabs.findIndex((tab) => tab === document.activeElement);
  const next = tabs[(at + step + tabs.length) % tabs.length];
  event.preventDefault();
  next?.focus();
  next?.click();
}

function tabOf(route: SessionRoute, model: SessionModel): JSX.Element {
  const { session_id } = route;
  switch (route.tab) {
    case "timeline":
      return <TimelineView route={route} model={model} />;
    case "facts":
      return <FactsView route={route} model={model} />;
    case "artifacts":
      return <ArtifactsTab session_id={session_id} version={model.content} />;
    case "surface": {
      const run_id = runShown(model, route.run_id);
      return (
        <div class="view">
          <RunPicker model={model} route={route} />
          {run_id === undefined ? (
            <p class="quiet">
              {model.is_loading ? "Loading the runs…" : "This session has no run."}
            </p>
          ) : (
            <SurfaceView key={run_id} session_id={session_id} run_id={run_id} />
          )}
        </div>
      );
    }
  }
}
