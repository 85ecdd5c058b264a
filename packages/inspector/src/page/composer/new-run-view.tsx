// A new run: where, with what, and the prompt.

import { visibleLine } from "@soong/core";
import { useState } from "preact/hooks";
import { useAction, useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { Button } from "../parts/button.tsx";
import { Select } from "../parts/input.tsx";
import { Loaded, ProblemText } from "../parts/text.tsx";
import { PromptField } from "./prompt-field.tsx";
import { RunOptionFields, type RunOptions } from "./run-options.tsx";

export function NewRunView(props: { project: string | undefined }) {
  const { about, api, go, announce } = useInspector();
  const [project, setProject] = useState(props.project ?? about.cwd);
  const [prompt, setPrompt] = useState("");
  const [options, setOptions] = useState<RunOptions>({});
  const { isRunning, problem, run } = useAction();
  const choices = useAnswer("GET /api/runs/choices", {});

  const send = () => {
    if (isRunning || prompt.trim() === "") return;
    void run(async () => {
      const body = { ...options, prompt, project };
      const { session_id } = await api.ask("POST /api/runs", { body });
      announce("The run begins.");
      go({ view: "session", tab: "conversation", session_id });
    });
  };

  const known = choices.value?.projects ?? [];
  const projects = known.includes(project) ? known : [project, ...known];
  return (
    <section class="view new-run">
      <h1>New run</h1>
      <PromptField
        label="Prompt"
        text={prompt}
        onText={setPrompt}
        onSend={send}
        hasFocus
        placeholder="What is to be done?"
      />
      <label class="field">
        Project directory
        <Select
          value={project}
          options={projects.map((path) => [path, visibleLine(path)])}
          onChoose={setProject}
        />
      </label>
      <RunOptionFields choices={choices.value} options={options} onOptions={setOptions} />
      <Loaded from={choices} what="what a run can be started with">
        {({ problems, default_model }) => (
          <>
            {problems.map((text) => (
              <ProblemText key={text} text={text} />
            ))}
            {default_model === undefined && options.model === undefined && (
              <p class="quiet">
                No model is configured: name one as <code>provider:model</code>, or play a script
                with <code>script:FILE</code>.
              </p>
            )}
          </>
        )}
      </Loaded>
      <ProblemText text={problem} />
      <p>
        <Button look="primary" disabled={isRunning || prompt.trim() === ""} onClick={send}>
          {isRunning ? "Starting…" : "Start"}
        </Button>{" "}
        <span class="quiet">
          <kbd>Enter</kbd> starts, <kbd>Shift</kbd>+<kbd>Enter</kbd> new line
        </span>
      </p>
      <p class="quiet">
        It runs like <code>soong run</code> in that directory: the same config, rules, hooks and
        secrets. What requires approval is asked on this page. It is stopped when this inspector
        ends.
      </p>
    </section>
  );
}
