// One whole fact, as a tree.

import { Mono } from "../parts/text.tsx";
import { useAnswer } from "../api/use-answer.ts";
import { CloseButton } from "../parts/button.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { LoadState } from "../parts/loading.tsx";
import { timelineHash } from "../route/hash-route.ts";

export function FactDetails(props: { session_id: string; seq: number; onClose: () => void }) {
  const { session_id, seq } = props;
  const loaded = useAnswer("GET /api/sessions/:session_id/facts/:seq", {
    path: { session_id, seq: String(seq) },
  });
  const fact = loaded.value?.fact;
  return (
    <section class="side" aria-label={`Fact ${seq}`}>
      <div class="side-head">
        <h2>
          Fact {seq} {fact !== undefined && <Mono text={fact.type} />}
        </h2>
        <span class="gap" />
        <CloseButton onClose={props.onClose} />
      </div>
      <div class="side-body" tabIndex={0}>
        <LoadState loaded={loaded} what="the fact" />
        {fact?.run_id !== undefined && fact.tool_call_id !== undefined && (
          <p>
            <a
              href={timelineHash({
                session_id,
                run_id: fact.run_id,
                tool_call_id: fact.tool_call_id,
              })}
            >
              Its call in the timeline
            </a>
          </p>
        )}
        {fact !== undefined && <JsonTree value={fact} label={`Fact ${seq}`} open={2} />}
      </div>
    </section>
  );
}
