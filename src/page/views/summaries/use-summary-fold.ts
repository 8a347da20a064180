import { useMemo, useState } from 'preact/hooks';
import type { Block } from '../../state/conversation/blocks.ts';
import { applyFold, findSummaryFold } from '../../state/conversation/summary-fold.ts';

interface ShownBlocks {
  blocks: readonly Block[];
  /** Messages are hidden behind the summary. */
  isFolded: boolean;
  toggle(): void;
}

/**
 * Hides the messages that a summary stands for. They stay in view if the summary came while the page was open, so that
 * nothing that a person reads disappears.
 */
export function useSummaryFold(blocks: readonly Block[], remembered: Map<string, boolean>): ShownBlocks {
  const [, redraw] = useState(0);
  const fold = findSummaryFold(blocks);
  const name = `summary ${fold?.summary.toSeq}`;
  const isOpen = remembered.get(name) ?? fold?.summary.isNew === true;
  const shown = useMemo(() => applyFold(blocks, fold, isOpen), [blocks, isOpen]);
  return {
    blocks: shown,
    isFolded: fold !== undefined && !isOpen,
    toggle() {
      remembered.set(name, !isOpen);
      redraw((times) => times + 1);
    },
  };
}
