// The plan as a table: the same steps for those who do not look at drawings.

import type { StepRow } from "../../wire/index.ts";
import { SignMark } from "../call/sign-mark.tsx";
import { visibleLine } from "@soong/core";

export function PlanTable(props: {
  steps: readonly StepRow[];
  chosen: string | undefined;
  onChoose: (step_id: string) => void;
}) {
  return (
    <div class="plan-room">
      <table class="table">
        <caption class="unseen">The steps of the task</caption>
        <thead>
          <tr>
            <th>Step</th>
            <th>Status</th>
            <th>Depends on</th>
            <th>Tries</th>
            <th>Works on it</th>
          </tr>
        </thead>
        <tbody>
          {props.steps.map((step) => (
            <tr key={step.step_id} class={step.step_id === props.chosen ? "decisive" : undefined}>
              <td>
                <button
                  type="button"
                  class="link"
                  aria-pressed={step.step_id === props.chosen}
                  onClick={() => props.onChoose(step.step_id)}
                >
                  {visibleLine(step.title)}
                </button>
              </td>
              <td>
                <SignMark state={step.status} />
              </td>
              <td class="mono">{visibleLine(step.depends_on.join(", "))}</td>
              <td>
                {step.attempts} of {step.max_attempts}
              </td>
              <td class="mono">{visibleLine(step.claimed_by ?? "")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
