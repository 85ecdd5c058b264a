// What was granted for the session in the live runtimes, and the way to take it back.

import { useAction } from "../api/use-action.ts";
import { Mono } from "../parts/text.tsx";
import { ConfirmButton } from "../parts/button.tsx";
import type { GrantRow } from "../../wire/index.ts";
import { useInspector } from "../app/context.ts";
import { ProblemText } from "../parts/loading.tsx";
import { momentText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";
import { timelineHash } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";

export function GrantList() {
  const { home } = useInspector();
  const grants = useStore(home, (state) => state?.grants);
  if (grants === undefined || grants.length === 0) {
    return <p class="quiet">Nothing is granted for a session.</p>;
  }
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

function Grant(props: { grant: GrantRow }) {
  const { grant } = props;
  const { session_id, grant_id } = grant;
  const { api, announce } = useInspector();
  const { problem, run } = useAction();
  const revoke = () =>
    run(async () => {
      await api.ask("DELETE /api/grants/:grant_id", { path: { grant_id }, query: { session_id } });
      announce(`Revoked: ${grant.tool_name}.`);
      // It goes from the list, and the focus with it.
      document.getElementById("main")?.focus();
    });

  return (
    <>
      <p>
        <strong class="mono">{visibleLine(grant.tool_name)}</strong> — {visibleLine(grant.covers)}
      </p>
      <p class="quiet">
        Granted by {visibleLine(grant.granted_by)} at{" "}
        {momentText(Date.parse(grant.granted_at), Date.now())} in <Mono text={grant.project} />,
        process {grant.pid}, session <Mono text={session_id} />.{" "}
        <a href={timelineHash({ session_id, tool_call_id: grant.tool_call_id })}>
          The call that required approval
        </a>
      </p>
      {problem !== undefined && <ProblemText text={problem} />}
      <ConfirmButton
        name="Revoke…"
        label={`Revoke the grant for ${grant.tool_name}`}
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
