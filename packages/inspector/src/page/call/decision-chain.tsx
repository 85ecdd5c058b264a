// Every layer and rule that was looked at: what it said, why, and where it is written. The one that decided is marked.

import type { ChainEntry } from "@soong/core";
import { visibleLine } from "@soong/core";
import { SignMark } from "./sign-mark.tsx";
import { originText } from "./words.ts";

export function DecisionChain(props: { chain: readonly ChainEntry[] }) {
  if (props.chain.length === 0) return <p class="quiet">No rule was looked at.</p>;
  return (
    <table class="table chain">
      <thead>
        <tr>
          <th>Layer and rule</th>
          <th>Verdict</th>
          <th>Reason</th>
        </tr>
      </thead>
      <tbody>
        {props.chain.map((entry, index) => (
          <tr key={index} class={entry.decisive === true ? "decisive" : undefined}>
            <td>
              {visibleLine(entry.layer)}
              <div class="mono quiet">{visibleLine(entry.rule)}</div>
            </td>
            <td>
              <SignMark state={entry.verdict} />
              {entry.decisive === true && <div class="chip">◀ decides</div>}
              {entry.every_time === true && <div class="quiet">asked every time</div>}
            </td>
            <td>
              {visibleLine(entry.reason)}
              {entry.origin !== undefined && (
                <div class="mono quiet">{visibleLine(originText(entry.origin))}</div>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
