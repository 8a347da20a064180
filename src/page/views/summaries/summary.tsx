import type { SummaryBlock } from '../../state/conversation/blocks.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { Icon } from '../icons.tsx';

interface SummaryProps {
  block: SummaryBlock;
  /** The original messages are shown above. */
  isOpen: boolean;
  toggle(): void;
}

/** Stands in place of the messages that only people read now. They are behind a button, and the summary in a fold. */
export const Summary = ({ block, isOpen, toggle }: SummaryProps) => (
  <section class="block summary" aria-label="Summary for the model">
    <details class="reasoning">
      <summary>
        <Icon name="chevron" />
        Summarized for the model
      </summary>
      <div class="reasoning-text">{showHidden(block.text)}</div>
    </details>
    <button type="button" class="quiet" aria-expanded={isOpen} onClick={toggle}>
      <Icon name="chevron" />
      {isOpen ? 'Hide the original messages' : 'Show the original messages'}
    </button>
  </section>
);
