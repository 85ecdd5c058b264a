// The keys of the page, and how to read it.

import { useEffect, useRef } from "preact/hooks";
import { zoneText } from "../parts/time.ts";
import { Legend } from "../timeline/spans.tsx";
import { useInspector } from "./inspector.ts";
import { listViewLinks } from "./views.tsx";

export function HelpDialog(props: { onClose: () => void }) {
  const { can } = useInspector().about;
  const views = listViewLinks(can).map(({ key, name }) => [`g ${key}`, name] as const);
  const groups = { ...GROUPS, Views: [...views, ["g s", "the list of sessions"] as const] };
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={props.onClose}>
      <form method="dialog" class="help-head">
        <h2 id="help-title">Keys</h2>
        <button type="submit" class="button">
          Close <kbd>Esc</kbd>
        </button>
      </form>
      <div class="help-body">
        {Object.entries<Keys>(groups).map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([key, words]) => (
                <div key={key}>
                  <dt>
                    {key.split(" ").map((part) => (
                      <kbd key={part}>{part}</kbd>
                    ))}
                  </dt>
                  <dd>{words}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <h3>What a bar means</h3>
      <Legend />
      <p class="quiet">Times are those of this browser, now {zoneText(Date.now())}.</p>
    </dialog>
  );
}

type Keys = readonly (readonly [key: string, words: string])[];

const GROUPS: Readonly<Record<string, Keys>> = {
  Everywhere: [
    ["?", "this list"],
    ["/", "search the current view"],
    ["Esc", "close what was opened last"],
    ["t", "theme: system, light, dark"],
    ["q", "questions waiting for an answer"],
    ["n", "a new run (not in the timeline)"],
  ],
  "At a question": [
    ["y", "allow once"],
    ["s", "allow for the session"],
    ["w", "always, with the rule that is written"],
    ["n", "deny"],
    ["r", "the reason"],
    ["j k", "next and previous question"],
    ["b", "back to the answers"],
  ],
  "In a session": [
    ["v", "conversation or timeline, in turn"],
    ["g c", "conversation"],
    ["g t", "timeline"],
    ["g f", "facts"],
    ["g u", "surface: the tools of a run"],
    ["g a", "artifacts"],
    ["c", "conversation beside the timeline"],
    ["n", "in the timeline: the next call that requires approval"],
    ["e", "follow a live run at its end"],
  ],
  "In a list": [
    ["j ↓", "next row"],
    ["k ↑", "previous row"],
    ["→ ←", "expand and collapse"],
    ["Enter", "details"],
    ["Home End", "first and last row"],
  ],
  Time: [
    ["+ -", "zoom in, zoom out (or Ctrl and the wheel)"],
    ["[ ]", "earlier, later (or Shift and the wheel)"],
    ["0", "the whole session"],
    ["9", "the visible rows"],
  ],
};
