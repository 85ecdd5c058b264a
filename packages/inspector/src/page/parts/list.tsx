// Tables, lists of names with values, and long lists of which the first are shown.

import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import { exactLine } from "@soong/core/internal";
import { LinkButton } from "./button.tsx";
import { CutText } from "./text.tsx";

/** `head`: names of columns; one that begins with `#` is of numbers. */
export function Table<Row>(props: {
  head: readonly string[];
  rows: readonly Row[];
  cells: (row: Row) => readonly ComponentChildren[];
  isMarked?: (row: Row) => boolean;
  class?: string;
  caption?: string;
}) {
  const { head, caption } = props;
  const classOf = (name = "") => (name.startsWith("#") ? "number" : undefined);
  return (
    <table class={props.class === undefined ? "table" : `table ${props.class}`}>
      {caption !== undefined && <caption class="unseen">{caption}</caption>}
      <thead>
        <tr>
          {head.map((name) => (
            <th key={name} scope="col" class={classOf(name)}>
              {name.replace(/^#/, "")}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map((row, index) => (
          <tr key={index} class={props.isMarked?.(row) ? "decisive" : undefined}>
            {props.cells(row).map((cell, column) => (
              <td key={column} class={classOf(head[column])}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Names with their values; without those that have none. */
export function Pairs(props: {
  pairs: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  return (
    <dl class="about">
      {props.pairs.map(([name, value]) =>
        value === undefined || value === null || value === false || value === "" ? null : (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ),
      )}
    </dl>
  );
}

const MOST_ITEMS = 30;

/** What the user approves, or what bounds it, one a line (PERM-19). */
export function ExactList({ items }: { items: readonly string[] }) {
  const [shown, more] = useFirst(items, MOST_ITEMS);
  return (
    <ul class="plain mono">
      {shown.map((item, index) => (
        <li key={index}>
          <CutText text={exactLine(item)} exact />
        </li>
      ))}
      {more && <li>{more}</li>}
    </ul>
  );
}

/** The first ones, and a button for more of them, which calls them by `name`. */
export function useFirst<Item>(
  items: readonly Item[],
  first: number,
  name = "",
  button: { readonly tabIndex?: number } = {},
): [shown: readonly Item[], more: ComponentChildren, showAtLeast: (count: number) => void] {
  const [limit, setLimit] = useState(first);
  const left = items.length - limit;
  const more = left > 0 && (
    <LinkButton {...button} onClick={() => setLimit(limit * 4)}>
      {name === "" ? `${left} more` : `Show more: ${left} of ${items.length} ${name} are not shown`}
    </LinkButton>
  );
  return [items.slice(0, limit), more, (count) => setLimit(Math.max(limit, count))];
}
