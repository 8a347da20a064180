import type { Signal } from '@preact/signals';
import type { Desk } from '../../state/app.ts';
import type { Tab } from '../../state/tab.ts';

/** A long text that became a file. */
export interface Pasted {
  name: string;
  text: string;
}

interface PastedNoticeProps {
  desk: Desk;
  tab: Tab;
  pasted: Signal<Pasted | undefined>;
}

/** Offers to put a long text into the message after all, as long as its file is attached. */
export function PastedNotice({ desk, tab, pasted }: PastedNoticeProps) {
  const chip = tab.chips.value.find(({ name }) => name === pasted.value?.name);
  const insert = () => {
    if (!chip || !pasted.value) return;
    tab.draft.value += pasted.value.text;
    void desk.chips.detach(tab, chip);
    pasted.value = undefined;
    document.getElementById('message')?.focus();
  };
  return (
    <p class="pasted" role="status">
      {chip && (
        <>
          The long text became a file.{' '}
          <button type="button" class="quiet" onClick={insert}>
            Put it into the message
          </button>
        </>
      )}
    </p>
  );
}
