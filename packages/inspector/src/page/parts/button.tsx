// Buttons: none submits a form unless it says so.

import type { ButtonHTMLAttributes } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

type ButtonProps = Omit<ButtonHTMLAttributes, "class"> & { look?: "primary" | "danger" };

export function Button({ look, ...props }: ButtonProps) {
  return <button type="button" class={look ? `button ${look}` : "button"} {...props} />;
}

/** A button that reads as a link: it shows more of what is there. */
export function LinkButton({ mono, ...props }: Omit<ButtonProps, "look"> & { mono?: boolean }) {
  return <button type="button" class={mono ? "link mono" : "link"} {...props} />;
}

/** A sign to look at, and words for those who listen. */
export function SignButton(given: ButtonProps & { sign: string; label: string }) {
  const { sign, label, ...props } = given;
  return (
    <Button {...props}>
      <span aria-hidden="true">{sign}</span>
      <span class="unseen">{label}</span>
    </Button>
  );
}

export function CloseButton({ onClose }: { onClose: () => void }) {
  return <SignButton sign="×" label="Close" title="Close (Esc)" onClick={onClose} />;
}

/** Several ways to show the same thing, a button each; the one that is shown is pressed. */
export function ChoiceButtons<Choice extends string>(props: {
  choices: Readonly<Record<Choice, string>>;
  chosen: Choice;
  onChoose: (choice: Choice) => void;
}) {
  return (Object.entries(props.choices) as [Choice, string][]).map(([choice, name]) => (
    <Button
      key={choice}
      aria-pressed={props.chosen === choice}
      onClick={() => props.onChoose(choice)}
    >
      {name}
    </Button>
  ));
}

/**
 * Acts after a second click. The focus follows: the button that had it is replaced by the question, that by what becomes
 * of it; after a no or a failure the button is back.
 */
export function ConfirmButton(props: {
  /** Ends with an ellipsis. */
  name: string;
  label?: string;
  look?: "danger";
  question: string;
  yes: string;
  /** Where the focus is when the question appears. */
  focus: "yes" | "no";
  busy: string;
  done: string;
  /** False where it failed. */
  onConfirm: () => Promise<boolean>;
}) {
  const { name, label, look, question, focus } = props;
  const [step, setStep] = useState<"idle" | "asking" | "declined" | "busy" | "done">("idle");
  const focused = (isIt: boolean) => (isIt ? { ref: focusOnce } : {});

  async function confirm(): Promise<void> {
    setStep("busy");
    setStep((await props.onConfirm()) ? "done" : "declined");
  }

  if (step === "busy" || step === "done") {
    return (
      <p role="status" tabIndex={-1} ref={focusOnce}>
        {props[step]}
      </p>
    );
  }
  if (step !== "asking") {
    const again = focused(step === "declined");
    return (
      <Button look={look} aria-label={label} {...again} onClick={() => setStep("asking")}>
        {name}
      </Button>
    );
  }
  return (
    <p role="group" aria-label={question}>
      {question}{" "}
      <Button look="danger" {...focused(focus === "yes")} onClick={() => void confirm()}>
        {props.yes}
      </Button>{" "}
      <Button {...focused(focus === "no")} onClick={() => setStep("declined")}>
        Keep it
      </Button>
    </p>
  );
}

/** A ref that gives its element the focus when it appears: once, not each time it is drawn. */
export function focusOnce(element: HTMLElement | null): void {
  element?.focus();
}

/**
 * Copies a text; as a function it is made when it is wanted, for what is large. Where the browser does not let a page
 * write to the clipboard, the text is put there selected.
 */
export function CopyButton({ text, what }: { text: string | (() => string); what: string }) {
  const [state, setState] = useState<"idle" | "copied" | "by_hand">("idle");
  const area = useRef<HTMLTextAreaElement>(null);
  const made = () => (typeof text === "string" ? text : text());
  useEffect(() => setState("idle"), [typeof text === "string" ? text : what]);
  useEffect(() => {
    if (state === "by_hand") area.current?.select();
  }, [state]);
  const copy = () =>
    navigator.clipboard.writeText(made()).then(
      () => setState("copied"),
      () => setState("by_hand"),
    );

  return (
    <>
      <button
        type="button"
        class="link copy"
        aria-label={`Copy ${what}`}
        onClick={() => void copy()}
      >
        {state === "copied" ? "✓ Copied" : "Copy"}
      </button>
      {state === "by_hand" && (
        <label class="copy-by-hand">
          Selected; copy it with your keyboard:
          <textarea ref={area} readOnly value={made()} rows={3} />
        </label>
      )}
    </>
  );
}

/** In a list of tabs: the arrows lead around, Home and End to the first and the last. */
export function onTabKey(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")];
  const at = tabs.findIndex((tab) => tab === document.activeElement);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  const tab = tabs.at(next % tabs.length);
  tab?.focus();
  tab?.click();
}
