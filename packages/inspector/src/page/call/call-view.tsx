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
import { CutText, Loaded, Mono, Prose, sizeText, spacedText } from "../parts/text.tsx";
import { clockText, durationText, instantText, useNow } from "../parts/time.ts";
import { writeHash, linkToTimeline } from "../route/hash-route.ts";
import { callKey } from "../state/session-model.ts";
import { useStore } from "../state/store.ts";
import { sumPhases } from "../timeline/spans.tsx";
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
  const parts: Record<string, ComponentChildren> = {
    Preview: preview && <PreviewView preview={preview} />,
    Decision: <CallDecisions decisions={story.decisions} />,
    Result: result && <CallResult result={result} model_view={story.model_view} />,
    Notes: notes.length > 0 && (
      <ul>
        {notes.map((note) => (
          <li key={note}>{visibleLine(note)}</li>
        ))}
      </ul>
    ),
    Artifacts: artifacts.length > 0 && <CallArtifacts story={story} />,
    Inputs: <CallInputsView inputs={story.inputs} />,
    Hooks: hooks.length > 0 && <HookRuns hooks={hooks} />,
    Progress: progress.length > 0 && <CallProgress progress={progress} />,
    "Within it": child_runs.length + child_calls.length > 0 && <CallChildren story={story} />,
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

/** What it is, its state, when and how long. */
function CallHead({ story }: { story: CallStory }) {
  const { lane, native_name, effects = {} } = story;
  const session = useStore(useInspector().session, (model) => model?.session);
  const isLive = session?.live !== undefined;
  const isLeftOpen = lane.state !== "ended" && !isLive;
  const is = Object.entries(effects).flatMap(([name, is]) => (is ? [spacedText(name)] : []));
  return (
    <header class="call-head">
      <h2 class="mono">{visibleLine(lane.tool_name)}</h2>
      <p>
        <SignMark state={lane.outcome ?? (isLeftOpen ? "left_open" : lane.state)} />
        {native_name !== undefined && native_name !== lane.tool_name && (
          <span class="quiet">
            {" "}
            called as <Mono text={native_name} />
          </span>
        )}
      </p>
      {isLeftOpen && <p>Its process has ended, and no result was recorded.</p>}
      {lane.state === "waiting" && isLive && (
        <p>
          <a href={writeHash({ view: "questions" })}>Answer its question</a>
        </p>
      )}
      <Prose text={lane.summary} />
      <p class="quiet">
        <Mono text={lane.tool_call_id} />{" "}
        <CopyButton text={lane.tool_call_id} what="the id of the call" />
      </p>
      <Times lane={lane} isLive={isLive} until={Date.parse(session?.updated_at ?? "")} />
      {is.length > 0 && <p class="quiet">It is {is.join(", ")}.</p>}
    </header>
  );
}

function Times({ lane, isLive, until }: { lane: Lane; isLive: boolean; until: number }) {
  const { spans, state, yielded_at } = lane;
  const now = useNow(isLive && state !== "ended", until);
  const open = isLive ? " so far" : " until the last fact on record";
  const rows = [
    ...spans.slice(0, 1).map(([, from]) => ["Asked for", instantText(from)]),
    ...sumPhases(spans, now).map(({ name, ms, is_open }) => [
      name,
      `${durationText(ms)}${is_open ? open : ""}`,
    ]),
    ...(yielded_at === undefined ? [] : [["Sent to the model", clockText(yielded_at)]]),
  ];
  return (
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
  const children = [
    ...child_runs.map((child) => ({ kind: "Run", id: child, to: { run_id: child } })),
    ...child_calls.map((id) => ({ kind: "Call", id, to: { run_id, tool_call_id: id } })),
  ];
  return (
    <ul>
      {children.map(({ kind, id, to }) => (
        <li key={id}>
          <a href={linkToTimeline({ session_id, ...to })}>
            {kind} <Mono text={id} />
          </a>
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
