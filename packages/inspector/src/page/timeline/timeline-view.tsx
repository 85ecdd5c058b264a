// A session as a timeline, with the conversation or the details of what was chosen beside it.

import { useEffect, useState } from "preact/hooks";
import { useInspector } from "../app/inspector.ts";
import { useKeys } from "../app/keys.ts";
import { CallView } from "../call/call-view.tsx";
import { ConversationPane } from "../conversation/conversation-pane.tsx";
import { useBackCloses, usePhone } from "../parts/phone.ts";
import { RequestView } from "../request/request-view.tsx";
import { SidePane } from "../parts/side-pane.tsx";
import type { SessionRoute } from "../route/hash-route.ts";
import { callKey, requestKey, type SessionModel } from "../state/session-model.ts";
import type { Row } from "./rows.ts";
import { RunDetails } from "./run-details.tsx";
import { TimelineChart } from "./timeline-chart.tsx";

type Side = "conversation" | "details" | "closed";

export function TimelineView({ route, model }: { route: SessionRoute; model: SessionModel }) {
  const { go } = useInspector();
  const { session_id, tool_call_id, request, node_id } = route;
  // A link may know the call alone: the newest of that id is meant.
  const run_id =
    route.run_id ??
    (tool_call_id &&
      [...model.lanes.values()].findLast((lane) => lane.tool_call_id === tool_call_id)?.run_id);
  const chosen =
    run_id === undefined
      ? undefined
      : tool_call_id !== undefined
        ? callKey(run_id, tool_call_id)
        : request === undefined
          ? run_id
          : requestKey(run_id, request);
  const wanted = node_id === undefined ? "details" : "conversation";
  const [side, setSide] = useState<Side>(run_id === undefined ? startsOpen() : wanted);
  useEffect(() => {
    // The way back may lead to where nothing was chosen.
    setSide((shown) => {
      if (run_id !== undefined) return wanted;
      return shown === "details" ? startsOpen() : shown;
    });
  }, [run_id, tool_call_id, request, node_id]);

  function choose({ kind, key }: Row): void {
    const at = { view: "session", session_id, tab: "timeline" } as const;
    const lane = model.lanes.get(key);
    const asked = model.requests.get(key);
    if (kind === "lane" && lane !== undefined) {
      go({ ...at, run_id: lane.run_id, tool_call_id: lane.tool_call_id });
    } else if (kind === "request" && asked !== undefined) {
      go({ ...at, run_id: asked.run_id, request: asked.request });
    } else go({ ...at, run_id: key });
    setSide("details");
  }

  function close(): void {
    if (side === "details" && run_id !== undefined) {
      go({ view: "session", session_id, tab: "timeline" });
      setSide(startsOpen());
    } else setSide("closed");
    document.getElementById("timeline")?.focus();
  }

  // The details are in the address.
  useBackCloses(usePhone() && side === "conversation", () => setSide("closed"));
  useKeys({
    v: () => go({ ...route, tab: "conversation" }),
    c: () => setSide(side === "conversation" ? "closed" : "conversation"),
    ...(side === "closed" ? {} : { Escape: close }),
  });

  return (
    <div class={side === "closed" ? "timeline" : "timeline with-side"} data-columns>
      <TimelineChart
        model={model}
        chosen={chosen}
        onChoose={choose}
        isSideOpen={side !== "closed"}
        onSide={() => setSide("conversation")}
      />
      {side !== "closed" && (
        <SidePane
          label={side === "details" ? "Details" : "Conversation"}
          head={<SideTabs shown={side} hasDetails={run_id !== undefined} onShow={setSide} />}
          onClose={close}
        >
          {side === "conversation" && <ConversationPane route={route} model={model} />}
          {side === "details" && run_id !== undefined && tool_call_id !== undefined && (
            <CallView key={chosen} {...{ session_id, run_id, tool_call_id }} />
          )}
          {side === "details" &&
            run_id !== undefined &&
            tool_call_id === undefined &&
            request !== undefined && (
              <RequestView key={chosen} {...{ session_id, run_id, request }} />
            )}
          {side === "details" &&
            run_id !== undefined &&
            tool_call_id === undefined &&
            request === undefined && <RunDetails key={run_id} model={model} run_id={run_id} />}
        </SidePane>
      )}
    </div>
  );
}

/** On a narrow screen the timeline has the room first. */
function startsOpen(): Side {
  return matchMedia("(min-width: 1100px)").matches ? "conversation" : "closed";
}

/** Which of both is shown. */
function SideTabs(props: { shown: Side; hasDetails: boolean; onShow: (shown: Side) => void }) {
  const { shown, onShow } = props;
  const tab = (side: Side, name: string) => (
    <button
      type="button"
      class="side-tab"
      aria-pressed={shown === side}
      onClick={() => onShow(side)}
    >
      {name}
    </button>
  );
  return (
    <>
      {tab("conversation", "Conversation")}
      {props.hasDetails && tab("details", "Details")}
    </>
  );
}
