// All about one call, for the pane beside the timeline. Asked again whenever its lane says that something happened.

import { visibleLine } from "@soong/core";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { CallStory, Lane } from "../../wire/session-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { CopyButton, LinkButton } from "../parts/button.tsx";
import { useFirst } from "../parts/list.tsx";
import { SignMark } from "../parts/signs.tsx";
import { CutText, Loaded, Mono, sizeText, spacedText } from "../parts/text.tsx";
import { clockText, durationText, instantText, useNow } from "../parts/time.ts";
import { writeHash, linkToTimeline } from "../route/hash-route.ts";
import { callKey } from "../state/session-model.ts";
import { useStore } from "../state/store.ts";
import { runName } from "../sessions/run-picker.tsx";
import { measureLane, sumPhases } from "../timeline/spans.tsx";
import { ArtifactViewer } from "./artifact-viewer.tsx";
import { CallDecisions, HookRuns } from "./call-decisions.tsx";
import { CallInputsView } from "./call-inputs.tsx";
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
    // Another text whenever there is more to tell of the call.
    { version: lane && [lane.state, lane.ended_seq, lane.yielded_at, lane.spans.length].join(" ") },
  );
  return (
    <div class="call">
      <Loaded from={loaded} what="the call">
        {(story) => <Story story={story} />}
      </Loaded>
    </div>
  );
}

function Story({ story }: { story: CallStory }) {
  const { preview, result, notes, artifacts, hooks, progress, child_runs, child_calls } = story;
  // What came of it first, then why it was allowed; before there is a result, what would be done.
  const parts: Record<string, ComponentChildren> = {
    Result: result && <CallResult result={result} model_view={story.model_view} />,
    Notes: notes.length > 0 && (
      <ul>
        {notes.map((note) => (
          <li key={note}>{visibleLine(note)}</li>
        ))}
      </ul>
    ),
    Artifacts: artifacts.length > 0 && <CallArtifacts story={story} />,
    Preview: preview && <PreviewView preview={preview} />,
    Decision: <CallDecisions decisions={story.decisions} />,
    Inputs: <CallInputsView inputs={story.inputs} />,
    Hooks: hooks.length > 0 && <HookRuns hooks={hooks} />,
    Progress: progress.length > 0 && <CallProgress progress={progress} />,
    "Within it": child_runs.length + child_calls.length > 0 && <CallChildren story={story} />,
    Times: <Times story={story} />,
    Facts: <CallFacts story={story} />,
  };
  return (
    <>
      <CallHead story={story} />
      {Object.entries(parts).map(
        ([name, content]) =>
          content && (
            <section key={name} class="call-part" aria-label={name}>
              <h3>{name}</h3>
              {content}
            </section>
          ),
      )}
    </>
  );
}

/** What it is and for, its state, and how long it took. */
function CallHead({ story }: { story: CallStory }) {
  const { lane } = story;
  const { isLive, now } = useLaneTime(lane);
  const isLeftOpen = lane.state !== "ended" && !isLive;
  return (
    <header class="call-head">
      <h2 class="mono">{visibleLine(lane.tool_name)}</h2>
      {lane.about !== undefined && (
        <p class="call-about mono">
          <CutText text={lane.about} />
        </p>
      )}
      <p>
        <SignMark state={lane.outcome ?? (isLeftOpen ? "left_open" : lane.state)} />
        <span class="quiet"> · {durationText(measureLane(lane, now))}</span>
      </p>
      {isLeftOpen && <p>Its process has ended, and no result was recorded.</p>}
      {lane.state === "waiting" && isLive && (
        <p>
          <a href={writeHash({ view: "questions" })}>Answer its question</a>
        </p>
      )}
    </header>
  );
}

/** Whether its session is live, and until when an open span of it lasts. */
function useLaneTime({ state }: Lane) {
  const session = useStore(useInspector().session, (model) => model?.session);
  const isLive = session?.live !== undefined;
  const now = useNow(isLive && state !== "ended", Date.parse(session?.updated_at ?? ""));
  return { isLive, now };
}

