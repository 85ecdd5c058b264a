// Inputs that hand on what is typed or chosen.

import type { ComponentChildren, InputHTMLAttributes } from "preact";

type TextInputProps = InputHTMLAttributes & { onText: (text: string) => void };

export function TextInput({ onText, ...props }: TextInputProps) {
  return <input type="text" {...props} onInput={(event) => onText(event.currentTarget.value)} />;
}

/** With its name above it. */
export function TextField({ name, ...props }: TextInputProps & { name: ComponentChildren }) {
  return (
    <label class="field">
      {name}
      <TextInput {...props} />
    </label>
  );
}

/** `options`: what is chosen, and how it is named. */
export function Select(props: {
  label?: string;
  id?: string;
  described?: string;
  value: string;
  options: readonly (readonly [value: string, name: string])[];
  onChoose: (value: string) => void;
  /** What is shown and cannot be chosen. */
  other?: string;
}) {
  return (
    <select
      id={props.id}
      aria-label={props.label}
      aria-describedby={props.described}
      value={props.value}
      onChange={(event) => props.onChoose(event.currentTarget.value)}
    >
      {props.options.map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
      {props.other !== undefined && (
        <option value="other" disabled>
          {props.other}
        </option>
      )}
    </select>
  );
}
