import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { App, Desk } from '../../state/app.ts';
import { fits, toDay, toNarrowing } from '../../state/rail/rail-filters.ts';
import { narrowSections, SECTION_WORDS } from '../../state/rail/rail-sections.ts';
import { walk } from '../arrow-keys.ts';
import { TabButton } from '../tab-button.tsx';
import { useOtherTabs } from '../use-other-tabs.ts';
import { MessageHits } from './message-hits.tsx';
import { RailHead } from './rail-head.tsx';
import { SavedHits } from './saved-hits.tsx';
import { UndoNotice } from './undo-notice.tsx';

interface TabListProps {
  app: App;
  desk: Desk;
  onChosen(): void;
}

/** The open workstreams in sections, and what a search finds among the saved ones. */
export function TabList({ app, desk, onChosen }: TabListProps) {
  const words = useSignal('');
  useOtherTabs(desk.rail.pins);
  const tabs = desk.workstreams.tabs.value;
  const { narrowing, clear, button } = useFilters(desk);
  const sections = narrowSections(desk.workstreams.sections.value, words.value, (tab) => fits(tab, narrowing));
  const listed = sections.flatMap(({ rows }) => rows);
  // The front one may be hidden by the search or a filter.
  const next = listed.find(({ tab }) => tab === desk.workstreams.front.value) ?? listed[0];
  const rows = tabs.map(({ row }) => row.value);
  const { owners } = desk;
  useEffect(() => void owners.read(rows), [owners, rows.map(({ userId }) => userId).join()]);
  const mayClose = desk.workstreams.listed.value.length > 1 && app.rights.closeWorkstreams.value;
  const hasWords = words.value.trim() !== '';
  const finish = () => {
    words.value = '';
    onChosen();
  };
  return (
    <>
      <RailHead app={app} desk={desk} words={words} button={button} />
      {/* A tab list may contain only tabs, but each tab has buttons next to it. */}
      <div
        role="tablist"
        aria-label="Open workstreams"
        aria-orientation="vertical"
        aria-owns={listed.map(({ tab }) => `tab-${tab.wsId}`).join(' ')}
      />
      <ul class="tabs" onKeyDown={(event) => walk(event, '.tab-main')}>
        {sections.map(({ name, rows: shown }) => (
          <Fragment key={name}>
            {sections.length > 1 && <li class="tabs-head">{SECTION_WORDS[name]}</li>}
            {shown.map((row) => (
              <TabButton
                key={row.tab.wsId}
                app={app}
                listed={row}
                desk={desk}
                mayClose={mayClose}
                isNext={row === next}
                onChosen={onChosen}
              />
            ))}
          </Fragment>
        ))}
        {(hasWords || clear) && (
          <SavedHits
            desk={desk}
            words={words.value}
            narrowing={narrowing}
            clear={clear}
            openHits={listed.length}
            onChosen={finish}
          />
        )}
        {hasWords && <MessageHits desk={desk} words={words.value} narrowing={narrowing} onChosen={finish} />}
      </ul>
      <UndoNotice desk={desk} />
    </>
  );
}

/** The filters of the list, and how to take them off, if some are on. */
function useFilters({ rail: { filters }, now }: Desk) {
  const button = useRef<HTMLButtonElement>(null);
  const chosen = filters.chosen.value;
  const today = toDay(now());
  const narrowing = useMemo(() => toNarrowing(chosen, today), [chosen, today]);
  const clear = () => {
    filters.clear();
    button.current?.focus();
  };
  return { narrowing, button, clear: Object.keys(narrowing).length === 0 ? undefined : clear };
}
