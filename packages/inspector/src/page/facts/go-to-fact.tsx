// Jumps to a place in a list of facts.

export function GoToFact(props: { total: number; onGo: (index: number) => void }) {
  return (
    <form
      class="go-to"
      onSubmit={(event) => {
        event.preventDefault();
        const field = event.currentTarget.elements.namedItem("place");
        if (!(field instanceof HTMLInputElement) || props.total === 0) return;
        const place = Number(field.value);
        if (Number.isInteger(place)) {
          props.onGo(Math.min(props.total, Math.max(1, place)) - 1);
          document.getElementById("facts")?.focus();
        }
      }}
    >
      <label>
        Go to{" "}
        <input name="place" type="number" min="1" max={props.total} data-search required size={8} />
      </label>
    </form>
  );
}
