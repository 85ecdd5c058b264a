// A permission question with everything it carries (PERM-6): what would be done, where, by whom it is wanted, why it is
// asked, and what each answer would cover.

import { visibleJson, visibleLine, type PermissionRequest } from "@soong/core";
import {
  describeClaim,
  describeQuestion,
  describeSandbox,
  exactLine,
  shellWord,
} from "@soong/core/internal";
import { useState } from "preact/hooks";
import type { Question } from "../../wire/home-records.ts";
import { DecisionChain } from "../call/call-decisions.tsx";
import { PreviewView } from "../call/preview.tsx";
import { SandboxLimits } from "../call/sandbox-limits.tsx";
import { Button } from "../parts/button.tsx";
import { TextInput } from "../parts/input.tsx";
import { JsonCode } from "../parts/json-code.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { ExactList, Pairs } from "../parts/list.tsx";
import { Mono, Prose } from "../parts/text.tsx";
import { linkToTimeline } from "../route/hash-route.ts";
import { Answers, permissionChoices, WaitingSince, type QuestionParts } from "./question-parts.tsx";

type Permission = Extract<Question, { kind: "permission" }>;

export function PermissionQuestion(props: QuestionParts & { question: Permission }) {
  const { question } = props;
  const { request } = question;
  const { marks = [] } = request;
  return (
    <>
      <header class="question-head">
        <h2>{describeQuestion(request)}</h2>
        <p>
          <span class="mono">{exactLine(request.tool_name)}</span>{" "}
          <span class="chip">{request.permission === "write" ? "✎ write" : "readonly"}</span>{" "}
          {marks.map((mark) => (
            <span key={mark} class="chip mark-danger">
              ⚠ {mark}{" "}
            </span>
          ))}
          <WaitingSince asked_at={question.asked_at} />
        </p>
        <Prose text={describeClaim(request) ?? request.description} isQuiet />
      </header>
      {request.preview && <PreviewView preview={request.preview} />}
      <details open={request.preview === undefined}>
        <summary>Arguments</summary>
        <JsonCode value={request.arguments} label="Arguments" />
      </details>
      <About question={question} />
      <PermissionAnswers request={request} {...props} />
    </>
  );
}

function About({ question: { session_id, project, pid, request } }: { question: Permission }) {
  const { resources, network_hosts, env_summary = [], hook_results, tags, digest } = request;
  const hosts = network_hosts === "unknown" ? ["an unknown host"] : network_hosts;
  return (
    <Pairs
      pairs={[
        [
          "Asked because",
          <>
            {visibleLine(request.reason)}
            <details>
              <summary>All rules that were evaluated</summary>
              <DecisionChain chain={request.chain} />
            </details>
          </>,
        ],
        ["Works in", <span class="mono">{exactLine(request.cwd)}</span>],
        ["Touches", resources.length > 0 && <ExactList items={resources.map(resourceText)} />],
        ["Network", hosts.length > 0 && <ExactList items={hosts} />],
        ["Sandbox", describeSandbox(request) && <SandboxLimits about={request} />],
        ["Environment", env_summary.length > 0 && <Mono text={env_summary.join(", ")} />],
        [
          "Hooks said",
          hook_results.length > 0 && (
            <JsonTree value={hook_results} label="What hooks said" open={2} />
          ),
        ],
        [
          "Asked by",
          <>
            {whoText(request)} <a href={linkToTimeline({ ...request, session_id })}>See the call</a>
            <div class="quiet">
              in <Mono text={project} />, process {pid}, session <Mono text={session_id} />
            </div>
          </>,
        ],
        ["Tags", visibleLine(tags.join(", "))],
        [
          "Bound to",
          <>
            <span class="mono" title={digest}>
              {visibleLine(digest.slice(0, 24))}
            </span>{" "}
            <span class="quiet">the call is refused if its plan has changed by then</span>
          </>,
        ],
      ]}
    />
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
  if (role === "main") return visibleLine(`the main agent ${agent_id}`);
  const run = parent_run_id === undefined ? "" : ` (${parent_run_id})`;
  const by = parent_agent_id === undefined ? "" : `, started by ${parent_agent_id}${run}`;
  return visibleLine(`the ${role} agent ${agent_id}${by}`);
}

const ALWAYS = [
  { where: "project", name: "Always in this project" },
  { where: "everywhere", name: "Always, in every project" },
] as const;

/** The default first, then that of a beginning that the user may choose. */
function listRules({ always_rule, scope_choices = [] }: PermissionRequest) {
  const prefix = scope_choices.find(({ id }) => id === "prefix")?.always_rule;
  return [
    ...(always_rule === undefined ? [] : [{ scope: undefined, rule: always_rule }]),
    ...(prefix === undefined ? [] : [{ scope: "prefix" as const, rule: prefix }]),
  ];
}

function PermissionAnswers(props: QuestionParts & { request: PermissionRequest }) {
  const { request, is_sending } = props;
  const { scopes, session_scope } = request;
  const [reason, setReason] = useState("");
  const why = reason.trim() === "" ? {} : { reason: reason.trim() };
  return (
    <Answers {...props} choices={permissionChoices(request, reason)}>
      {listRules(request).map(({ scope, rule }) => (
        <details key={scope}>
          <summary>
            {scope === "prefix" ? "Always allow all that begin so" : "Always allow this"}
          </summary>
          <p>This rule is added to your own config, not to the project:</p>
          <pre class="code">
            {Object.entries(rule)
              .map(([key, value]) => `${key} = ${visibleJson(value)}`)
              .join("\n")}
          </pre>
          {ALWAYS.map(({ where, name }) => (
            <Button
              key={where}
              aria-disabled={is_sending}
              onClick={() =>
                props.onClick({
                  decision: "allow_for_session",
                  ...(scope === undefined ? {} : { scope }),
                  always: { where },
                  ...why,
                })
              }
            >
              {name}
            </Button>
          ))}
        </details>
      ))}
      {scopes.length === 0 && <p class="quiet">{visibleLine(session_scope)}</p>}
      <p class="quiet">
        Suggested: {request.suggested_decision === "deny" ? "deny" : "allow once"}.
      </p>
      <label class="field">
        <span>
          Reason, which the model reads (optional) <kbd>r</kbd>
        </span>
        <TextInput
          class="reason"
          autocomplete="off"
          value={reason}
          readOnly={is_sending}
          onText={setReason}
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
