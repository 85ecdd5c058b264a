// How many calls of all recorded runs would be decided differently, by tool and project, each leading to the latest of them.

import { visibleLine } from "@soong/core";
import type { CallRef, WhatIfGroup } from "../../wire/policy-records.ts";
import { LinkButton } from "../parts/button.tsx";
import { Table, useFirst } from "../parts/list.tsx";
import { SignMark } from "../parts/signs.tsx";
import { countText, Mono } from "../parts/text.tsx";
import { recordedMoment } from "../parts/time.ts";
import { linkToTimeline } from "../route/hash-route.ts";
import { countNow, type AllRuns } from "./all-runs.ts";

const FIRST_GROUPS = 50;

export function AllRunsReport(props: { all: AllRuns; isRunning: boolean; onContinue: () => void }) {
  const { all, isRunning } = props;
  const { runs, groups, unchanged, since = "" } = all;
  const counts = countNow(groups);
  const changed = counts.allow + counts.ask + counts.deny;
  const sorted = groups.toSorted((a, b) => b.count - a.count);
  const [shown, more] = useFirst(sorted, FIRST_GROUPS, "groups");
  return (
    <section aria-label="All recorded runs">
      <p role="status">
        {countText(runs)} {runs === 1 ? "run" : "runs"}
        {since !== "" && ` since ${recordedMoment(since)}`}
        {isRunning ? " so far" : ""}: <strong>{countText(changed)}</strong>{" "}
        {changed === 1 ? "call" : "calls"} decided differently ({countText(counts.allow)} now
        allowed, {countText(counts.ask)} now asked, {countText(counts.deny)} now denied),{" "}
        {countText(unchanged)} as they were.
      </p>
      {Object.entries(all.skipped).map(([why, count]) => (
        <p key={why} class="quiet">
          {countText(count)} not decided again: {visibleLine(why)}.
        </p>
      ))}
      {shown.length > 0 && (
        <Table
          class="what-if-groups"
          caption="Calls that would be decided differently"
          head={["Tool", "Project", "Was", "Now", "#Calls", "Latest"]}
          rows={shown}
          cells={(group) => [
            <Mono text={group.tool_name} />,
            <Mono text={group.project} />,
            <SignMark state={group.was} />,
            <SignMark state={group.now} />,
            countText(group.count),
            <CallLinks calls={group.latest} />,
          ]}
        />
      )}
      {more}
      {!isRunning && all.next !== undefined && (
        <p>
          Older runs were not looked at.{" "}
          <LinkButton onClick={props.onContinue}>Continue with older runs</LinkButton>
        </p>
      )}
    </section>
  );
}

export function CallLinks({ calls }: { calls: readonly CallRef[] }) {
  return (
    <ul class="call-links">
      {calls.map((call) => (
        <li key={`${call.run_id} ${call.tool_call_id}`}>
          <a href={linkToTimeline(call)}>
            {recordedMoment(call.at)}
            <span class="unseen"> {visibleLine(call.tool_name)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** What an allow would have allowed, in words; undefined where nothing. */
export function describeAllowed(groups: readonly WhatIfGroup[]): string | undefined {
  const allowed = groups.filter(({ now }) => now === "allow");
  if (allowed.length === 0) return undefined;
  const sum = (of: readonly WhatIfGroup[]) => of.reduce((total, { count }) => total + count, 0);
  const tools = [...new Set(allowed.map(({ tool_name }) => tool_name))].map(visibleLine);
  const count = sum(allowed);
  const denied = sum(allowed.filter(({ was }) => was === "deny"));
  const projects = new Set(allowed.map(({ project }) => project)).size;
  const where = projects === 1 ? "one project" : `${projects} projects`;
  const also = denied === 0 ? "" : `, ${countText(denied)} of which were denied`;
  return `${countText(count)} recorded ${count === 1 ? "call" : "calls"} of ${tools.join(", ")} in ${where}${also}`;
}
