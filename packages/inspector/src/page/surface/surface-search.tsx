// The search the model has, with the score and the reasons, and whether the model would find each tool by it.

import { Table } from "../parts/table.tsx";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { SurfaceTool } from "../../wire/index.ts";
import { useAnswer } from "../api/use-answer.ts";
import { LoadState } from "../parts/loading.tsx";
import { visibleLine } from "@soong/core";

const PAUSE_MS = 250;
const MOST_MATCHES = 100;

export function SurfaceSearch(props: {
  session_id: string;
  run_id: string;
  tools: readonly SurfaceTool[];
}) {
  const { session_id, run_id } = props;
  const [typed, setTyped] = useState("");
  const [query, setQuery] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setQuery(typed.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const loaded = useAnswer(
    "GET /api/sessions/:session_id/runs/:run_id/search",
    { path: { session_id, run_id }, query: { q: query } },
    { subject: query, isPaused: query === "" },
  );
  const states = useMemo(
    () => new Map(props.tools.map(({ tool_name, state }) => [tool_name, state])),
    [props.tools],
  );
  const matches = query === "" ? undefined : loaded.value?.matches;
  return (
    <section class="surface-search" aria-label="The model's search">
      <label class="field">
        Search as the model does
        <input
          type="search"
          value={typed}
          placeholder="a query of the model"
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      {query !== "" && <LoadState loaded={loaded} what="what is found" />}
      {matches !== undefined && (
        <p role="status" class="quiet">
          {matches.length === 0 ? "Nothing found." : `${matches.length} found, best first.`}
        </p>
      )}
      {matches !== undefined && matches.length > 0 && (
        <Table head={["Tool", "#Score", "Because", "The model"]}>
          {matches.slice(0, MOST_MATCHES).map((match) => (
            <tr key={match.tool_name}>
              <td class="mono">{visibleLine(match.tool_name)}</td>
              <td class="number">{match.score.toFixed(2)}</td>
              <td>{visibleLine(match.reasons.join(", "))}</td>
              <td>{foundText(match.is_found_by_model, states.get(match.tool_name))}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

function foundText(isFound: boolean, state: string | undefined): string {
  if (isFound) return "✓ finds it here";
  if (state === "loaded") return "– has it loaded";
  if (state === "excluded") return "⊘ never sees it";
  return "– does not find it";
}
