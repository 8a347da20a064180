import { useEffect, useMemo, useState } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { Desk } from '../../state/app.ts';
import { toAge } from '../../state/rail/age.ts';
import type { Narrowing } from '../../state/rail/rail-filters.ts';
import { SavedList, type SavedRow, savedName } from '../../state/saved-list.ts';
import { ReadingNotice } from '../reading-notice.tsx';

interface SavedHitsProps {
  desk: Desk;
  words: string;
  narrowing: Narrowing;
  /** Takes the filters off; undefined: there are none. */
  clear: (() => void) | undefined;
  /** Of the open workstreams. */
  openHits: number;
  onChosen(): void;
}

/** Pause in typing after which the search starts. */
const PAUSE_MS = 150;

/** The saved conversations that have the words in their name or first message, fit the filters, and are not open. */
export function SavedHits({ desk, words, narrowing, clear, openHits, onChosen }: SavedHitsProps) {
  const list = useMemo(() => new SavedList(desk.client), [desk]);
  const [problem, setProblem] = useState<string>();
  useEffect(() => systemTimers.after(PAUSE_MS, () => void list.search(words, narrowing)), [list, words, narrowing]);
  const rows = list.listing.value?.rows.filter(({ loaded }) => !loaded);
  const open = (row: SavedRow) =>
    desk.workstreams.create({ resumeWs: row.wsId }).then(onChosen, (error) => setProblem(wordsOf(error)));
  return (
    <>
      {rows && rows.length > 0 && <li class="tabs-head">Saved</li>}
      {rows?.map((row) => (
        <li key={row.wsId} class="tab">
          <button type="button" class="tab-main" onClick={() => void open(row)}>
            <span class="tab-name" dir="auto">
              {savedName(row)}
            </span>
            <span class="tab-age">{toAge(row.updatedMs, desk.now())}</span>
          </button>
        </li>
      ))}
      <li class="rail-notice">
        <ReadingNotice of={[list.reading]} />
        <p class="problem" role="alert">
          {problem}
        </p>
        <p class="hidden-text" role="status">
          {rows && `${openHits + rows.length} found`}
        </p>
        {rows && rows.length + openHits === 0 && (
          <p class="empty">
            {clear
              ? 'Nothing matches.'
              : 'No workstream has these words in its name or first message. Try one word, or a part of one.'}
            {clear && (
              <button type="button" class="quiet" onClick={clear}>
                Remove the filters
              </button>
            )}
          </p>
        )}
      </li>
    </>
  );
}
