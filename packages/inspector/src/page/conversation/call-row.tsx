// A call within an answer, as one line: the tool, what it is about, how it went and how long it took. Opened, it shows the
// difference or the command, and the result. Its name leads to the whole call.

import { visible, visibleLine } from "@soong/core";
import { useState } from "preact/hooks";
import type { ConversationItem, Lane } from "../../wire/session-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { PreviewView } from "../call/preview.tsx";
import { laneSign, Mark } from "../parts/signs.tsx";
import { countText, CutText, Loaded } from "../parts/text.tsx";
import { durationText } from "../parts/time.ts";
import { linkToTimeline } from "../route/hash-route.ts";
import { OtherBlock } from "./other-block.tsx";

export function CallRow(props: {
  session_id: string;
  run_id: string;
  tool_call_id: string | undefined;
  tool_name: string;
  summary: string | undefined;
  lane: Lane | undefined;
  result: ConversationItem | undefined;
  isLive: boolean;
  isChosen: boolean;
}) {
  const { session_id, run_id, tool_call_id, lane, result, isLive } = props;
  const [isOpen, setOpen] = useState(false);
  // The model may know a tool by another name than we do.
  const name = visibleLine(lane?.tool_name ?? props.tool_name);
  const about = visibleLine(props.summary ?? lane?.summary ?? "");
  const took = lane && durationOf(lane);
  if (tool_call_id === undefined) {
    return (
      <span class="call-line">
        <span class="mono">{name}</span> {about}
      </span>
    );
  }
  const href = linkToTimeline({ session_id, run_id, tool_call_id });
  return (
    <div class={props.isChosen ? "call-box chosen" : "call-box"}>
      <div class="call-line">
        <button
          type="button"
          class="link twisty-button"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? "Hide" : "Show"} what ${name} did`}
          onClick={() => setOpen(!isOpen)}
        >
          <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span>
        </button>
        <a class="mono call-name" href={href}>
          {name}
        </a>
        <span class="mono call-subject" title={about}>
          {about}
        </span>
        {lane !== undefined && <Mark sign={laneSign(lane, isLive)} />}
        {took !== undefined && <span class="quiet call-took">{durationText(took)}</span>}
      </div>
      {isOpen && (
        <div class="call-inside">
          <CallPreview
            session_id={session_id}
            run_id={run_id}
            tool_call_id={tool_call_id}
            version={lane?.state ?? ""}
          />
          {result?.content.map((block, index) =>
            block.type === "text" ? (
              // It has a height of its own, so a keyboard has to be able to scroll it.
              <div
                key={index}
                tabIndex={0}
                class={result.is_error ? "block mono problem" : "block mono"}
              >
                <CutText text={visible(block.text)} />
              </div>
            ) : (
              <OtherBlock key={index} block={block} session_id={session_id} />
            ),
          )}
          {(result?.cut ?? 0) > 0 && (
            <p class="quiet">… {countText(result?.cut ?? 0)} characters more: open the call</p>
          )}
          {result === undefined && <p class="quiet">No result yet.</p>}
        </div>
      )}
    </div>
  );
}

/** The difference, or the command. */
function CallPreview(props: {
  session_id: string;
  run_id: string;
  tool_call_id: string;
  version: string;
}) {
  const { session_id, run_id, tool_call_id, version } = props;
  const story = useAnswer(
    "GET /api/sessions/:session_id/calls/:tool_call_id",
    { path: { session_id, tool_call_id }, query: { run_id } },
    { version },
  );
  return (
    <Loaded from={story} what="the call">
      {({ preview }) => preview && <PreviewView preview={preview} />}
    </Loaded>
  );
}

function durationOf({ spans, state }: Lane): number | undefined {
  const began = spans[0]?.[1];
  const ended = spans.findLast(([kind]) => kind === "executing")?.[2] ?? spans.at(-1)?.[1];
  const isOver = state === "ended" || state === "holding";
  if (!isOver || typeof began !== "number" || typeof ended !== "number") return undefined;
  return Math.max(0, ended - began);
}
