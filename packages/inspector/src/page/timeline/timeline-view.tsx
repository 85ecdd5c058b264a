// A session as a timeline, with the conversation or the details of what was chosen beside it.

import { useEffect, useState } from "preact/hooks";
import { useInspector } from "../app/context.ts";
import { useKeys } from "../app/use-keys.ts";
import { CallView } from "../call/call-view.tsx";
import { ConversationPane } from "../conversation/conversation-pane.tsx";
import type { SessionRoute } from "../route/hash-route.ts";
import { callKey, type SessionModel } from "../state/session-model.ts";
import type { Row } from "./rows.ts";
import { RunDetails } from "./run-details.tsx";
import { TimelineChart } from "./timeline-chart.tsx";
import type { ComponentChildren } from "preact";
import { CloseButton } from "../parts/button.tsx";

export function TimelineView(props: { route: SessionRoute; model: SessionModel }) {
  const { route, model } = props;
  const { go } = useInspector();
  const { session_id, tool_call_id } = route;
  const run_id = route.run_id ?? runOf(model, tool_call_id);
  const hasChosen = run_id !== undefined;
  const [side, setSide] = useState<SideShown>(hasChosen ? "details" : startsOpen());
  useEffect(() => {
    // The way back may lead to where nothing was chosen.
    setSide((shown) => (hasChosen ? "details" : shown === "details" ? startsOpen() : shown));
  }, [run_id, tool_call_id]);

  function choose(row: Row): void {
    const lane = row.kind === "lane" ? model.lanes.get(row.key) : undefined;
    const chosen =
      lane === undefined
        ? { run_id: row.key }
        : { run_id: lane.run_id, tool_call_id: lane.tool_call_id };
    go({ view: "session", session_id, tab: "timeline", ...chosen });
    setSide("details");
  }

  function close(): void {
    if (side === "details" && hasChosen) {
      go({ view: "session", session_id, tab: "timeline" });
      setSide(startsOpen());
    } else setSide("closed");
    document.getElementById("timeline")?.focus();
  }

  useKeys({
    c: () => setSide(side === "conversation" ? "closed" : "conversation"),
    ...(side === "closed" ? {} : { Escape: close }),
  });

  return (
    <div class={side === "closed" ? "timeline" : "timeline with-side"}>
      <TimelineChart
        model={model}
        chosen={chosenKey({ ...route, ...(run_id === undefined ? {} : { run_id }) })}
        onChoose={choose}
        isSideOpen={side !== "closed"}
        onSide={() => setSide("conversation")}
      />
      {side !== "closed" && (
        <SidePane shown={side} hasDetails={hasChosen} onShow={setSide} onClose={close}>
          {side === "conversation" && <ConversationPane route={route} model={model} />}
          {side === "details" && run_id !== undefined && tool_call_id !== undefined && (
            <CallView
              key={callKey(run_id, tool_call_id)}
              session_id={session_id}
              run_id={run_id}
              tool_call_id={tool_call_id}
            />
          )}
          {side === "details" && run_id !== undefined && tool_call_id === undefined && (
            <RunDetails key={run_id} model={model} run_id={run_id} />
          )}
        </SidePane>
      )}
    </div>
  );
}

/** A link may know the call alone: the newest of that id is meant. */
function runOf(model: SessionModel, tool_call_id: string | undefined): string | undefined {
  if (tool_call_id === undefined) return undefined;
  return [...model.lanes.values()].findLast((lane) => lane.tool_call_id === tool_call_id)?.run_id;
}

function chosenKey({ run_id, tool_call_id }: SessionRoute): string | undefined {
  if (run_id === undefined || tool_call_id === undefined) return run_id;
  return callKey(run_id, tool_call_id);
}

/** On a narrow screen the timeline has the room first. */
function startsOpen(): SideShown {
  return matchMedia("(min-width: 1100px)").matches ? "conversation" : "closed";
}

export type SideShown = "conversation" | "details" | "closed";

export function SidePane(props: {
  shown: SideShown;
  hasDetails: boolean;
  onShow: (shown: SideShown) => void;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const { shown, hasDetails, onShow } = props;
  return (
    <section class="side" aria-label={shown === "details" ? "Details" : "Conversation"}>
      <div class="side-head">
        <button
          type="button"
          class="side-tab"
          aria-pressed={shown === "conversation"}
          onClick={() => onShow("conversation")}
        >
          Conversation
        </button>
        {hasDetails && (
          <button
            type="button"
            class="side-tab"
            aria-pressed={shown === "details"}
            onClick={() => onShow("details")}
          >
            Details
          </button>
        )}
        <span class="gap" />
        <CloseButton onClose={props.onClose} />
      </div>
      <div class="side-body">{props.children}</div>
    </section>
  );
}
