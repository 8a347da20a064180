import type { Desk } from '../../state/app.ts';
import type { Tab } from '../../state/tab.ts';
import { Icon } from '../icons.tsx';

/** The files attached to the draft, each with a button to remove it. */
export function ChipList({ desk, tab }: { desk: Desk; tab: Tab }) {
  const chips = tab.chips.value;
  if (chips.length === 0) return null;
  return (
    <ul class="chips" aria-label="Attachments">
      {chips.map((chip) => (
        <li key={chip.key} class="chip" aria-busy={chip.attachment === undefined}>
          <Icon name="clip" />
          <span class="chip-name">{chip.name}</span>
          <button
            type="button"
            class="quiet"
            aria-label={`Remove ${chip.name}`}
            title="Remove"
            onClick={() => void desk.chips.detach(tab, chip)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
