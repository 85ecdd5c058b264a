// All about one call, for the pane beside the timeline. Asked again whenever its lane says that something happened.

import type { ComponentChildren } from "preact";
import type { CallStory, Lane } from "../../wire/index.ts";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/context.ts";
import { LoadState } from "../parts/loading.tsx";
import { visibleLine } from "@soong/core";
import { callKey } from "../state/session-model.ts";
import { useStore } from "../state/store.ts";
import { CallDecisions, HookRuns } from "./call-decisions.tsx";
import { CallHead } from "./call-head.tsx";
import { CallInputsView } from "./call-inputs.tsx";
import { CallArtifacts, CallChildren, CallFacts, CallProgress } from "./call-lists.tsx";
import { CallResult } from "./call-result.tsx";
import { PreviewView } from "./preview.tsx";

/** To be keyed by the call: another one is another view. */
export function CallView(props: { session_id: string; run_id: string; tool_call_id: string }) {
  const { session_id, run_id, tool_call_id } = props;
  const { session } = useInspector();
  const lane = useStore(session, (model) => model?.lanes.get(callKey(run_id, tool_call_id)));
  const loaded = useAnswer(
    "GET /api/sessions/:session_id/calls/:tool_call_id",
    { path: { session_id, tool_call_id }, query: { run_id } },
    { version: laneState(lane) },
  );
  return (
    <div class="call">
      <LoadState loaded={loaded} what="the call" />
      {loaded.value !== undefined && <Story story={loaded.value} />}
    </div>
  );
}

/** Another text whenever there is more to tell of the call. */
function laneState(lane: Lane | undefined): string {
  if (lane === undefined) return "";
  return [lane.state, lane.ended_seq, lane.yielded_at, lane.spans.length].join(" ");
}

function Story(props: { story: CallStory }) {
  const { story } = props;
  return (
    <>
      <CallHead story={story} />
      {story.preview !== undefined && (
        <Part name="Preview">
          <PreviewView preview={story.preview} />
        </Part>
      )}
      <Part name="Decision">
        <CallDecisions decisions={story.decisions} />
      </Part>
      {story.result !== undefined && (
        <Part name="Result">
          <CallResult result={story.result} model_view={story.model_view} />
        </Part>
      )}
      {story.notes.length > 0 && (
        <Part name="Notes">
          <ul>
            {story.notes.map((note) => (
              <li key={note}>{visibleLine(note)}</li>
            ))}
          </ul>
        </Part>
      )}
      {story.artifacts.length > 0 && (
        <Part name="Artifacts">
          <CallArtifacts story={story} />
        </Part>
      )}
      <Part name="Inputs">
        <CallInputsView inputs={story.inputs} />
      </Part>
      {story.hooks.length > 0 && (
        <Part name="Hooks">
          <HookRuns hooks={story.hooks} />
        </Part>
      )}
      {story.progress.length > 0 && (
        <Part name="Progress">
          <CallProgress progress={story.progress} />
        </Part>
      )}
      {story.child_runs.length + story.child_calls.length > 0 && (
        <Part name="Within it">
          <CallChildren story={story} />
        </Part>
      )}
      <Part name="Facts">
        <CallFacts session_id={story.session_id} seqs={story.facts} />
      </Part>
    </>
  );
}

function Part(props: { name: string; children: ComponentChildren }) {
  return (
    <section class="call-part" aria-label={props.name}>
      <h3>{props.name}</h3>
      {props.children}
    </section>
  );
}
