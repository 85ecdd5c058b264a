// The view while no session is chosen: what is live now, and what waits for an answer.

import { visibleLine } from "@soong/core";
import type { HomeState } from "../../wire/home-records.ts";
import { Table } from "../parts/list.tsx";
import { Mono } from "../parts/text.tsx";
import { recordedMoment } from "../parts/time.ts";
import { writeHash, linkToTimeline } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { useInspector } from "./inspector.ts";

export function Welcome() {
  const state = useStore(useInspector().home);
  return (
    <section class="view welcome">
      <h1>Sessions</h1>
      {state === undefined ? <p class="quiet">Loading sessions…</p> : <Home state={state} />}
    </section>
  );
}

function Home({ state: { sessions, questions } }: { state: HomeState }) {
  const { about } = useInspector();
  if (sessions.length === 0) {
    return (
      <p>
        No session is kept in <span class="mono">{about.home}</span> yet. Start one with{" "}
        <code>soong run</code>; it appears here automatically. <code>soong demo</code> makes one to
        look at, in a separate home.
      </p>
    );
  }
  const live = sessions.filter((session) => session.live !== undefined);
  return (
    <>
      {questions.length > 0 && (
        <p>
          <a href={writeHash({ view: "questions" })}>
            {questions.length === 1 ? "A call is" : `${questions.length} calls are`} waiting for
            your answer
          </a>{" "}
          (<kbd>q</kbd>)
        </p>
      )}
      <h2>Live now</h2>
      {live.length === 0 ? (
        <p class="quiet">
          Nothing is running. Choose a session at the left, or start one with <code>soong run</code>
          : it appears here automatically. Press <kbd>?</kbd> for the keys.
        </p>
      ) : (
        <Table
          head={["Session", "Project", "Process", "Runs", "Last fact"]}
          rows={live}
          cells={({ session_id, title, live, updated_at }) => [
            <a href={linkToTimeline({ session_id })}>{visibleLine(title ?? session_id)}</a>,
            <Mono text={live?.project} />,
            live?.pid,
            live?.runs.map(({ role }) => visibleLine(role)).join(", "),
            recordedMoment(updated_at),
          ]}
        />
      )}
    </>
  );
}
