// The plan as a drawing: a box a step, an arrow a dependency. One step has the focus; arrow keys lead along the arrows.

import { visibleLine } from "@soong/core";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { StepRow } from "../../wire/home-records.ts";
import { Button } from "../parts/button.tsx";
import { findSign, toneStyle } from "../parts/signs.tsx";
import {
  STEP_HEIGHT,
  STEP_WIDTH,
  stepBeside,
  type Direction,
  type Drawing,
  type PlacedStep,
} from "./layout.ts";

const KEYS: Readonly<Record<string, Direction>> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
  Home: "first",
  End: "last",
};
const ZOOMS = [0.25, 0.4, 0.6, 0.8, 1, 1.25, 1.6];
/** Smaller, no one could tell the steps apart: then it scrolls. */
const LEAST_ZOOM = 0.25;
/** Of the height of the window; the rest is for the rows below. */
const MOST_OF_WINDOW = 0.5;

/** The steps of a plan, of which one can be chosen. */
export interface StepChoice {
  steps: readonly StepRow[];
  chosen: string | undefined;
  onChoose: (step_id: string) => void;
}

export function PlanDrawing(props: StepChoice & { drawing: Drawing }) {
  const { drawing, chosen } = props;
  /** Undefined: as large as fits. */
  const [chosenZoom, setZoom] = useState<number>();
  const box = useRef<HTMLDivElement>(null);
  const room = useRoom(box);
  const zoom = chosenZoom ?? fitZoom(drawing, room);
  const smaller = ZOOMS.findLast((one) => one < zoom);
  const larger = ZOOMS.find((one) => one > zoom);
  const rows = useMemo(
    () => new Map(props.steps.map((step) => [step.step_id, step])),
    [props.steps],
  );
  const entry = chosen !== undefined && drawing.steps.has(chosen) ? chosen : drawing.layers[0]?.[0];

  function onKeyDown(event: KeyboardEvent): void {
    const direction = KEYS[event.key];
    if (direction === undefined || entry === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const next = stepBeside(drawing, chosen ?? entry, direction);
    if (next !== undefined) props.onChoose(next);
  }

  useEffect(() => {
    if (box.current?.contains(document.activeElement) !== true) return;
    const node = box.current.querySelector<SVGGElement>("[aria-selected=true]");
    node?.focus({ preventScroll: true });
    node?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [chosen]);

  useEffect(() => {
    // The first step of a broad plan is far from the corner.
    const node = box.current?.querySelector<SVGGElement>("[role=option][tabindex='0']");
    node?.scrollIntoView({ block: "center", inline: "nearest" });
  }, [chosenZoom]);

  return (
    <div class="plan-drawing">
      <div class="pager" role="group" aria-label="Size of the drawing">
        <Button
          aria-label="Smaller"
          disabled={smaller === undefined}
          onClick={() => setZoom(smaller)}
        >
          −
        </Button>
        <Button aria-label="Larger" disabled={larger === undefined} onClick={() => setZoom(larger)}>
          +
        </Button>
        <Button aria-pressed={chosenZoom === undefined} onClick={() => setZoom(undefined)}>
          Fit
        </Button>
        <span class="quiet">{Math.round(zoom * 100)} %</span>
      </div>
      <div class="plan-room" ref={box}>
        <svg
          role="listbox"
          aria-label="Steps; arrow keys lead along the dependencies"
          width={drawing.width * zoom}
          height={drawing.height * zoom}
          viewBox={`0 0 ${drawing.width} ${drawing.height}`}
          onKeyDown={onKeyDown}
        >
          <defs>
            <marker
              id="plan-arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="9"
              markerHeight="9"
              markerUnits="userSpaceOnUse"
              orient="auto-start-reverse"
            >
              <path d="M0 0L8 4L0 8z" class="plan-arrow" />
            </marker>
          </defs>
          <g aria-hidden="true">
            {drawing.edges.map(({ from, to, path, kind }) => (
              <path
                key={`${from}\n${to}`}
                d={path}
                class={`plan-edge ${kind} ${from === chosen || to === chosen ? "near" : ""}`}
                marker-end="url(#plan-arrow)"
              />
            ))}
          </g>
          {[...drawing.steps].map(([step_id, place]) => (
            <StepBox
              key={step_id}
              step_id={step_id}
              step={rows.get(step_id)}
              place={place}
              is_chosen={step_id === chosen}
              is_entry={step_id === entry}
              onChoose={props.onChoose}
            />
          ))}
        </svg>
      </div>
    </div>
  );
}

interface Room {
  readonly width: number;
  readonly height: number;
}

/** What there is for the drawing: as wide as its place, and a part of the window's height. */
function useRoom(box: RefObject<HTMLElement | null>): Room | undefined {
  const [room, setRoom] = useState<Room>();
  useLayoutEffect(() => {
    const place = box.current;
    if (place === null) return;
    const measure = () =>
      setRoom({ width: place.clientWidth, height: innerHeight * MOST_OF_WINDOW });
    const observer = new ResizeObserver(measure);
    observer.observe(place);
    addEventListener("resize", measure);
    measure();
    return () => {
      observer.disconnect();
      removeEventListener("resize", measure);
    };
  }, []);
  return room;
}

/** So that the whole drawing is seen; never larger than it was drawn. */
export function fitZoom(
  drawing: Pick<Drawing, "width" | "height">,
  room: Room | undefined,
): number {
  if (room === undefined) return 1;
  const most = Math.min(1, room.width / drawing.width, room.height / drawing.height);
  return Math.max(LEAST_ZOOM, Math.floor(most * 100) / 100);
}

const TITLE_CHARS = 25;

function StepBox(props: {
  step_id: string;
  step: StepRow | undefined;
  place: PlacedStep;
  is_chosen: boolean;
  is_entry: boolean;
  onChoose: (step_id: string) => void;
}) {
  const { step_id, step, place } = props;
  const { icon, word, tone } = findSign(step?.status ?? "unknown");
  const title = visibleLine(step?.title ?? step_id);
  const tries = step !== undefined && step.attempts > 1 ? `, try ${step.attempts}` : "";
  return (
    <g
      role="option"
      aria-selected={props.is_chosen}
      aria-label={`${title}: ${word}${tries}`}
      // In a drawing the name of this one has no capital.
      tabindex={props.is_entry ? 0 : -1}
      class="plan-step"
      style={toneStyle(tone)}
      transform={`translate(${place.x} ${place.y})`}
      onClick={() => props.onChoose(step_id)}
      onFocus={() => {
        if (!props.is_chosen) props.onChoose(step_id);
      }}
    >
      <title>{title}</title>
      <rect width={STEP_WIDTH} height={STEP_HEIGHT} rx="5" />
      <rect class="plan-edge-mark" width="5" height={STEP_HEIGHT} rx="2" />
      <text x="14" y="23" class="plan-title">
        {cut(title)}
      </text>
      <text x="14" y="43" class="plan-status">
        {icon} {word}
        {tries}
      </text>
    </g>
  );
}

function cut(title: string): string {
  const chars = Array.from(title);
  return chars.length > TITLE_CHARS ? `${chars.slice(0, TITLE_CHARS - 1).join("")}…` : title;
}
