import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { toOneColumn, unfold } from '../../state/text/diff-pieces.ts';
import type { DiffRow, FileDiff } from '../../state/text/diff-rows.ts';
import { findFileLanguage } from '../../state/text/languages.ts';
import { lastPage } from '../../state/text/last-page.ts';
import { useRemembered } from '../conversation/conversation-context.ts';
import { useHighlighted } from './code-text.tsx';
import { DiffRowView } from './diff-row-view.tsx';
import { FileName } from './file-name.tsx';
import { Pager } from './pager.tsx';

/** Maximum number of rows in the document. */
const PAGE_ROWS = 300;
/** Minimum width to show both sides next to each other. */
const MIN_SPLIT_PX = 700;

/** The diff of one file, in one column or side by side. */
export function FileDiffView({ file, numbered }: { file: FileDiff; numbered: boolean }) {
  const element = useRef<HTMLElement>(null);
  const isWide = useIsWide(element);
  const [chosen, choose] = useRemembered('diffs beside each other');
  const page = useSignal(0);
  const [opened, setOpened] = useState<ReadonlySet<DiffRow>>(new Set());
  const isOneSided = file.oldName === undefined || file.newName === undefined;
  const isSplit = !isOneSided && (chosen ?? isWide);
  const rows = useMemo(() => {
    const open = unfold(file.rows, opened);
    return isSplit ? open : toOneColumn(open);
  }, [file, opened, isSplit]);
  const at = Math.min(page.value, lastPage(rows.length, PAGE_ROWS)); // side by side, there are fewer rows
  const shown = rows.slice(at * PAGE_ROWS, (at + 1) * PAGE_ROWS);
  const name = file.newName ?? file.oldName ?? '';
  return (
    <section ref={element} class={`diff ${isSplit ? 'split' : 'unified'} ${numbered ? '' : 'unnumbered'}`}>
      <header class="diff-head">
        <span class="diff-name">
          <FileName text={name} />
        </span>
        {file.oldName === undefined && <span class="tag">new</span>}
        <span class="diff-count">
          {file.added > 0 && <b class="added">{`+${file.added}`}</b>}
          {file.removed > 0 && <b class="removed">{`−${file.removed}`}</b>}
        </span>
        {!isOneSided && (
          <button type="button" class="quiet" aria-pressed={isSplit} onClick={() => choose(!isSplit)}>
            {isSplit ? 'One column' : 'Side by side'}
          </button>
        )}
      </header>
      {rows.length > PAGE_ROWS && <Pager page={page} size={PAGE_ROWS} total={rows.length} />}
      <Rows
        rows={shown}
        name={name}
        isSplit={isSplit}
        onOpen={(row) => setOpened((before) => new Set([...before, row]))}
      />
    </section>
  );
}

interface RowsProps {
  rows: readonly DiffRow[];
  name: string;
  isSplit: boolean;
  onOpen(row: DiffRow): void;
}

function Rows({ rows, name, isSplit, onOpen }: RowsProps) {
  const language = findFileLanguage(name);
  const before = useMemo(() => linesOf(rows, 'before'), [rows]);
  const after = useMemo(() => linesOf(rows, 'after'), [rows]);
  const oldColours = useHighlighted(before.join('\n'), language);
  const newColours = useHighlighted(after.join('\n'), language);
  let oldLine = 0;
  let newLine = 0;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
    <div class="diff-rows" tabIndex={0}>
      {rows.map((row, index) => {
        const hasBefore = 'before' in row && row.before !== undefined;
        const hasAfter = 'after' in row && row.after !== undefined;
        return (
          <DiffRowView
            key={index}
            row={row}
            isSplit={isSplit}
            before={hasBefore ? oldColours?.[oldLine++] : undefined}
            after={hasAfter ? newColours?.[newLine++] : undefined}
            onOpen={onOpen}
          />
        );
      })}
    </div>
  );
}

const linesOf = (rows: readonly DiffRow[], side: 'before' | 'after'): readonly string[] =>
  rows.flatMap((row) => (row.kind === 'same' || row.kind === 'changed' ? (row[side]?.text ?? []) : []));

function useIsWide(element: { current: HTMLElement | null }): boolean {
  const [isWide, setIsWide] = useState(false);
  useLayoutEffect(() => {
    if (!element.current) return;
    setIsWide(element.current.clientWidth >= MIN_SPLIT_PX);
    const sizes = new ResizeObserver(([entry]) => setIsWide((entry?.contentRect.width ?? 0) >= MIN_SPLIT_PX));
    sizes.observe(element.current);
    return () => sizes.disconnect();
  }, []);
  return isWide;
}
