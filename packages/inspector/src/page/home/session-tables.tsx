// Every session with what became of it, by filters that are part of the address; single calls apart from the rest.

import { visibleLine } from "@soong/core";
import { useState } from "preact/hooks";
import type { HomeOverview } from "../../wire/overview-records.ts";
import type { SessionStatus, SessionRow } from "../../wire/session-records.ts";
import { useInspector } from "../app/inspector.ts";
import { Button, LinkButton } from "../parts/button.tsx";
import { Select, TextInput } from "../parts/input.tsx";
import { SignMark } from "../parts/signs.tsx";
import { countText, Loaded, ProblemText } from "../parts/text.tsx";
import { instantText, momentText, recordedMoment } from "../parts/time.ts";
import { linkToSession, type HomeRoute } from "../route/hash-route.ts";
import { findProject, lastPart } from "../sessions/session-list.tsx";
import { costNote, costText, tokensText, tokensTitle, workedText } from "./figures.ts";
import { useSessionPages, type SessionPagesAsked } from "./session-pages.ts";

const STATUSES: Readonly<Record<SessionStatus, string>> = {
  running: "running",
  waiting_for_approval: "waiting for you",
  interrupted: "interrupted",
  done: "done",
  failed: "failed",
  empty: "empty",
  damaged: "damaged",
};

interface SessionTablesProps {
  route: HomeRoute;
  version: number;
  now: number;
  projects: HomeOverview["projects"];
}

export function SessionTables({ route, version, now, projects }: SessionTablesProps) {
  const { status, project, tool, text } = route;
  const filter = { status, project, tool, text };
  const [isOpen, setOpen] = useState(false);
  return (
    <section class="session-tables" aria-labelledby="home-sessions">
      <h2 id="home-sessions">Sessions</h2>
      <Filters route={route} projects={projects} />
      <SessionTable asked={{ filter, version, group: "conversations" }} now={now} />
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <h2>Single calls</h2>{" "}
          <span class="quiet">
            of <code>soong call</code> and the playground
          </span>
        </summary>
        {isOpen && <SessionTable asked={{ filter, version, group: "calls" }} now={now} />}
      </details>
    </section>
  );
}

function Filters({ route, projects }: Pick<SessionTablesProps, "route" | "projects">) {
  const { go } = useInspector();
  const { status = "", project = "", tool = "", text = "" } = route;
  const set = (change: Partial<HomeRoute>, how?: "replace") => go({ ...route, ...change }, how);
  const named = projects.flatMap((one) => (one.project === undefined ? [] : [one.project]));
  const known = named.includes(project) || project === "" ? named : [project, ...named];
  return (
    <div class="toolbar home-filters" role="group" aria-label="Filter the sessions">
      <TextInput
        type="search"
        aria-label="Title, project, model or id"
        placeholder="Title, project, model"
        value={text}
        onText={(typed) => set({ text: typed || undefined }, "replace")}
      />
      <Select
        label="Status"
        value={status}
        options={[["", "Any status"], ...Object.entries(STATUSES)]}
        onChoose={(chosen) => set({ status: chosen || undefined })}
      />
      <Select
        label="Project"
        value={project}
        options={[
          ["", "Any project"],
          ...known.map((path) => [path, visibleLine(lastPart(path))] as const),
        ]}
        onChoose={(chosen) => set({ project: chosen || undefined })}
      />
      <TextInput
        type="search"
        aria-label="Tool that was called"
        placeholder="Tool"
        value={tool}
        onText={(typed) => set({ tool: typed || undefined }, "replace")}
      />
      {[status, project, tool, text].some((one) => one !== "") && (
        <Button onClick={() => go({ view: "home" })}>Clear filters</Button>
      )}
    </div>
  );
}

