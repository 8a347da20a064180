import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Block } from '../../state/conversation/blocks.ts';
import { stepFound } from '../../state/finding/block-search.ts';
import { toFoundWords } from '../../state/finding/found-words.ts';
import type { Tab } from '../../state/tab.ts';
import { Icon, type IconName } from '../icons.tsx';
import { useMatches } from './use-matches.ts';

export const SEARCH_FIELD = 'find-in-conversation';

interface FindBarProps {
  tab: Tab;
  blocks: readonly Block[];
  words: string;
  /** Older messages exist that are not loaded. */
  truncated: boolean;
  /** Resolves to whether there may be more. */
  loadEarlier(): Promise<boolean>;
}

/** Searches the conversation. Enter shows the match above, because the latest come first, and Shift+Enter the one below; Escape closes. */
export function FindBar({ tab, blocks, words, truncated, loadEarlier }: FindBarProps) {
  const { found, isBusy } = useMatches(blocks, words);
  const [at, setAt] = useState<string>();
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  useLayoutEffect(() => setAt(undefined), [words]);
  const step = (by: 1 | -1) => {
    const key = stepFound(found, at, by);
    if (key === undefined) return;
    setAt(key);
    tab.goal.value = { key };
  };
  const close = () => {
    tab.search.value = undefined;
    document.getElementById('message')?.focus({ preventScroll: true });
  };
  return (
    <search class="find-bar">
      <input
        ref={field}
        id={SEARCH_FIELD}
        type="search"
        aria-label="Find in this conversation"
        placeholder="Find in this conversation"
        autocomplete="off"
        enterkeyhint="search"
        value={words}
        onInput={({ currentTarget }) => {
          tab.search.value = currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return;
          event.preventDefault();
          if (event.key === 'Escape') close();
          else step(event.shiftKey ? 1 : -1);
        }}
      />
      <span class="find-count" role="status">
        {toFoundWords({ words, blocks, found, at, isBusy })}
      </span>
      {truncated && words.trim() !== '' && <EarlierButton loadEarlier={loadEarlier} />}
      <Step label="Match above (Enter)" icon="up" disabled={found.length === 0} onClick={() => step(-1)} />
      <Step label="Match below (Shift+Enter)" icon="down" disabled={found.length === 0} onClick={() => step(1)} />
      <Step label="Close the search (Esc)" icon="close" onClick={close} />
    </search>
  );
}

/** Loads page after page until everything is there, or until it is pressed again. */
function EarlierButton({ loadEarlier }: Pick<FindBarProps, 'loadEarlier'>) {
  const [isLoading, setLoading] = useState(false);
  const wanted = useRef(false);
  useEffect(
    () => () => {
      wanted.current = false;
    },
    [],
  );
  const run = async () => {
    wanted.current = !wanted.current;
    setLoading(wanted.current);
    while (wanted.current && (await loadEarlier()));
    if (wanted.current) setLoading(false);
    wanted.current = false;
  };
  return (
    <button type="button" class="quiet" onClick={() => void run()}>
      {isLoading ? 'Stop loading' : 'Search earlier messages'}
    </button>
  );
}

const Step = (props: { label: string; icon: IconName; disabled?: boolean; onClick(): void }) => (
  <button
    type="button"
    class="quiet icon-only"
    aria-label={props.label}
    title={props.label}
    disabled={props.disabled ?? false}
    onClick={props.onClick}
  >
    <Icon name={props.icon} />
  </button>
);
