// The head of a call: what it is, how it stands, when and how long.

import type { CallStory, Lane } from "../../wire/index.ts";
import { clockText, durationText } from "../parts/time-text.ts";
import { visible, visibleLine } from "../parts/visible.ts";
import { hashOf } from "../route/hash-route.ts";
import { CopyButton } from "./copy-button.tsx";
import { phasesOf } from "./phases.ts";
import { SignMark } from "./sign-mark.tsx";

export function CallHead(props: { story: CallStory }) {
  const { story } = props;
  const { lane } = story;
  return (
    <header class="call-head">
      <h2 class="mono">{visibleLine(lane.tool_name)}</h2>
      <p>
        <SignMark state={lane.outcome ?? lane.state} />
        {story.native_name !== undefined && story.native_name !== lane.tool_name && (
          <span class="quiet">
            {" "}
            called as <span class="mono">{visibleLine(story.native_name)}</span>
          </span>
        )}
      </p>
      {lane.state === "waiting" && (
        <p>
          <a href={hashOf({ view: "questions" })}>Answer its question</a>
        </p>
      )}
      {lane.summary !== undefined && <p class="prose">{visible(lane.summary)}</p>}
      <p class="quiet">
        <span class="mono">{visibleLine(lane.tool_call_id)}</span>{" "}
        <CopyButton text={lane.tool_call_id} what="the id of the call" />
      </p>
      <Times lane={lane} />
      <Effects effects={story.effects ?? {}} />
    </header>
  );
}

function Times(props: { lane: Lane }) {
  const { lane } = props;
  const [first] = lane.spans;
  const phases = phasesOf(lane.spans, Date.now());
  return (
    <table class="table phases" aria-label="When and how long">
      <tbody>
        {first !== undefined && (
          <tr>
            <th scope="row">Asked for</th>
            <td>{clockText(first[1])}</td>
          </tr>
        )}
        {phases.map(({ kind, name, ms, is_going_on }) => (
          <tr key={kind}>
            <th scope="row">{name}</th>
            <td>
              {durationText(ms)}
              {is_going_on && " so far"}
            </td>
          </tr>
        ))}
        {lane.yielded_at !== undefined && (
          <tr>
            <th scope="row">Told to the model</th>
            <td>{clockText(lane.yielded_at)}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Effects(props: { effects: Readonly<Record<string, boolean>> }) {
  const names = Object.entries(props.effects).flatMap(([name, is]) =>
    is ? [visibleLine(name.replaceAll("_", " "))] : [],
  );
  return names.length === 0 ? null : <p class="quiet">It is {names.join(", ")}.</p>;
}
