import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Block } from '../../state/conversation/blocks.ts';
import { BlockSearch } from '../../state/finding/block-search.ts';
import { whenIdle } from '../text/idle.ts';

interface Matches {
  /** The keys of the blocks that contain the words. */
  found: readonly string[];
  /** Not all blocks have been looked at. */
  isBusy: boolean;
}

/** Characters searched at once. */
const STEP_CHARS = 400_000;

/** Searches the blocks of a conversation, in steps. */
export function useMatches(blocks: readonly Block[], words: string): Matches {
  const search = useMemo(() => new BlockSearch(words), [words]);
  const [steps, setSteps] = useState(0);
  const isDone = useMemo(() => search.step(blocks, STEP_CHARS), [search, blocks, steps]);
  useEffect(() => (isDone ? undefined : whenIdle(() => setSteps(steps + 1))), [search, isDone, steps]);
  const found = useMemo(() => (search.words === '' ? [] : search.found(blocks)), [search, blocks, steps]);
  return { found, isBusy: !isDone };
}
