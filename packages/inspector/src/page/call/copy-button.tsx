// Copies a text. Where the browser does not let a page write to the clipboard, the text is put there selected.

import { useEffect, useRef, useState } from "preact/hooks";

/** `text` as a function: made when it is wanted, for what is large. */
export function CopyButton(props: { text: string | (() => string); what: string }) {
  const [state, setState] = useState<"idle" | "copied" | "by_hand">("idle");
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => setState("idle"), [typeof props.text === "string" ? props.text : props.what]);
  const textOf = (): string => (typeof props.text === "string" ? props.text : props.text());
  useEffect(() => {
    if (state === "by_hand") area.current?.select();
  }, [state]);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(textOf());
      setState("copied");
    } catch {
      setState("by_hand");
    }
  }

  return (
    <>
      <button
        type="button"
        class="link copy"
        aria-label={`Copy ${props.what}`}
        onClick={() => void copy()}
      >
        {state === "copied" ? "✓ Copied" : "Copy"}
      </button>
      {state === "by_hand" && (
        <label class="copy-by-hand">
          Selected; copy it with your keyboard:
          <textarea ref={area} readOnly value={textOf()} rows={3} />
        </label>
      )}
    </>
  );
}
