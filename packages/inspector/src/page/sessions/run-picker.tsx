// Which run of a session is looked at, for views that are about one.

import { visibleLine } from "@soong/core";
import type { RunRow } from "../../wire/session-records.ts";
import { useInspector } from "../app/inspector.ts";
import { Select } from "../parts/input.tsx";
import { runSign } from "../parts/signs.tsx";
import { spacedText } from "../parts/text.tsx";
import type { SessionRoute } from "../route/hash-route.ts";
import type { SessionModel } from "../state/session-model.ts";

/** `all`: the words for no run in particular, where that can be chosen. */
export function RunPicker(props: { model: SessionModel; route: SessionRoute; all?: string }) {
  const { go } = useInspector();
  const { model, route, all } = props;
  const { view, session_id, tab, run_id } = route;
  const isLive = model.session?.live !== undefined;
  const runs = runsInOrder(model).map(
    (run) => [run.run_id, `${runName(run)} · ${runSign(run, isLive).word}`] as const,
  );
  return (
    <label class="run-picker">
      Run{" "}
      <Select
        value={(all === undefined ? runShown(model, run_id) : run_id) ?? ""}
        options={all === undefined ? runs : [["", all], ...runs]}
        onChoose={(chosen) =>
          go({ view, session_id, tab, run_id: chosen === "" ? undefined : chosen }, "replace")
        }
      />
    </label>
  );
}

/** The one of the address, else the last one that the user started. */
export function runShown(model: SessionModel, run_id: string | undefined): string | undefined {
  if (run_id !== undefined) return run_id;
  const runs = runsInOrder(model);
  return (runs.findLast((run) => run.parent_run_id === undefined) ?? runs[0])?.run_id;
}

export function runsInOrder({ runs }: Pick<SessionModel, "runs">): readonly RunRow[] {
  return [...runs.values()].toSorted((a, b) => a.seq - b.seq);
}

/** By what it was started as, and what for; ids only where there is nothing else. */
export function runName({ title, role, agent_definition_id, agent_id }: RunRow): string {
  const name = visibleLine(title ?? agent_id);
  const who = agent_definition_id ?? role;
  // The title of a worker's run begins with the worker.
  return who === undefined || role === "worker" ? name : `${spacedText(who)}: ${name}`;
}
