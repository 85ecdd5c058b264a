// The sections at the top of the home: what runs, what waits for the user, what failed, and what today cost.

import { visibleLine } from "@soong/core";
import { describeQuestion } from "@soong/core/internal";
import type { ComponentChildren } from "preact";
import type { Question } from "../../wire/home-records.ts";
import type { Doing, HomeOverview } from "../../wire/overview-records.ts";
import type { SessionRow } from "../../wire/session-records.ts";
import { useInspector } from "../app/inspector.ts";
import { Table, useFirst } from "../parts/list.tsx";
import { ageText } from "../parts/time.ts";
import { linkToSession, linkToTimeline, writeHash } from "../route/hash-route.ts";
import { findProject, lastPart } from "../sessions/session-list.tsx";
import { useStore } from "../state/store.ts";
import { writeQuestionKey } from "../questions/shown-questions.ts";
import { costNote, costText, elapsedText, tokensText, tokensTitle } from "./figures.ts";

const FIRST = 4;

export function Running(props: { running: HomeOverview["running"] | undefined; now: number }) {
  const { running, now } = props;
  const [shown, more] = useFirst(running ?? [], FIRST, "running sessions");
  return (
    <Section
      title="Running now"
      count={running?.length}
      empty={
        <>
          Nothing is running. Start with <code>soong run "…"</code>; it appears here.
        </>
      }
    >
      {shown.map(({ session, since, doing }) => (
        <li key={session.session_id}>
          <SessionLink session={session} />
          {doing.length === 0 && <p class="mark info">▶ working</p>}
          {doing.map((one) => (
            <p key={`${one.run_id} ${one.tool_call_id}`} class="doing">
              <DoingLine session_id={session.session_id} doing={one} now={now} />
            </p>
          ))}
          <p class="quiet">
            <Project session={session} /> · for {elapsedText(since, now)}
          </p>
        </li>
      ))}
      {more && <li>{more}</li>}
    </Section>
  );
}

function DoingLine(props: { session_id: string; doing: Doing; now: number }) {
  const { session_id, doing, now } = props;
  const { what, name, text, since, run_id, tool_call_id } = doing;
  const clock = <span class="quiet"> · {elapsedText(since, now)}</span>;
  if (what === "model") {
    return (
      <>
        <span class="mark info">▶ asking</span> {visibleLine(name)}
        {clock}
      </>
    );
  }
  const mark = what === "call" ? "mark info" : "mark waiting";
  return (
    <>
      <span class={mark}>{what === "call" ? "▶" : "? waiting for you:"}</span>{" "}
      <a class="mono" href={linkToTimeline({ session_id, run_id, tool_call_id })}>
        {visibleLine(name)}
      </a>{" "}
      <span class="mono">{visibleLine(text ?? "")}</span>
      {clock}
    </>
  );
}

export function Waiting({ now }: { now: number }) {
  const { home, about } = useInspector();
  const state = useStore(home);
  const questions = state?.questions ?? [];
  const [shown, more] = useFirst(questions, FIRST, "questions");
  return (
    <Section
      title="Waiting for you"
      count={state && questions.length}
      look="waiting"
      empty={
        about.can.answer
          ? "No questions. Calls that require approval ask here while this page is open."
          : "This inspector is not connected to live runtimes."
      }
    >
      {shown.map((question) => (
        <li key={writeQuestionKey(question)}>
          <p>
            {describeAsked(question)}
            <span class="quiet"> · {elapsedText(question.asked_at, now)}</span>
          </p>
          <p class="quiet">
            {visibleLine(lastPart(question.project))} ·{" "}
            {visibleLine(nameSession(state?.sessions ?? [], question.session_id))}
          </p>
        </li>
      ))}
      {more && <li>{more}</li>}
      {shown.length > 0 && (
        <li>
          <a class="button primary" href={linkToAnswer(questions)}>
            {questions.length === 1 ? "Answer it" : `Answer ${questions.length} questions`}
          </a>
        </li>
      )}
    </Section>
  );
}

