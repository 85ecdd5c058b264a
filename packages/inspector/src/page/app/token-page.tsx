// The page while it has no token, or a wrong one.

import { useState } from "preact/hooks";
import { pastedToken } from "../api/token.ts";
import { focusOnce } from "../parts/button.tsx";

export function TokenPage(props: { why: "missing" | "wrong"; onToken: (token: string) => void }) {
  const [problem, setProblem] = useState<string>();
  return (
    <main class="token-page">
      <h1>Soong inspector</h1>
      <p role="alert">
        {props.why === "missing"
          ? "The address has no token."
          : "The token is wrong: the inspector was restarted, or this is the address of another one."}
      </p>
      <p>
        Copy the whole line printed by <code>soong inspect</code> printed, and open it or paste it
        here.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const field = event.currentTarget.elements.namedItem("address");
          const token = field instanceof HTMLInputElement ? pastedToken(field.value) : undefined;
          if (token === undefined) setProblem("No token found: it ends with #token=…");
          else props.onToken(token);
        }}
      >
        <label class="field">
          Address or token
          <input
            name="address"
            type="text"
            autoComplete="off"
            spellcheck={false}
            ref={focusOnce}
            placeholder="http://127.0.0.1:4321/#token=…"
            aria-describedby="token-problem"
          />
        </label>
        <button type="submit" class="button primary">
          Open
        </button>
      </form>
      <p id="token-problem" class="problem" role="status">
        {problem}
      </p>
    </main>
  );
}
