// What a call left behind and began: artifacts, progress, runs and calls within it, its facts.

import { CutText, Mono, sizeText } from "../parts/text.tsx";
import { LinkButton } from "../parts/button.tsx";
import { useState } from "preact/hooks";
import type { CallStory } from "../../wire/index.ts";
import { clockText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";
import { timelineHash, hashOf } from "../route/hash-route.ts";
import { ArtifactViewer } from "./artifact-viewer.tsx";

export function CallArtifacts(props: { story: CallStory }) {
  const [open, setOpen] = useState<string>();
  const { artifacts, session_id } = props.story;
  return (
    <ul class="artifact-list">
      {artifacts.map(({ artifact_id, name, media_type, size }) => (
        <li key={artifact_id}>
          <LinkButton
            aria-expanded={open === artifact_id}
            onClick={() => setOpen(open === artifact_id ? undefined : artifact_id)}
          >
            <span aria-hidden="true">{open === artifact_id ? "▾" : "▸"}</span>{" "}
            {visibleLine(name ?? artifact_id)}
          </LinkButton>{" "}
          <span class="quiet">
            {visibleLine(media_type)}, {sizeText(size)}
          </span>
          {open === artifact_id && (
            <ArtifactViewer session_id={session_id} artifact_id={artifact_id} />
          )}
        </li>
      ))}
    </ul>
  );
}

const MOST_ROWS = 50;

export function CallProgress(props: { progress: CallStory["progress"] }) {
  const [limit, setLimit] = useState(MOST_ROWS);
  const { progress } = props;
  // The last ones are what the user looks for.
  const shown = progress.slice(Math.max(0, progress.length - limit));
  return (
    <>
      {shown.length < progress.length && (
        <LinkButton onClick={() => setLimit(limit * 4)}>
          Show earlier ones: {progress.length - shown.length} are not shown
        </LinkButton>
      )}
      <ol class="progress">
        {shown.map(({ at, text }, index) => (
          <li key={index}>
            <span class="quiet mono">{clockText(at)}</span> <CutText text={text} />
          </li>
        ))}
      </ol>
    </>
  );
}

export function CallChildren(props: { story: CallStory }) {
  const { session_id, lane, child_runs, child_calls } = props.story;
  const { run_id } = lane;
  return (
    <ul>
      {child_runs.map((child) => (
        <li key={child}>
          <a href={timelineHash({ session_id, run_id: child })}>
            Run <Mono text={child} />
          </a>
        </li>
      ))}
      {child_calls.map((tool_call_id) => (
        <li key={tool_call_id}>
          <a href={timelineHash({ session_id, run_id, tool_call_id })}>
            Call <Mono text={tool_call_id} />
          </a>
        </li>
      ))}
    </ul>
  );
}

export function CallFacts(props: { session_id: string; seqs: readonly number[] }) {
  const [limit, setLimit] = useState(MOST_ROWS);
  const { session_id, seqs } = props;
  return (
    <p class="fact-links">
      {seqs.slice(0, limit).map((seq) => (
        <a key={seq} class="mono" href={hashOf({ view: "session", session_id, tab: "facts", seq })}>
          #{seq}
        </a>
      ))}
      {seqs.length > limit && (
        <LinkButton onClick={() => setLimit(limit * 4)}>{seqs.length - limit} more</LinkButton>
      )}
    </p>
  );
}
