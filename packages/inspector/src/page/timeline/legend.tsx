// What the bars of a timeline mean.

import type { SpanKind } from "../../wire/index.ts";
import { SPAN_WORDS } from "./bars.ts";

const KINDS: readonly SpanKind[] = ["arriving", "queued", "waiting", "executing", "holding"];

export function Legend() {
  return (
    <ul class="legend" aria-label="What a bar means">
      {KINDS.map((kind) => (
        <li key={kind}>
          <span class="legend-bar" aria-hidden="true">
            <span class={`bar ${kind}`} style={{ left: "0%", width: "100%" }} />
          </span>
          {SPAN_WORDS[kind]}
        </li>
      ))}
    </ul>
  );
}