function SessionTable({ asked, now }: { asked: SessionPagesAsked; now: number }) {
  const { list, first, problem, isLoadingMore, loadMore } = useSessionPages(asked);
  const { group, filter } = asked;
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const { sessions = [], next, searched_to } = list ?? {};
  return (
    <div aria-busy={first.is_loading}>
      <Loaded from={first} what="the sessions" />
      {sessions.length > 0 && <Rows sessions={sessions} now={now} group={group} />}
      {list !== undefined && sessions.length === 0 && next === undefined && (
        <p class="quiet">{describeNone(group, isFiltered)}</p>
      )}
      <ProblemText text={problem} />
      {next !== undefined && (
        <p>
          {searched_to !== undefined && `Searched back to ${recordedMoment(searched_to)}. `}
          <LinkButton disabled={isLoadingMore} onClick={loadMore}>
            {isLoadingMore ? "Loading…" : searched_to === undefined ? "Show more" : "Continue"}
          </LinkButton>
        </p>
      )}
    </div>
  );
}

function describeNone(group: SessionPagesAsked["group"], isFiltered: boolean): string {
  if (isFiltered) return group === "calls" ? "No single call matches." : "No session matches.";
  return group === "calls"
    ? "No single calls yet. `soong call TOOL` makes one, and so does the playground."
    : "No conversations yet. `soong run` starts one.";
}

function Rows(props: {
  sessions: readonly SessionRow[];
  now: number;
  group: SessionPagesAsked["group"];
}) {
  const isCalls = props.group === "calls";
  return (
    <table class="table home-table">
      <caption class="unseen">{isCalls ? "Single calls" : "Sessions"}, last used first</caption>
      <thead>
        <tr>
          <th scope="col">Session</th>
          <th scope="col" class="wide">
            Project
          </th>
          <th scope="col">Status</th>
          <th scope="col" class="roomy">
            Model
          </th>
          <th scope="col">Started</th>
          <th scope="col" class="number roomy">
            Duration
          </th>
          <th scope="col" class="number roomy">
            Tokens
          </th>
          <th scope="col" class="number roomy">
            Calls
          </th>
          <th scope="col" class="number">
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {props.sessions.map((session) => (
          <Row key={session.session_id} session={session} now={props.now} />
        ))}
      </tbody>
    </table>
  );
}

const NONE = <span class="quiet">–</span>;

function Row({ session, now }: { session: SessionRow; now: number }) {
  const { session_id, title, created_at, summary } = session;
  const project = findProject(session);
  const place = visibleLine(lastPart(project ?? "no project"));
  const usage = summary?.usage;
  const failed = summary?.failed_calls ?? 0;
  return (
    <tr>
      <th scope="row">
        <a href={linkToSession(session_id)}>{visibleLine(title ?? session_id)}</a>
        <span class="session-about">{describeKind(session)}</span>
        <span class="session-about narrow">{place}</span>
      </th>
      <td class="wide" title={project}>
        {place}
      </td>
      <td>{summary ? <SignMark state={summary.status} /> : NONE}</td>
      <td class="roomy" title={summary?.model}>
        {summary?.model === undefined ? NONE : visibleLine(summary.model)}
      </td>
      <td>
        <time dateTime={created_at} title={instantText(Date.parse(created_at))}>
          {momentText(Date.parse(created_at), now)}
        </time>
      </td>
      <td class="number roomy">{workedText(session, now) || NONE}</td>
      <td class="number roomy" title={usage && tokensTitle(usage)}>
        {(usage && tokensText(usage)) || NONE}
      </td>
      <td class="number roomy">
        {summary?.calls ? countText(summary.calls) : NONE}
        {failed > 0 && <span class="problem"> ✕ {countText(failed)} failed</span>}
      </td>
      <td class="number" title={usage && costNote(usage)}>
        {(usage && costText(usage)) || NONE}
      </td>
    </tr>
  );
}

function describeKind({ summary }: SessionRow): string {
  if (summary?.worker_of !== undefined) {
    const { step_id, task_id } = summary.worker_of;
    return visibleLine(`worker of ${step_id} in ${task_id}`);
  }
  return summary?.kind === "gateway" ? "gateway" : "";
}
