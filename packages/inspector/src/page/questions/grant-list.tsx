// What was granted for live sessions, and taking it back.

import { visibleLine } from "@soong/core";
import type { GrantRow } from "../../wire/home-records.ts";
import { useAction } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { ConfirmButton } from "../parts/button.tsx";
import { Mono, ProblemText } from "../parts/text.tsx";
import { recordedMoment } from "../parts/time.ts";
import { linkToTimeline } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";

export function GrantList() {
  const grants = useStore(useInspector().home, (state) => state?.grants) ?? [];
  if (grants.length === 0) return <p class="quiet">Nothing is granted for a session.</p>;
  return (
    <ul class="grants">
      {grants.map((grant) => (
        <li key={`${grant.session_id} ${grant.grant_id}`} class="card">
          <Grant grant={grant} />
        </li>
      ))}
    </ul>
  );
}

function Grant({ grant }: { grant: GrantRow }) {
  const { session_id, grant_id, tool_name } = grant;
  const { api, announce } = useInspector();
  const { problem, run } = useAction();
  const revoke = () =>
    run(async () => {
      await api.ask("DELETE /api/grants/:grant_id", { path: { grant_id }, query: { session_id } });
      announce(`Revoked: ${tool_name}.`);
      // It goes from the list, and the focus with it.
      document.getElementById("main")?.focus();
    });

  return (
    <>
      <p>
        <strong class="mono">{visibleLine(tool_name)}</strong> — {visibleLine(grant.covers)}
      </p>
      <p class="quiet">
        Granted by {visibleLine(grant.granted_by)} at {recordedMoment(grant.granted_at)} in{" "}
        <Mono text={grant.project} />, process {grant.pid}, session <Mono text={session_id} />.{" "}
        <a href={linkToTimeline({ session_id, tool_call_id: grant.tool_call_id })}>
          The call that required approval
        </a>
      </p>
      <ProblemText text={problem} />
      <ConfirmButton
        name="Revoke…"
        label={`Revoke the grant for ${tool_name}`}
        question="Such calls will require approval again."
        yes="Revoke it"
        focus="yes"
        busy="Revoking…"
        done="Revoked."
        onConfirm={revoke}
      />
    </>
  );
}
