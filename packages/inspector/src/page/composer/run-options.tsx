// What a run is started with beside its prompt: model, mode and agent. Defaults are those of the config.

import { visibleLine } from "@soong/core";
import type { RunAsked, RunChoices } from "../../wire/home-records.ts";
import { Select, TextInput } from "../parts/input.tsx";

export type RunOptions = Pick<RunAsked, "model" | "mode" | "agent">;

export function RunOptionFields(props: {
  choices: RunChoices | undefined;
  options: RunOptions;
  onOptions: (options: RunOptions) => void;
}) {
  const { choices, options, onOptions } = props;
  const set = (name: keyof RunOptions) => (value: string) =>
    onOptions({ ...options, [name]: value === "" ? undefined : value });
  const { agents = [], modes = [], models = [], default_model } = choices ?? {};
  return (
    <div class="run-options">
      <label>
        Model{" "}
        <TextInput
          list="run-models"
          aria-label="Model"
          spellcheck={false}
          value={options.model ?? ""}
          placeholder={default_model ?? "provider:model"}
          onText={set("model")}
        />
        <datalist id="run-models">
          {models.map((model) => (
            <option key={model} value={model} />
          ))}
        </datalist>
      </label>
      <label>
        Mode{" "}
        <Select
          label="Mode"
          value={options.mode ?? ""}
          options={[
            ["", "default"],
            ...modes.map((mode) => [mode, mode.replaceAll("_", " ")] as const),
          ]}
          onChoose={set("mode")}
        />
      </label>
      {agents.length > 0 && (
        <label>
          Agent{" "}
          <Select
            label="Agent"
            value={options.agent ?? ""}
            options={[
              ["", "default"],
              ...agents.map(({ agent_id }) => [agent_id, visibleLine(agent_id)] as const),
            ]}
            onChoose={set("agent")}
          />
        </label>
      )}
    </div>
  );
}
