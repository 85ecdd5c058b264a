// The highest layer (PERM-2): what no rule can lift. Denies for what is never written (PERM-14) and for
// what cannot be judged; asks at the path boundary (PATH-2, PATH-3, PATH-5). It never allows.

import type { Boundary } from "./boundary.ts";
import type { ChainEntry } from "./decision.ts";
import type { PathResource, Subject } from "./facts.ts";
import { selfRunningBy } from "./self-running-files.ts";
import { quote } from "./path.ts";

/** One entry for each kind of finding, however many paths share it. */
export function runtimeEntries(boundary: Boundary, subject: Subject): readonly ChainEntry[] {
  const findings = subject.resources.flatMap((resource) =>
    resource.kind === "path" ? findFindings(boundary, resource) : [],
  );
  if (subject.malformed !== undefined) {
    const sentence = `What this call would touch cannot be judged: ${subject.malformed}.`;
    findings.unshift(createFinding("deny", "not_canonical", "path_not_canonical", sentence));
  }
  if (subject.sandboxMissing !== undefined) {
    const sentence = `Its command has to run in a sandbox, and there is none: ${subject.sandboxMissing}.`;
    findings.unshift(createFinding("deny", "sandbox_required", "sandbox_unavailable", sentence));
  }
  if (subject.leavesSandbox === true) {
    const sentence = "The model wants this command to run outside of the sandbox.";
    const asked = createFinding("ask", "leaves_sandbox", "leaves_sandbox", sentence);
    findings.push({ ...asked, every_time: true });
  }
  if (findings.length === 0) return NOTHING_FOUND;
  const first = findings.filter(
    (finding, index) => findings.findIndex((other) => other.rule === finding.rule) === index,
  );
  return first.map((finding) =>
    toEntry(finding, findings.filter((other) => other.rule === finding.rule).length - 1),
  );
}

interface Finding {
  rule: string;
  verdict: "ask" | "deny";
  code: string;
  sentence: string;
  every_time?: true;
}

function createFinding(
  verdict: Finding["verdict"],
  rule: string,
  code: string,
  sentence: string,
): Finding {
  return { rule: `runtime.${rule}`, verdict, code, sentence };
}

const NOTHING_FOUND: readonly ChainEntry[] = Object.freeze([]);

function toEntry({ sentence, ...rest }: Finding, others: number): ChainEntry {
  const more = others === 0 ? "" : ` The same holds for ${others} more of its paths.`;
  return { layer: "runtime", ...rest, reason: sentence + more };
}

function findFindings(boundary: Boundary, resource: PathResource): Finding[] {
  const { path, access, also = [] } = resource;
  const findings: Finding[] = [];
  const sensitive = [path, ...also]
    .map((name) => boundary.sensitiveBy(name))
    .find((pattern) => pattern !== undefined);
  if (access === "write") {
    const root = boundary.protectedRoot(path);
    if (root !== undefined) {
      const sentence = `${quote(path)} belongs to the runtime (${quote(root)}), which no tool may write to.`;
      findings.push(createFinding("deny", "protected_root", "protected_path", sentence));
    }
    if (boundary.isOrdinaryWrite(path) === false) {
      const sentence = `${quote(path)} is outside the project and the allowed write roots.`;
      findings.push(
        createFinding("ask", "write_outside_roots", "write_outside_allowed_roots", sentence),
      );
    }
  }
  if (sensitive !== undefined || resource.sensitive === true) {
    const why =
      sensitive === undefined
        ? (resource.reason ?? "the tool found it to be")
        : `it matches ${quote(sensitive)}`;
    const sentence =
      sensitive === undefined && resource.too_large === true
        ? `${quote(path)} is too large to look through for sensitive files: ${why}. Name a smaller directory, or the files.`
        : `${quote(path)} is sensitive: ${why}.`;
    findings.push(createFinding("ask", "sensitive_path", "sensitive_path", sentence));
  }
  const runner = access === "write" ? (selfRunningBy(path) ?? resource.self_running) : undefined;
  if (runner !== undefined) {
    const sentence = `${quote(path)} is run by other programs without approval (${quote(runner)}).`;
    findings.push(createFinding("ask", "runs_by_itself", "runs_by_itself", sentence));
  }
  if (access === "search" && boundary.inProject(path) === false) {
    const sentence = `${quote(path)} is outside the project, where searching needs a yes.`;
    findings.push(
      createFinding("ask", "search_outside_project", "search_outside_project", sentence),
    );
  }
  return findings;
}