/** When it was what, how long, and how it was called. */
function Times({ story: { lane, native_name, effects = {} } }: { story: CallStory }) {
  const { spans, yielded_at, tool_call_id } = lane;
  const is = Object.entries(effects).flatMap(([name, is]) => (is ? [spacedText(name)] : []));
  const { isLive, now } = useLaneTime(lane);
  const open = isLive ? " so far" : " until the last fact on record";
  const rows = [
    ...spans.slice(0, 1).map(([, from]) => ["Asked for", instantText(from)]),
    ...sumPhases(spans, now).map(({ name, ms, is_open }) => [
      name,
      `${durationText(ms)}${is_open ? open : ""}`,
    ]),
    ...(yielded_at === undefined ? [] : [["Sent to the model", clockText(yielded_at)]]),
    ...(is.length === 0 ? [] : [["Effects", is.join(", ")]]),
    ...(native_name === undefined ? [] : [["Called as", visibleLine(native_name)]]),
  ];
  return (
    <>
      <table class="table phases" aria-label="When and how long">
        <tbody>
          {rows.map(([name, text]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="quiet">
        <Mono text={tool_call_id} /> <CopyButton text={tool_call_id} what="the id of the call" />
      </p>
    </>
  );
}

function CallArtifacts({ story }: { story: CallStory }) {
  const [open, setOpen] = useState<string>();
  return (
    <ul class="artifact-list">
      {story.artifacts.map(({ artifact_id, name, media_type, size }) => {
        const isOpen = open === artifact_id;
        return (
          <li key={artifact_id}>
            <LinkButton
              aria-expanded={isOpen}
              onClick={() => setOpen(isOpen ? undefined : artifact_id)}
            >
              <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span>{" "}
              {visibleLine(name ?? artifact_id)}
            </LinkButton>{" "}
            <span class="quiet">
              {visibleLine(media_type)}, {sizeText(size)}
            </span>
            {isOpen && <ArtifactViewer session_id={story.session_id} artifact_id={artifact_id} />}
          </li>
        );
      })}
    </ul>
  );
}

const MOST_ROWS = 50;

function CallProgress({ progress }: { progress: CallStory["progress"] }) {
  // The last ones are what the user looks for.
  const [shown, more] = useFirst(progress.toReversed(), MOST_ROWS, "reports");
  return (
    <>
      {more}
      <ol class="progress">
        {shown.toReversed().map(({ at, text }, index) => (
          <li key={index}>
            <span class="quiet mono">{clockText(at)}</span> <CutText text={text} />
          </li>
        ))}
      </ol>
    </>
  );
}

function CallChildren({ story }: { story: CallStory }) {
  const { session_id, lane, child_runs, child_calls } = story;
  const { run_id } = lane;
  const model = useStore(useInspector().session);
  const children = [
    ...child_runs.map((id) => {
      const run = model?.runs.get(id);
      return { id, name: run === undefined ? id : runName(run), to: { run_id: id } };
    }),
    ...child_calls.map((id) => {
      const { tool_name = id, about = "" } = model?.lanes.get(callKey(run_id, id)) ?? {};
      return { id, name: `${tool_name} ${about}`, to: { run_id, tool_call_id: id } };
    }),
  ];
  return (
    <ul>
      {children.map(({ id, name, to }) => (
        <li key={id}>
          <a href={linkToTimeline({ session_id, ...to })}>{visibleLine(name)}</a>
        </li>
      ))}
    </ul>
  );
}

function CallFacts({ story: { session_id, facts } }: { story: CallStory }) {
  const [shown, more] = useFirst(facts, MOST_ROWS);
  return (
    <p class="fact-links">
      {shown.map((seq) => (
        <a
          key={seq}
          class="mono"
          href={writeHash({ view: "session", session_id, tab: "facts", seq })}
        >
          #{seq}
        </a>
      ))}
      {more}
    </p>
  );
}
