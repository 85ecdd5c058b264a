// Where a prompt is written: Enter sends it, Shift+Enter begins a line. It grows with its text.

import { useLayoutEffect, useRef } from "preact/hooks";
import { focusOnce } from "../parts/button.tsx";

const MOST_HEIGHT_PX = 320;

export function PromptField(props: {
  label: string;
  text: string;
  onText: (text: string) => void;
  onSend: () => void;
  placeholder?: string;
  disabled?: boolean;
  hasFocus?: boolean;
  describedBy?: string;
}) {
  const { label, text, onText, onSend, placeholder, disabled = false, hasFocus = false } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const field = area.current;
    if (field === null) return;
    field.style.height = "auto";
    field.style.height = `${Math.min(MOST_HEIGHT_PX, field.scrollHeight + 2)}px`;
  }, [text]);
  return (
    <textarea
      ref={(element) => {
        const isNew = area.current === null;
        area.current = element;
        if (isNew && hasFocus) focusOnce(element);
      }}
      class="prompt-field"
      rows={2}
      aria-label={label}
      aria-describedby={props.describedBy}
      placeholder={placeholder}
      disabled={disabled}
      value={text}
      onInput={(event) => onText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.altKey) return;
        event.preventDefault();
        onSend();
      }}
    />
  );
}
