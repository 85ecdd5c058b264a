// The highest layer (PERM-2): what no rule can lift. Denies for what is never written (PERM-14) and for
// what cannot be judged; asks at the path boundary (PATH-2, PATH-3, PATH-5). It never allows.

import type { Resource } from "../tool/index.ts";
import type { Boundary } from "./boundary.ts";
import type { ChainEntry } from "./decision.ts";
import type { Subject } from "./facts.ts";
import { quote } from "./quote.ts";
import { selfRunningBy } from "./self-running-files.ts";

/** One entry for each kind of finding, however many paths share it. */
export function runtimeEntries(boundary: Boundary, subject: Subject): readonly ChainEntry[] {
  const findings: Finding[] = [];
  if (subject.malformed !== undefined) findings.push(notCanonical(subject.malformed));
  for (const resource of subject.resources) {
    if (resource.kind === "path") addFindings(findings, boundary, resource);
  }
  if (findings.length === 0) return NOTHING_FOUND;
  const first = findings.filter(
    (finding, index) => findings.findIndex((other) => other.rule === finding.rule) === index,
  );
  return first.map((finding) =>
    entryOf(finding, findings.filter((other) => other.rule === finding.rule).length - 1),
  );
}

interface Finding {
  rule: string;
  verdict: "ask" | "deny";
  code: string;
  sentence: string;
}

type PathResource = Extract<Resource, { kind: "path" }>;

const NOTHING_FOUND: readonly ChainEntry[] = Object.freeze([]);

function notCanonical(problem: string): Finding {
  return {
    rule: "runtime.not_canonical",
    verdict: "deny",
    code: "path_not_canonical",
    sentence: `What this call would touch cannot be judged: ${problem}.`,
  };
}

function entryOf(finding: Finding, others: number): ChainEntry {
  const { sentence, ...rest } = finding;
  const more = others === 0 ? "" : ` The same holds for ${others} more of its paths.`;
  return { layer: "runtime", ...rest, reason: sentence + more };
}

function addFindings(findings: Finding[], boundary: Boundary, resource: PathResource): void {
  const { path, access } = resource;
  const sensitive =
    boundary.sensitiveBy(path) ??
    resource.also
      ?.map((name) => boundary.sensitiveBy(name))
      .find((pattern) => pattern !== undefined);
  const protectedRoot = access === "write" ? boundary.protectedRoot(path) : undefined;
  if (protectedRoot !== undefined) {
    findings.push({
      rule: "runtime.protected_root",
      verdict: "deny",
      code: "protected_path",
      sentence: `${quote(path)} belongs to the runtime (${quote(protectedRoot)}), which no tool may write to.`,
    });
  }
  if (access === "write" && boundary.isOrdinaryWrite(path) === false) {
    findings.push({
      rule: "runtime.write_outside_roots",
      verdict: "ask",
      code: "write_outside_allowed_roots",
      sentence: `${quote(path)} is outside the project and the allowed write roots.`,
    });
  }
  if (sensitive !== undefined || resource.sensitive === true) {
    const why =
      sensitive === undefined
        ? (resource.reason ?? "the tool found it to be")
        : `it matches ${quote(sensitive)}`;
    findings.push({
      rule: "runtime.sensitive_path",
      verdict: "ask",
      code: "sensitive_path",
      sentence:
        sensitive === undefined && resource.too_large === true
          ? `${quote(path)} is too large to look through for sensitive files: ${why}. Name a smaller directory, or the files.`
          : `${quote(path)} is sensitive: ${why}.`,
    });
  }
  const runner = access === "write" ? (selfRunningBy(path) ?? resource.self_running) : undefined;
  if (runner !== undefined) {
    findings.push({
      rule: "runtime.runs_by_itself",
      verdict: "ask",
      code: "runs_by_itself",
      sentence: `${quote(path)} is run by other programs without anybody asking (${quote(runner)}).`,
    });
  }
  if (access === "search" && boundary.inProject(path) === false) {
    findings.push({
      rule: "runtime.search_outside_project",
      verdict: "ask",
      code: "search_outside_project",
      sentence: `${quote(path)} is outside the project, where searching needs a yes.`,
    });
  }
}
