// Two or more ways to look at the same thing, a button each; the one that is shown is pressed.

export function LookButtons<Look extends string>(props: {
  looks: Readonly<Record<Look, string>>;
  shown: Look;
  onShow: (look: Look) => void;
}) {
  return (Object.entries(props.looks) as [Look, string][]).map(([look, name]) => (
    <button
      key={look}
      type="button"
      class="button"
      aria-pressed={props.shown === look}
      onClick={() => props.onShow(look)}
    >
      {name}
    </button>
  ));
}
