// A permission question (PERM-6) on one screen: what would be done and where, the diff or the command in a part that scrolls, why it
// is asked, the answers. All else that it carries is folded.

import { visibleLine, type PermissionRequest } from "@soong/core";
import {
  describeClaim,
  describeQuestion,
  describeSandbox,
  exactLine,
  shellWord,
} from "@soong/core/internal";
import type { Question } from "../../wire/home-records.ts";
import { DecisionChain } from "../call/call-decisions.tsx";
import { PreviewView } from "../call/preview.tsx";
import { SandboxLimits } from "../call/sandbox-limits.tsx";
import { JsonCode } from "../parts/json-code.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { ExactList, Pairs } from "../parts/list.tsx";
import { CutText, Mono } from "../parts/text.tsx";
import { PermissionAnswers } from "./permission-answers.tsx";
import { WhereAsked, type QuestionParts } from "./question-parts.tsx";

type Permission = Extract<Question, { kind: "permission" }>;

export function PermissionQuestion(props: QuestionParts & { question: Permission }) {
  const { question } = props;
  const { request } = question;
  const { marks = [], preview, network_hosts } = request;
  const claim = describeClaim(request);
  // The name in a command says little: the program that was found may be one of the project.
  const programs = request.resources.flatMap((one) =>
    one.kind === "command" ? [one.executable] : [],
  );
  const hosts = network_hosts === "unknown" ? ["an unknown host"] : network_hosts;
  return (
    <>
      <header class="question-head">
        <h2>
          {describeQuestion(request)}{" "}
          {marks.map((mark) => (
            <span key={mark} class="chip mark-danger">
              ⚠ {mark}{" "}
            </span>
          ))}
        </h2>
        <WhereAsked question={question} who={whoText(request)} />
        {claim !== undefined && <p class="quiet">{claim}</p>}
      </header>
      <div class="preview-area" role="region" aria-label="What it would do" tabIndex={0}>
        {preview === undefined ? (
          <JsonCode value={request.arguments} label="Arguments" />
        ) : (
          <PreviewView preview={preview} />
        )}
      </div>
      <p class="because">
        {programs.length > 0 && (
          <>
            Runs <span class="mono">{programs.map(exactLine).join(", ")}</span>.{" "}
          </>
        )}
        Asked because: <CutText text={visibleLine(request.reason)} first={300} />
        {hosts.length > 0 && (
          <>
            {" "}
            Network: <span class="mono">{hosts.map(exactLine).join(", ")}</span>.
          </>
        )}{" "}
        {describeSandbox(request)}
      </p>
      <details>
        <summary>Details</summary>
        <About question={question} />
      </details>
      <PermissionAnswers request={request} always={question.always} {...props} />
    </>
  );
}

function About({ question: { session_id, pid, request } }: { question: Permission }) {
  const { resources, env_summary = [], hook_results, tags, digest } = request;
  return (
    <Pairs
      pairs={[
        [
          "Tool",
          <>
            <span class="mono">{exactLine(request.tool_name)}</span>{" "}
            <span class="chip">{request.permission === "write" ? "✎ write" : "readonly"}</span>{" "}
            {visibleLine(request.description)}
          </>,
        ],
        ["Arguments", request.preview && <JsonCode value={request.arguments} label="Arguments" />],
        ["Rules", <DecisionChain chain={request.chain} />],
        ["Works in", <span class="mono">{exactLine(request.cwd)}</span>],
        ["Touches", resources.length > 0 && <ExactList items={resources.map(resourceText)} />],
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
            {visibleLine(request.agent_id)} in <Mono text={request.run_id} />, session{" "}
            <Mono text={session_id} />, process {pid}
          </>,
        ],
        ["Suggested", request.suggested_decision === "deny" ? "deny" : "allow once"],
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

/** A child is another agent than the one the user talks to. */
function whoText({ role, agent_id, parent_agent_id }: PermissionRequest): string {
  if (role === "main") return "main agent";
  const by = parent_agent_id === undefined ? "" : `, started by ${parent_agent_id}`;
  return visibleLine(`${role} agent ${agent_id}${by}`);
}
