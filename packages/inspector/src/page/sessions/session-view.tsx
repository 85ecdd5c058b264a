// One session: its name, how far its journal is read, and its tabs.

import { visibleLine } from "@soong/core";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { LiveSession } from "../../wire/session-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { ArtifactViewer } from "../call/artifact-viewer.tsx";
import { ConversationView } from "../conversation/conversation-view.tsx";
import { FactsView } from "../facts/facts-view.tsx";
import { LinkButton, onTabKey } from "../parts/button.tsx";
import { Table } from "../parts/list.tsx";
import { countText, Loaded, Mono, ProblemText } from "../parts/text.tsx";
import { instantText, recordedMoment, useSlowed, zoneText } from "../parts/time.ts";
import { writeHash, SESSION_TABS, type SessionRoute, linkToTimeline } from "../route/hash-route.ts";
import type { SessionModel } from "../state/session-model.ts";
import { useStore } from "../state/store.ts";
import { SurfaceView } from "../surface/surface-view.tsx";
import { TimelineView } from "../timeline/timeline-view.tsx";
import { RunPicker, runShown } from "./run-picker.tsx";
import { findProject } from "./session-list.tsx";

export function SessionView({ route }: { route: SessionRoute }) {
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
      <Tabs route={route} />
      <div class="tab" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${route.tab}`}>
        {renderTab(route, model)}
      </div>
    </section>
  );
}

function describeLive({ pid, host }: LiveSession): string {
  return `live, process ${pid}${host === undefined ? "" : ` on ${visibleLine(host)}`}`;
}

function SessionHead({ model: { session, read_seq } }: { model: SessionModel }) {
  if (session === undefined) return <div class="session-head">Loading the session…</div>;
  const { title, session_id, live, updated_at, last_seq } = session;
  const updated = Date.parse(updated_at);
  return (
    <div class="session-head">
      <h1>{visibleLine(title ?? session_id)}</h1>
      <span class="session-facts">
        {live === undefined ? "not live" : describeLive(live)}
        {" · "}
        <Mono text={findProject(session) ?? "no project"} />
        {" · "}
        <time dateTime={updated_at} title={instantText(updated)}>
          {recordedMoment(updated_at)} {zoneText(updated)}
        </time>
        {" · "}
        {countText(last_seq)} facts
      </span>
      {read_seq < last_seq && (
        <span class="reading">
          Reading the journal <progress max={last_seq} value={read_seq} aria-label="Facts read" />{" "}
          {Math.floor((read_seq / last_seq) * 100)} %
        </span>
      )}
    </div>
  );
}

const TAB_NAMES = {
  conversation: "Conversation",
  timeline: "Timeline",
  facts: "Facts",
  surface: "Surface",
  artifacts: "Artifacts",
} as const;

function Tabs({ route }: { route: SessionRoute }) {
  return (
    <div class="session-tabs" role="tablist" aria-label="Views of the session" onKeyDown={onTabKey}>
      {SESSION_TABS.map((tab) => (
        <a
          key={tab}
          id={`tab-${tab}`}
          role="tab"
          aria-selected={tab === route.tab}
          aria-controls="tab-panel"
          tabIndex={tab === route.tab ? 0 : -1}
          href={writeHash({ ...route, tab })}
        >
          {TAB_NAMES[tab]}
        </a>
      ))}
    </div>
  );
}

function renderTab(route: SessionRoute, model: SessionModel): JSX.Element {
  const { session_id } = route;
  switch (route.tab) {
    case "conversation":
      return <ConversationView route={route} model={model} />;
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

/** What calls left behind because it was too long for the conversation, or is not text. */
function ArtifactsTab({ session_id, version }: { session_id: string; version: number }) {
  const [opened, setOpened] = useState<string>();
  const loaded = useAnswer(
    "GET /api/sessions/:session_id/artifacts",
    { path: { session_id } },
    { version: useSlowed(version) },
  );
  return (
    <div class="view">
      <Loaded from={loaded} what="the artifacts">
        {({ artifacts }) =>
          artifacts.length === 0 ? (
            <p class="quiet">This session has no artifacts.</p>
          ) : (
            <Table
              class="artifacts"
              head={["Name", "Kind", "#Bytes", "Call"]}
              rows={artifacts}
              cells={({ artifact_id, name, media_type, size, tool_call_id, run_id }) => [
                <LinkButton
                  mono
                  aria-pressed={artifact_id === opened}
                  onClick={() => setOpened(artifact_id)}
                >
                  {visibleLine(name ?? artifact_id)}
                </LinkButton>,
                visibleLine(media_type),
                countText(size),
                tool_call_id && (
                  <a href={linkToTimeline({ session_id, run_id, tool_call_id })}>
                    {visibleLine(tool_call_id)}
                  </a>
                ),
              ]}
            />
          )
        }
      </Loaded>
      {opened && <ArtifactViewer session_id={session_id} artifact_id={opened} />}
    </div>
  );
}
