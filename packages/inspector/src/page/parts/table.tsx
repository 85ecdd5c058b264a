// Tables, and lists of names with values.

import type { ComponentChildren } from "preact";

export function Table(props: {
  /** Names of columns; one that begins with `#` is of numbers. */
  head: readonly string[];
  class?: string;
  caption?: string;
  children: ComponentChildren;
}) {
  return (
    <table class={props.class === undefined ? "table" : `table ${props.class}`}>
      {props.caption !== undefined && <caption class="unseen">{props.caption}</caption>}
      <thead>
        <tr>
          {props.head.map((name) => (
            <th key={name} scope="col" class={name.startsWith("#") ? "number" : undefined}>
              {name.replace(/^#/, "")}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{props.children}</tbody>
    </table>
  );
}

/** A row of a `dl`; nothing where there is no value. */
export function Pair(props: { name: string; children: ComponentChildren }) {
  const { children } = props;
  if (children === undefined || children === null || children === false) return null;
  return (
    <>
      <dt>{props.name}</dt>
      <dd>{children}</dd>
    </>
  );
}
