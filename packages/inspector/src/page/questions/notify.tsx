// A notification of the browser for a question that comes while the tab is not looked at, if the user wants it: the tool and the
// project, and nothing of what it would do. Where the browser has none, nothing is offered.

import { visibleLine } from "@soong/core";
import { useState } from "preact/hooks";
import type { Question } from "../../wire/home-records.ts";
import { useInspector } from "../app/inspector.ts";
import { Button } from "../parts/button.tsx";

const KEPT = "soong-notify";

function canNotify(): boolean {
  return typeof Notification === "function";
}

function isWanted(): boolean {
  return canNotify() && Notification.permission === "granted" && readKept() === "1";
}

/** Storage may be closed to the page. */
function readKept(): string | null {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

function keep(isOn: boolean): void {
  try {
    if (isOn) localStorage.setItem(KEPT, "1");
    else localStorage.removeItem(KEPT);
  } catch {
    // Then it holds until the page is closed, which it does not.
  }
}

export function NotifyToggle() {
  const { announce } = useInspector();
  const [isOn, setOn] = useState(isWanted);
  const [isRefused, setRefused] = useState(
    () => canNotify() && Notification.permission === "denied",
  );
  if (!canNotify()) return null;

  async function toggle(): Promise<void> {
    const isGranted = !isOn && (await Notification.requestPermission()) === "granted";
    keep(isGranted);
    setOn(isGranted && isWanted());
    setRefused(!isOn && !isGranted);
    announce(isGranted ? "Notifications are on." : "Notifications are off.");
  }

  return (
    <>
      <Button
        aria-pressed={isOn}
        title="A notification when a question comes while this tab is in the background: the tool and the project"
        onClick={() => void toggle()}
      >
        Notify me
      </Button>
      {isRefused && !isOn && (
        <span class="quiet">The browser does not allow it for this address.</span>
      )}
    </>
  );
}

/** `onOpen` is called when the user clicks on it. */
export function notifyOfQuestion(
  fresh: readonly Question[],
  onOpen: (question: Question) => void,
): void {
  const [first] = fresh;
  if (first === undefined || !document.hidden || !isWanted()) return;
  const { tool_name } = first.request;
  const title = fresh.length === 1 ? `${tool_name} asks` : `${fresh.length} calls ask`;
  const projects = new Set(fresh.map(({ project }) => lastPart(project)));
  const notification = new Notification(visibleLine(title), {
    body: [...projects].join(", "),
    tag: "soong-question",
  });
  notification.addEventListener("click", () => {
    window.focus();
    notification.close();
    onOpen(first);
  });
}

/** Of a project: where it is on the disk is no one else's business. */
export function lastPart(path: string): string {
  return visibleLine(path.split("/").findLast((part) => part !== "") ?? path);
}
