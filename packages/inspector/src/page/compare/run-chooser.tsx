// Which run is compared: a session of those used last, and a run of it.

import { visibleLine } from "@soong/core";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { Select } from "../parts/input.tsx";
import { ProblemText } from "../parts/text.tsx";
import { momentText } from "../parts/time.ts";
import type { RunPlace } from "../route/hash-route.ts";
import { runName } from "../sessions/run-picker.tsx";
import { useStore } from "../state/store.ts";

export function RunChooser(props: {
  name: string;
  place: RunPlace | undefined;
  onPlace: (place: RunPlace) => void;
}) {
  const { name, place, onPlace } = props;
  const { session_id = "", run_id = "" } = place ?? {};
  const sessions = useStore(useInspector().home, (home) => home?.sessions) ?? [];
  const runs = useAnswer(
    "GET /api/sessions/:session_id/runs",
    { path: { session_id } },
    { isPaused: session_id === "" },
  );
  const known = sessions.map(
    ({ session_id, title, updated_at }) =>
      [
        session_id,
        `${visibleLine(title ?? session_id)} · ${momentText(Date.parse(updated_at), Date.now())}`,
      ] as const,
  );
  const isListed = session_id === "" || known.some(([id]) => id === session_id);
  return (
    <fieldset class="run-chooser">
      <legend>{name}</legend>
      <Select
        label={`Session of the ${name.toLowerCase()}`}
        value={session_id}
        options={[
          ["", "Choose a session"],
          ...(isListed ? [] : [[session_id, visibleLine(session_id)] as const]),
          ...known,
        ]}
        onChoose={(session_id) => onPlace({ session_id })}
      />
      <Select
        label={name}
        value={run_id}
        options={[
          ["", "Choose a run"],
          ...(runs.value?.runs ?? []).map((run) => [run.run_id, runName(run)] as const),
        ]}
        onChoose={(run_id) => onPlace({ session_id, run_id: run_id === "" ? undefined : run_id })}
      />
      <ProblemText text={runs.problem} />
    </fieldset>
  );
}
