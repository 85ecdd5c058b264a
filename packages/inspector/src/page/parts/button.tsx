// Buttons: none submits a form unless it says so.

import type { ButtonHTMLAttributes } from "preact";
import { useState } from "preact/hooks";

type ButtonProps = Omit<ButtonHTMLAttributes, "class"> & {
  look?: "primary" | "danger";
};

export function Button({ look, ...props }: ButtonProps) {
  return (
    <button type="button" class={look === undefined ? "button" : `button ${look}`} {...props} />
  );
}

/** A button that reads as a link: it shows more of what is there. */
export function LinkButton({ mono, ...props }: Omit<ButtonProps, "look"> & { mono?: boolean }) {
  return <button type="button" class={mono === true ? "link mono" : "link"} {...props} />;
}

/** A sign to look at, and words for those who listen. */
export function SignButton(props: {
  sign: string;
  label: string;
  title: string;
  onClick: () => void;
}) {
  return (
    <Button title={props.title} onClick={props.onClick}>
      <span aria-hidden="true">{props.sign}</span>
      <span class="unseen">{props.label}</span>
    </Button>
  );
}

export function CloseButton(props: { onClose: () => void }) {
  return <SignButton sign="×" label="Close" title="Close (Esc)" onClick={props.onClose} />;
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
  const [step, setStep] = useState<"idle" | "asking" | "declined" | "busy" | "done">("idle");
  const focused = (isIt: boolean) => (isIt ? { ref: focusOnce } : {});

  async function confirm(): Promise<void> {
    setStep("busy");
    setStep((await props.onConfirm()) ? "done" : "declined");
  }

  if (step === "busy" || step === "done") {
    return (
      <p role="status" tabIndex={-1} ref={focusOnce}>
        {step === "busy" ? props.busy : props.done}
      </p>
    );
  }
  if (step !== "asking") {
    return (
      <Button
        look={props.look}
        aria-label={props.label}
        {...focused(step === "declined")}
        onClick={() => setStep("asking")}
      >
        {props.name}
      </Button>
    );
  }
  return (
    <p role="group" aria-label={props.question}>
      {props.question}{" "}
      <Button look="danger" {...focused(props.focus === "yes")} onClick={() => void confirm()}>
        {props.yes}
      </Button>{" "}
      <Button {...focused(props.focus === "no")} onClick={() => setStep("declined")}>
        Keep it
      </Button>
    </p>
  );
}

/** A ref that gives its element the focus when it appears: once, not each time it is drawn. */
export function focusOnce(element: HTMLElement | null): void {
  element?.focus();
}
