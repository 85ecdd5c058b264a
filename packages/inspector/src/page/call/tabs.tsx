// Tabs: one at a time, by click or arrow keys.

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";

interface Tab {
  readonly name: string;
  readonly content: () => ComponentChildren;
}

export function Tabs(props: { label: string; tabs: readonly Tab[] }) {
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const at = Math.min(chosen, props.tabs.length - 1);

  function onKeyDown(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
    const last = props.tabs.length - 1;
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const wrapped = next > last ? 0 : next < 0 ? last : next;
    setChosen(wrapped);
    const buttons = event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]");
    buttons[wrapped]?.focus();
  }

  return (
    <div class="result-tabs">
      <div role="tablist" aria-label={props.label} onKeyDown={onKeyDown}>
        {props.tabs.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${index}`}
            aria-selected={index === at}
            aria-controls={`${id}-panel`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => setChosen(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${at}`}>
        {props.tabs[at]?.content()}
      </div>
    </div>
  );
}
