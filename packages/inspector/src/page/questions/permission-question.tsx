// A permission question with everything it carries (PERM-6): what would be done, where, by whom it is wanted, why it is
// asked, and what each answer would cover.

import { visibleJson, visibleLine, type PermissionRequest } from "@soong/core";
import { exactLine } from "@soong/core/internal";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { AnswerGiven, Question } from "../../wire/index.ts";
import { DecisionChain } from "../call/decision-chain.tsx";
import { JsonCode } from "../call/json-code.tsx";
import { PreviewView } from "../call/preview.tsx";
import { shellWord } from "../call/words.ts";
import { CutText } from "../parts/cut-text.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { ProblemText } from "../parts/loading.tsx";
import { hashOf } from "../route/hash-route.ts";
import type { QuestionParts } from "./question-parts.ts";
import { WaitingSince } from "./waiting-since.tsx";

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
          <span class="chip">{request.permission === "write" ? "✎ write" : "read only"}</span>{" "}
          {request.dangerous && <span class="chip mark-danger">⚠ dangerous</span>}{" "}
          {request.destructive && <span class="chip mark-danger">⚠ destructive</span>}{" "}
          <WaitingSince asked_at={question.asked_at} />
        </p>
        <p class="prose quiet">
          <CutText text={request.description} />
        </p>
      </header>
      {request.preview !== undefined && <PreviewView preview={request.preview} />}
      <details open={request.preview === undefined}>
        <summary>Arguments</summary>
        <JsonCode value={request.arguments} label="Arguments" />
      </details>
      <About question={question} />
      <Answers request={request} {...props} />
    </>
  );
}

function About(props: { question: Extract<Question, { kind: "permission" }> }) {
  const { session_id, project, pid, request } = props.question;
  const hosts =
    request.network_hosts === "unknown" ? ["a host that is not known"] : request.network_hosts;
  return (
    <dl class="about">
      <Row name="Asked because">
        {visibleLine(request.reason)}
        <details>
          <summary>All rules that were looked at</summary>
          <DecisionChain chain={request.chain} />
        </details>
      </Row>
      <Row name="Works in">
        <span class="mono">{exactLine(request.cwd)}</span>
      </Row>
      {request.resources.length > 0 && (
        <Row name="Touches">
          <Listed items={request.resources.map(resourceText)} />
        </Row>
      )}
      {hosts.length > 0 && (
        <Row name="Network">
          <Listed items={hosts} />
        </Row>
      )}
      {request.env_summary !== undefined && request.env_summary.length > 0 && (
        <Row name="Environment">
          <span class="mono">{visibleLine(request.env_summary.join(", "))}</span>
        </Row>
      )}
      {request.hook_results.length > 0 && (
        <Row name="Hooks said">
          <JsonTree value={request.hook_results} label="What hooks said" open={2} />
        </Row>
      )}
      <Row name="Asked by">
        {whoText(request)}{" "}
        <a
          href={hashOf({
            view: "session",
            session_id,
            tab: "timeline",
            run_id: request.run_id,
            tool_call_id: request.tool_call_id,
          })}
        >
          See the call
        </a>
        <div class="quiet">
          in <span class="mono">{visibleLine(project)}</span>, process {pid}, session{" "}
          <span class="mono">{visibleLine(session_id)}</span>
        </div>
      </Row>
      {request.tags.length > 0 && <Row name="Tags">{visibleLine(request.tags.join(", "))}</Row>}
      <Row name="Bound to">
        <span class="mono" title={request.digest}>
          {visibleLine(request.digest.slice(0, 24))}
        </span>{" "}
        <span class="quiet">if the call would do anything else by then, it is refused</span>
      </Row>
    </dl>
  );
}

function Row(props: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </>
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
          <button type="button" class="link" onClick={() => setLimit(items.length)}>
            … and {items.length - limit} more
          </button>
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

function Answers(props: QuestionParts & { request: PermissionRequest }) {
  const { request, is_sending } = props;
  const [reason, setReason] = useState("");
  const why = reason.trim() === "" ? {} : { reason: reason.trim() };
  const canGrant = request.scopes.length > 0;
  const choices: {
    answer: AnswerGiven;
    name: string;
    key: string;
    covers: string;
    style: string;
  }[] = [
    {
      answer: { decision: "allow_once", ...why },
      name: "Allow once",
      key: "y",
      covers: "This exact call, as it is shown here, and no other.",
      style: request.suggested_decision === "allow_once" ? "button primary" : "button",
    },
    ...(canGrant
      ? [
          {
            answer: { decision: "allow_for_session" as const, ...why },
            name: "Allow for the session",
            key: "s",
            covers: request.session_scope,
            style: "button",
          },
        ]
      : []),
    {
      answer: { decision: "deny", ...why },
      name: "Deny",
      key: "n",
      covers: "The call is not made. The model is told, with your reason.",
      style: "button danger",
    },
  ];
  return (
    <div class="answers" role="group" aria-label="Your answer">
      {choices.map(({ answer, name, key, covers, style }) => (
        <div key={key} class="answer">
          <button
            type="button"
            class={style}
            aria-disabled={is_sending}
            aria-keyshortcuts={key}
            onClick={() => props.onClick(answer)}
          >
            {name} <kbd>{key}</kbd>
          </button>
          <span>{visibleLine(covers)}</span>
        </div>
      ))}
      {request.always_rule !== undefined && (
        <details>
          <summary>Always allow this</summary>
          <p>This rule is added to your own config, not to the project:</p>
          <pre class="code">{ruleText(request.always_rule)}</pre>
          {ALWAYS.map(({ where, name }) => (
            <button
              key={where}
              type="button"
              class="button"
              aria-disabled={is_sending}
              onClick={() =>
                props.onClick({ decision: "allow_for_session", always: { where }, ...why })
              }
            >
              {name}
            </button>
          ))}
        </details>
      )}
      {!canGrant && <p class="quiet">{visibleLine(request.session_scope)}</p>}
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
      {is_sending && <p role="status">Sending your answer…</p>}
      {props.problem !== undefined && <ProblemText text={props.problem} />}
    </div>
  );
}
