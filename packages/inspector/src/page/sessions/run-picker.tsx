// Which run of a session is looked at, where a view is about one.

import type { RunRow } from "../../wire/index.ts";
import { useInspector } from "../app/context.ts";
import { runSign } from "../parts/signs.tsx";
import { visibleLine } from "@soong/core";
import type { SessionRoute } from "../route/hash-route.ts";
import type { SessionModel } from "../state/session-model.ts";

/** `all`: the words for no run in particular, where that can be chosen. */
export function RunPicker(props: { model: SessionModel; route: SessionRoute; all?: string }) {
  const { go } = useInspector();
  const { model, route, all } = props;
  const shown = all === undefined ? runShown(model, route.run_id) : route.run_id;
  return (
    <label class="run-picker">
      Run{" "}
      <select
        value={shown ?? ""}
        onChange={(event) => {
          const { run_id: _, tool_call_id: __, seq: ___, ...rest } = route;
          const chosen = event.currentTarget.value;
          go(chosen === "" ? rest : { ...rest, run_id: chosen }, "replace");
        }}
      >
        {all !== undefined && <option value="">{all}</option>}
        {runsInOrder(model).map((run) => (
          <option key={run.run_id} value={run.run_id}>
            {runName(run)} · {runSign(run, model.session?.live !== undefined).word}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The one of the address, else the last one that the user started. */
export function runShown(model: SessionModel, run_id: string | undefined): string | undefined {
  if (run_id !== undefined) return run_id;
  const runs = runsInOrder(model);
  return (runs.findLast((run) => run.parent_run_id === undefined) ?? runs[0])?.run_id;
}

function runsInOrder(model: SessionModel): readonly RunRow[] {
  return [...model.runs.values()].toSorted((a, b) => a.seq - b.seq);
}

export function runName({ title, role, agent_id, run_id }: RunRow): string {
  const name = visibleLine(title ?? agent_id ?? run_id);
  return role === undefined ? name : `${role.replaceAll("_", " ")}: ${name}`;
}
