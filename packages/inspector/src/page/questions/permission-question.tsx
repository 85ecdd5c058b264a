// A permission question with everything it carries (PERM-6): what would be done, where, by whom it is wanted, why it is
// asked, and what each answer would cover.

import { CutText, Mono, Prose } from "../parts/text.tsx";
import { Button, LinkButton } from "../parts/button.tsx";
import { visibleJson, visibleLine, type PermissionRequest } from "@soong/core";
import { exactLine } from "@soong/core/internal";
import { Pair } from "../parts/table.tsx";
import { useState } from "preact/hooks";
import type { Question } from "../../wire/index.ts";
import { DecisionChain } from "../call/call-decisions.tsx";
import { JsonCode } from "../call/json-code.tsx";
import { PreviewView } from "../call/preview.tsx";
import { shellWord } from "../call/words.ts";
import { JsonTree } from "../parts/json-tree.tsx";
import { timelineHash } from "../route/hash-route.ts";
import { Answers, permissionChoices, WaitingSince, type QuestionParts } from "./question-parts.tsx";

export function PermissionQuestion(
  props: QuestionParts & { question: Extract<Question, { kind: "permission" }> },
) {
  const { question } = props;
  const { request } = question;
  return (
    <>
      <header class="question-head">
        <h3>
          <span class="mono">{exactLine(request.tool_name)}</span> asks for permission
        </h3>
        <p>
          <span class="chip">{request.permission === "write" ? "✎ write" : "readonly"}</span>{" "}
          {request.dangerous && <span class="chip mark-danger">⚠ dangerous</span>}{" "}
          {request.destructive && <span class="chip mark-danger">⚠ destructive</span>}{" "}
          <WaitingSince asked_at={question.asked_at} />
        </p>
        <Prose text={request.description} isQuiet />
      </header>
      {request.preview !== undefined && <PreviewView preview={request.preview} />}
      <details open={request.preview === undefined}>
        <summary>Arguments</summary>
        <JsonCode value={request.arguments} label="Arguments" />
      </details>
      <About question={question} />
      <PermissionAnswers request={request} {...props} />
    </>
  );
}

function About(props: { question: Extract<Question, { kind: "permission" }> }) {
  const { session_id, project, pid, request } = props.question;
  const hosts = request.network_hosts === "unknown" ? ["an unknown host"] : request.network_hosts;
  return (
    <dl class="about">
      <Pair name="Asked because">
        {visibleLine(request.reason)}
        <details>
          <summary>All rules that were evaluated</summary>
          <DecisionChain chain={request.chain} />
        </details>
      </Pair>
      <Pair name="Works in">
        <span class="mono">{exactLine(request.cwd)}</span>
      </Pair>
      {request.resources.length > 0 && (
        <Pair name="Touches">
          <Listed items={request.resources.map(resourceText)} />
        </Pair>
      )}
      {hosts.length > 0 && (
        <Pair name="Network">
          <Listed items={hosts} />
        </Pair>
      )}
      {request.env_summary !== undefined && request.env_summary.length > 0 && (
        <Pair name="Environment">
          <Mono text={request.env_summary.join(", ")} />
        </Pair>
      )}
      {request.hook_results.length > 0 && (
        <Pair name="Hooks said">
          <JsonTree value={request.hook_results} label="What hooks said" open={2} />
        </Pair>
      )}
      <Pair name="Asked by">
        {whoText(request)}{" "}
        <a
          href={timelineHash({
            session_id,
            run_id: request.run_id,
            tool_call_id: request.tool_call_id,
          })}
        >
          See the call
        </a>
        <div class="quiet">
          in <Mono text={project} />, process {pid}, session <Mono text={session_id} />
        </div>
      </Pair>
      {request.tags.length > 0 && <Pair name="Tags">{visibleLine(request.tags.join(", "))}</Pair>}
      <Pair name="Bound to">
        <span class="mono" title={request.digest}>
          {visibleLine(request.digest.slice(0, 24))}
        </span>{" "}
        <span class="quiet">the call is refused if its plan has changed by then</span>
      </Pair>
    </dl>
  );
}

const MOST_ITEMS = 30;

function Listed(props: { items: readonly string[] }) {
  const { items } = props;
  const [limit, setLimit] = useState(MOST_ITEMS);
  return (
    <ul class="plain mono">
      {items.slice(0, limit).map((item, index) => (
        <li key={index}>
          <CutText text={exactLine(item)} exact />
        </li>
      ))}
      {items.length > limit && (
        <li>
          <LinkButton onClick={() => setLimit(items.length)}>
            … and {items.length - limit} more
          </LinkButton>
        </li>
      )}
    </ul>
  );
}

function resourceText(resource: PermissionRequest["resources"][number]): string {
  switch (resource.kind) {
    case "path":
      return `${resource.access} ${resource.path}${resource.sensitive === true ? " (sensitive)" : ""}`;
    case "command":
      return `run ${resource.executable} as ${resource.argv.map(shellWord).join(" ")}`;
    case "host":
      return `connect to ${resource.host}`;
  }
}

function whoText({ role, agent_id, parent_agent_id, parent_run_id }: PermissionRequest): string {
  const by =
    parent_agent_id === undefined
      ? ""
      : `, started by ${parent_agent_id}${parent_run_id === undefined ? "" : ` (${parent_run_id})`}`;
  return visibleLine(
    role === "main" ? `the main agent ${agent_id}` : `the ${role} agent ${agent_id}${by}`,
  );
}

const ALWAYS = [
  { where: "project", name: "Always in this project" },
  { where: "everywhere", name: "Always, in every project" },
] as const;

function ruleText(rule: NonNullable<PermissionRequest["always_rule"]>): string {
  return Object.entries(rule)
    .map(([key, value]) => `${key} = ${visibleJson(value)}`)
    .join("\n");
}

function PermissionAnswers(props: QuestionParts & { request: PermissionRequest }) {
  const { request, is_sending } = props;
  const [reason, setReason] = useState("");
  const why = reason.trim() === "" ? {} : { reason: reason.trim() };
  return (
    <Answers {...props} choices={permissionChoices(request, reason)}>
      {request.always_rule !== undefined && (
        <details>
          <summary>Always allow this</summary>
          <p>This rule is added to your own config, not to the project:</p>
          <pre class="code">{ruleText(request.always_rule)}</pre>
          {ALWAYS.map(({ where, name }) => (
            <Button
              key={where}
              aria-disabled={is_sending}
              onClick={() =>
                props.onClick({ decision: "allow_for_session", always: { where }, ...why })
              }
            >
              {name}
            </Button>
          ))}
        </details>
      )}
      {request.scopes.length === 0 && <p class="quiet">{visibleLine(request.session_scope)}</p>}
      <p class="quiet">
        Suggested: {request.suggested_decision === "deny" ? "deny" : "allow once"}.
      </p>
      <label class="field">
        <span>
          Reason, which the model reads (optional) <kbd>r</kbd>
        </span>
        <input
          type="text"
          class="reason"
          autocomplete="off"
          value={reason}
          readOnly={is_sending}
          onInput={(event) => setReason(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            event.currentTarget.closest<HTMLElement>(".question")?.focus();
          }}
        />
      </label>
    </Answers>
  );
}
