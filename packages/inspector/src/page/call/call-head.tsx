// The head of a call: what it is, its state, when and how long.

import { Mono, Prose } from "../parts/text.tsx";
import type { CallStory, Lane } from "../../wire/index.ts";
import { useInspector } from "../app/context.ts";
import { clockText, durationText, instantText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";
import { hashOf } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { useNow } from "../parts/use-time.ts";
import { CopyButton } from "./copy-button.tsx";
import { phasesOf } from "../timeline/spans.tsx";
import { SignMark } from "../parts/signs.tsx";

export function CallHead(props: { story: CallStory }) {
  const { story } = props;
  const { lane } = story;
  const session = useStore(useInspector().session, (model) => model?.session);
  const isLive = session?.live !== undefined;
  const isLeftOpen = lane.state !== "ended" && !isLive;
  return (
    <header class="call-head">
      <h2 class="mono">{visibleLine(lane.tool_name)}</h2>
      <p>
        <SignMark state={lane.outcome ?? (isLeftOpen ? "left_open" : lane.state)} />
        {story.native_name !== undefined && story.native_name !== lane.tool_name && (
          <span class="quiet">
            {" "}
            called as <Mono text={story.native_name} />
          </span>
        )}
      </p>
      {isLeftOpen && <p>Its process has ended, and no result was recorded.</p>}
      {lane.state === "waiting" && isLive && (
        <p>
          <a href={hashOf({ view: "questions" })}>Answer its question</a>
        </p>
      )}
      <Prose text={lane.summary} />
      <p class="quiet">
        <Mono text={lane.tool_call_id} />{" "}
        <CopyButton text={lane.tool_call_id} what="the id of the call" />
      </p>
      <Times lane={lane} isLive={isLive} until={Date.parse(session?.updated_at ?? "")} />
      <Effects effects={story.effects ?? {}} />
    </header>
  );
}

function Times(props: { lane: Lane; isLive: boolean; until: number }) {
  const { lane, isLive, until } = props;
  const [first] = lane.spans;
  const now = useNow(isLive && lane.state !== "ended", until);
  const phases = phasesOf(lane.spans, now);
  return (
    <table class="table phases" aria-label="When and how long">
      <tbody>
        {first !== undefined && (
          <tr>
            <th scope="row">Asked for</th>
            <td>{instantText(first[1])}</td>
          </tr>
        )}
        {phases.map(({ kind, name, ms, is_open }) => (
          <tr key={kind}>
            <th scope="row">{name}</th>
            <td>
              {durationText(ms)}
              {is_open && (isLive ? " so far" : " until the last fact on record")}
            </td>
          </tr>
        ))}
        {lane.yielded_at !== undefined && (
          <tr>
            <th scope="row">Sent to the model</th>
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
