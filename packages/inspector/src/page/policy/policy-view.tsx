// The policy a run would be judged by: its layers in the order in which they are looked at, each rule with where it is written and what it
// matched lately, what is granted now, and what another rule would have decided.

import { visibleLine } from "@soong/core";
import { useState } from "preact/hooks";
import type { PolicyPage } from "../../wire/policy-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { LinkButton } from "../parts/button.tsx";
import { Select } from "../parts/input.tsx";
import { ExactList, Pairs } from "../parts/list.tsx";
import { Loaded, Mono } from "../parts/text.tsx";
import { GrantList } from "../questions/grant-list.tsx";
import { WhatIfPanel } from "../what-if/what-if-panel.tsx";
import { RuleList } from "./rule-list.tsx";

const WHAT_IF = "policy-what-if";

export function PolicyView({ project }: { project?: string | undefined }) {
  const { about, go } = useInspector();
  const [version, setVersion] = useState(0);
  const loaded = useAnswer("GET /api/policy", { query: { project } }, { version });
  return (
    <section class="view policy">
      <h1>Policy</h1>
      <Loaded from={loaded} what="the policy">
        {(page) => (
          <>
            <p class="policy-place">
              <label>
                Project{" "}
                <Select
                  value={page.project}
                  options={page.projects.map((path) => [path, visibleLine(path)])}
                  onChoose={(next) => go({ view: "policy", project: next })}
                />
              </label>{" "}
              <span class="quiet">
                your config: <Mono text={page.config_file} />
              </span>{" "}
              {about.can.what_if && (
                <LinkButton onClick={() => document.getElementById(WHAT_IF)?.scrollIntoView()}>
                  Try a rule on recorded runs
                </LinkButton>
              )}
            </p>
            <Problems page={page} />
            {page.problems.length === 0 && <Layers page={page} version={version} />}
          </>
        )}
      </Loaded>
      <h2>Grants</h2>
      {about.can.answer ? <GrantList /> : <p class="quiet">No live session is shown here.</p>}
      {about.can.what_if && (
        <section aria-labelledby={WHAT_IF} class="what-if">
          <h2 id={WHAT_IF}>What if</h2>
          <p class="quiet">
            Which recorded calls would be decided differently. Nothing is executed; nothing is
            changed unless you write the rule.
          </p>
          <WhatIfPanel begin="rule" onWritten={() => setVersion(version + 1)} />
        </section>
      )}
    </section>
  );
}

function Problems({ page: { problems, warnings } }: { page: PolicyPage }) {
  return (
    <>
      {problems.length > 0 && (
        <div class="problem-box" role="alert">
          <p>The config cannot be used, and no run starts until it is fixed:</p>
          <ExactList items={problems} />
        </div>
      )}
      {warnings.length > 0 && (
        <details open={warnings.length < 4}>
          <summary>⚠ {warnings.length === 1 ? "A warning" : `${warnings.length} warnings`}</summary>
          <ExactList items={warnings} />
        </details>
      )}
    </>
  );
}

const LAYERS = {
  runtime: "always checked, and no rule takes it back",
  mode: "how the run was started",
  defaults: "for what nothing above decides",
} as const;

function Layers({ page, version }: { page: PolicyPage; version: number }) {
  const settings = (layer: keyof typeof LAYERS) =>
    page.settings
      .filter((one) => one.layer === layer)
      .map(({ name, value }) => [name, visibleLine(value)] as const);
  return (
    <>
      <p class="quiet">
        Every layer is looked at: any deny counts more than any ask, and any ask more than any
        allow. Hooks can only tighten; a grant answers an ask.
      </p>
      <ol class="layers">
        <li>
          <h2>
            Runtime <span class="quiet">{LAYERS.runtime}</span>
          </h2>
          <Pairs pairs={settings("runtime")} />
          <details>
            <summary>Sensitive paths, which ask before they are read or written</summary>
            <ExactList items={page.sensitive_paths} />
          </details>
        </li>
        <li>
          <h2>
            Rules <span class="quiet">of your config, in any order</span>
          </h2>
          <RuleList rules={page.rules} version={version} />
        </li>
        <li>
          <h2>
            Mode <span class="quiet">{LAYERS.mode}</span>
          </h2>
          <Pairs pairs={settings("mode")} />
        </li>
        <li>
          <h2>
            Defaults <span class="quiet">{LAYERS.defaults}</span>
          </h2>
          <Pairs pairs={settings("defaults")} />
        </li>
      </ol>
    </>
  );
}
