import { useEffect, useMemo, useState } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import type { FoundMessage } from '../../../../protocol/methods/conversation/listing.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { Desk } from '../../state/app.ts';
import { toAge } from '../../state/rail/age.ts';
import { MessageFinder, wordsToMark } from '../../state/rail/message-finder.ts';
import type { Narrowing } from '../../state/rail/rail-filters.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { toCount } from '../panel.tsx';

interface MessageHitsProps {
  desk: Desk;
  words: string;
  narrowing: Narrowing;
  onChosen(): void;
}

/** Pause in typing after which the search starts. */
const PAUSE_MS = 250;

/** The messages of all conversations that have the words. Each opens its conversation there, with the words marked. */
export function MessageHits({ desk, words, narrowing, onChosen }: MessageHitsProps) {
  const finder = useMemo(() => new MessageFinder(desk.client), [desk]);
  const [problem, setProblem] = useState<string>();
  useEffect(() => systemTimers.after(PAUSE_MS, () => void finder.find(words, narrowing)), [finder, words, narrowing]);
  const found = finder.found.value;
  const open = (hit: FoundMessage) =>
    desk.workstreams
      .visit({ wsId: hit.wsId, seq: hit.seq }, wordsToMark(words, hit.excerpt))
      .then(onChosen, (error) => setProblem(wordsOf(error)));
  return (
    <>
      {found && found.messages.length > 0 && <li class="tabs-head">Messages</li>}
      {found?.messages.map((hit) => (
        <li key={`${hit.wsId} ${hit.seq}`} class="tab">
          <button type="button" class="tab-main message-hit" onClick={() => void open(hit)}>
            <span class="message-hit-head">
              <span class="tab-name" dir="auto">
                {hit.name}
              </span>
              <span class="tab-age">{toAge(hit.createdMs, desk.now())}</span>
            </span>
            <span class="message-hit-text" dir="auto">
              {hit.role === 'user' && <span class="hidden-text">You: </span>}
              {showHidden(hit.excerpt)}
            </span>
          </button>
        </li>
      ))}
      <li class="rail-notice">
        <p class="problem" role="alert">
          {problem ?? found?.problem}
        </p>
        <p class="hidden-text" role="status">
          {found && `${toCount(found.messages.length, 'message') || 'No messages'} found`}
        </p>
      </li>
    </>
  );
}
