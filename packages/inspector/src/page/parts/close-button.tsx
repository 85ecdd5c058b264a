// The button that shuts a pane, as `Esc` does.

export function CloseButton(props: { onClose: () => void }) {
  return (
    <button type="button" class="button" title="Close (Esc)" onClick={props.onClose}>
      <span aria-hidden="true">×</span>
      <span class="unseen">Close</span>
    </button>
  );
}
