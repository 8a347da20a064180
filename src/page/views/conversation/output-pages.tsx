import { type ReadonlySignal, type Signal, useSignal, useSignalEffect } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import {
  createOutputReader,
  type OutputOf,
  type OutputPage,
  type OutputReader,
  PAGE_BYTES,
} from '../../state/conversation/output-reader.ts';
import { Icon } from '../icons.tsx';
import { AnsiText } from '../text/ansi-text.tsx';
import { Pager } from '../text/pager.tsx';
import { useConversation } from './conversation-context.ts';
import { createFinder, type Finder } from './finder.ts';

interface OutputPagesProps {
  of: OutputOf;
  /** The page to begin with. */
  first: number;
  /** Begin at the end of that page. */
  endFirst: boolean;
  /** Undefined where it cannot be closed. */
  onClose?: () => void;
}

/** The full output of a tool, one page at a time, with search and download. */
export function OutputPages({ of, first, endFirst, onClose }: OutputPagesProps) {
  const { client, wsId } = useConversation();
  const reader = useMemo(() => createOutputReader({ client, wsId, of, timers: systemTimers }), Object.values(of));
  const page = useSignal(first);
  const shown = useSignal<{ page: number; read: OutputPage } | undefined>(undefined);
  /** The page that is drawn completely. */
  const drawn = useSignal<number | undefined>(undefined);
  const problem = useSignal('');
  const attempt = async (work: () => Promise<void>) => {
    problem.value = '';
    try {
      await work();
    } catch (error) {
      problem.value = wordsOf(error);
      found.value = '';
    }
  };
  const { text, search, found, onDrawn } = usePageSearch({ reader, page, drawn, attempt });
  const goesToEnd = useRef(endFirst);
  useSignalEffect(() => {
    const asked = page.value;
    void attempt(async () => {
      const read = await reader.read(asked);
      if (page.peek() === asked) shown.value = { page: asked, read };
    });
  });
  /** A page is drawn in several frames. Its end is known after the last one. */
  const whenDrawn = () => {
    const { current: element } = text;
    if (element && goesToEnd.current) element.scrollTop = element.scrollHeight;
    goesToEnd.current = false;
    drawn.value = shown.peek()?.page;
    return onDrawn();
  };
  const download = () => attempt(async () => saveFile(await reader.readAll(), `output-${wsId}.txt`));

  return (
    <div class="output-frame whole">
      <div class="output-tools">
        {shown.value && <Pager page={page} size={PAGE_BYTES} total={shown.value.read.totalBytes} />}
        <SearchField onSearch={(words) => void search(words)} outcome={found.value} />
        <button type="button" class="quiet" onClick={() => void download()}>
          <Icon name="down" />
          Download
        </button>
        {onClose && (
          <button type="button" class="quiet" onClick={onClose}>
            Show less
          </button>
        )}
      </div>
      {problem.value !== '' && <p class="problem">{problem.value}</p>}
      <pre
        key={shown.value?.page} // another page begins at its top
        ref={text}
        class="output"
        aria-busy={drawn.value !== page.value}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
        tabIndex={0}
      >
        {shown.value && <AnsiText key={shown.value.page} text={shown.value.read.text} onDrawn={whenDrawn} />}
      </pre>
    </div>
  );
}

interface PageSearch {
  reader: Pick<OutputReader, 'findPage'>;
  page: Signal<number>;
  drawn: ReadonlySignal<number | undefined>;
  attempt(work: () => Promise<void>): Promise<void>;
}

/** Finds words in the page that is drawn, then in the others. */
function usePageSearch({ reader, page, drawn, attempt }: PageSearch) {
  const found = useSignal('');
  const text = useRef<HTMLPreElement>(null);
  const finder = useRef<Finder | undefined>(undefined);
  /** Words to find once the page is drawn. */
  const wanted = useRef<string | undefined>(undefined);
  const find = async (words: string, here: Finder) => {
    if (here.next(words)) {
      found.value = '';
      return;
    }
    found.value = 'Searching…';
    const at = await reader.findPage(words, page.peek() + 1);
    found.value = at === undefined ? 'No further match' : '';
    if (at === undefined) return;
    wanted.current = words;
    page.value = at;
  };
  const search = (words: string) =>
    attempt(async () => {
      if (words === '') return;
      // Another page may be on its way: the words are found in that one.
      if (finder.current && drawn.peek() === page.peek()) await find(words, finder.current);
      else wanted.current = words;
    });
  const onDrawn = () => {
    const made = text.current ? createFinder(text.current) : undefined;
    const { current: words } = wanted;
    finder.current = made;
    wanted.current = undefined;
    if (words !== undefined) void search(words);
    return () => {
      made?.clear();
      if (finder.current === made) finder.current = undefined;
    };
  };
  return { text, search, found, onDrawn };
}

function saveFile(parts: string[], name: string): void {
  const url = URL.createObjectURL(new Blob(parts, { type: 'text/plain' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  systemTimers.after(60_000, () => URL.revokeObjectURL(url));
}

function SearchField({ onSearch, outcome }: { onSearch(words: string): void; outcome: string }) {
  const words = useSignal('');
  return (
    <form
      class="output-search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(words.value);
      }}
    >
      <input
        type="search"
        aria-label="Find in the output"
        placeholder="Find…"
        maxLength={200}
        value={words.value}
        onInput={({ currentTarget }) => {
          words.value = currentTarget.value;
        }}
      />
      <button type="submit" class="quiet">
        Find next
      </button>
      <span role="status">{outcome}</span>
    </form>
  );
}
