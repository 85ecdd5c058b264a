// The view while no session is chosen: what is live now, and what waits for an answer.

import { Table } from "../parts/table.tsx";
import type { HomeState, SessionRow } from "../../wire/index.ts";
import { momentText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";
import { timelineHash, hashOf } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { useInspector } from "./context.ts";

export function Welcome() {
  const { home } = useInspector();
  const state = useStore(home);
  return (
    <section class="view welcome">
      <h1>Sessions</h1>
      {state === undefined ? <p class="quiet">Loading sessions…</p> : <Home state={state} />}
    </section>
  );
}

function Home({ state }: { state: HomeState }) {
  const { about } = useInspector();
  if (state.sessions.length === 0) {
    return (
      <p>
        No session is kept in <span class="mono">{about.home}</span> yet. Start one with{" "}
        <code>soong run</code>; it appears here automatically. <code>soong demo</code> makes one to
        look at, in a separate home.
      </p>
    );
  }
  const live = state.sessions.filter((session) => session.live !== undefined);
  return (
    <>
      {state.questions.length > 0 && (
        <p>
          <a href={hashOf({ view: "questions" })}>
            {state.questions.length === 1
              ? "A call is waiting for your answer"
              : `${state.questions.length} calls are waiting for your answer`}
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
        <LiveTable sessions={live} />
      )}
    </>
  );
}

function LiveTable(props: { sessions: readonly SessionRow[] }) {
  return (
    <Table head={["Session", "Project", "Process", "Runs", "Last fact"]}>
      {props.sessions.map(({ session_id, title, live, updated_at }) => (
        <tr key={session_id}>
          <td>
            <a href={timelineHash({ session_id })}>{visibleLine(title ?? session_id)}</a>
          </td>
          <td class="mono">{visibleLine(live?.project ?? "")}</td>
          <td>{live?.pid}</td>
          <td>{live?.runs.map(({ role }) => visibleLine(role)).join(", ")}</td>
          <td>{momentText(Date.parse(updated_at), Date.now())}</td>
        </tr>
      ))}
    </Table>
  );
}