function linkToAnswer([first, ...others]: readonly Question[]): string {
  const question_id = others.length === 0 ? first?.question_id : undefined;
  return writeHash({ view: "questions", question_id });
}

function describeAsked(question: Question): string {
  if (question.kind === "permission") return describeQuestion(question.request);
  return visibleLine(`${question.request.tool_name} asks: ${question.request.message}`);
}

function nameSession(sessions: readonly SessionRow[], session_id: string): string {
  return sessions.find((row) => row.session_id === session_id)?.title ?? session_id;
}

export function Failed(props: { failed: readonly SessionRow[] | undefined; now: number }) {
  const { failed, now } = props;
  const [shown, more] = useFirst(failed ?? [], FIRST, "failed sessions");
  return (
    <Section
      title="Failed lately"
      count={failed?.length}
      look="bad"
      empty="Nothing failed in the last 24 hours."
    >
      {shown.map((session) => (
        <li key={session.session_id}>
          <SessionLink session={session} />
          <p class="reason">{visibleLine(session.summary?.reason ?? "No reason was recorded.")}</p>
          <p class="quiet">
            <Project session={session} /> · {ageText(Date.parse(session.updated_at), now)}
          </p>
        </li>
      ))}
      {more && <li>{more}</li>}
    </Section>
  );
}

export function Today(props: { used: HomeOverview["used"]; isLoading: boolean }) {
  const { used, isLoading } = props;
  return (
    <section class="card" aria-labelledby="home-today">
      <h2 id="home-today">Today</h2>
      {used === undefined || used.total.requests === 0 ? (
        <p class="quiet">{isLoading ? "Loading…" : "No model was asked today."}</p>
      ) : (
        <>
          <dl class="figures">
            <Figure name="Tokens" value={tokensText(used.total)} title={tokensTitle(used.total)} />
            <Figure name="Cost" value={costText(used.total)} title={costNote(used.total)} />
          </dl>
          {costNote(used.total) !== "" && <p class="quiet">{costNote(used.total)}</p>}
          {used.is_cut && <p class="quiet">Only the last 2,000 sessions are counted.</p>}
          <Table
            caption="Today, by project"
            head={["Project", "#Tokens", "#Cost"]}
            rows={used.projects}
            cells={({ project, sessions, usage }) => [
              <span
                title={`${project ?? ""} ${sessions} ${sessions === 1 ? "session" : "sessions"}`}
              >
                {visibleLine(lastPart(project ?? "no project"))}
              </span>,
              <span title={tokensTitle(usage)}>{tokensText(usage)}</span>,
              <span title={costNote(usage)}>{costText(usage)}</span>,
            ]}
          />
        </>
      )}
    </section>
  );
}

function Figure({ name, value, title }: { name: string; value: string; title: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd title={title}>{value}</dd>
    </div>
  );
}

function Section(props: {
  title: string;
  /** Undefined while that is not known. */
  count: number | undefined;
  look?: "waiting" | "bad";
  empty: ComponentChildren;
  children: ComponentChildren;
}) {
  const { title, count, look = "" } = props;
  const id = `home-${title.toLowerCase().replaceAll(" ", "-")}`;
  return (
    <section class={count ? `card ${look}` : "card"} aria-labelledby={id}>
      <h2 id={id}>
        {title}
        {count ? <span class="count">{count}</span> : null}
      </h2>
      {count === undefined && <p class="quiet">Loading…</p>}
      {count === 0 && <p class="quiet">{props.empty}</p>}
      {count ? <ul class="items">{props.children}</ul> : null}
    </section>
  );
}

function SessionLink({ session }: { session: SessionRow }) {
  const { session_id, title } = session;
  return (
    <a class="item-title" href={linkToSession(session_id)}>
      {visibleLine(title ?? session_id)}
    </a>
  );
}

function Project({ session }: { session: SessionRow }) {
  const project = findProject(session);
  return <span title={project}>{visibleLine(lastPart(project ?? "no project"))}</span>;
}
