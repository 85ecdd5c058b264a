// What the list of tools costs with every request, and what it would cost without deferring.

import type { SurfaceView } from "../../wire/index.ts";

export function TokenCost(props: { tokens: SurfaceView["tokens"] }) {
  const { loaded, deferred_names, deferred_in_full } = props.tokens;
  const sent = loaded + deferred_names;
  const saved = Math.max(0, deferred_in_full - deferred_names);
  const parts = [
    { key: "loaded", tokens: loaded, name: "loaded, in full" },
    { key: "names", tokens: deferred_names, name: "names of deferred ones" },
    { key: "saved", tokens: saved, name: "not sent, because they are deferred" },
  ];
  return (
    <figure class="token-cost">
      <figcaption>
        About <strong>{sent.toLocaleString("en")}</strong> tokens with every request
        {saved > 0 && (
          <>
            ; all in full would be about{" "}
            <strong>{(loaded + deferred_in_full).toLocaleString("en")}</strong>
          </>
        )}
        .
      </figcaption>
      <div class="token-bar" aria-hidden="true">
        {parts.map(({ key, tokens }) => (
          <span key={key} class={`token-${key}`} style={{ flexGrow: String(tokens) }} />
        ))}
      </div>
      <ul class="token-legend">
        {parts.map(({ key, tokens, name }) => (
          <li key={key}>
            <span class={`token-swatch token-${key}`} aria-hidden="true" />{" "}
            {tokens.toLocaleString("en")} {name}
          </li>
        ))}
      </ul>
    </figure>
  );
}
