import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Desk } from '../../state/app.ts';
import type { InboxPanel } from '../../state/inbox/inbox-panel.ts';
import type { WaitingThing } from '../../state/inbox/waiting-things.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { toLength } from '../../state/text/moment.ts';
import { Icon } from '../icons.tsx';
import { neighbourOf } from './neighbour.ts';

interface ThingCardProps {
  desk: Desk;
  panel: InboxPanel;
  thing: WaitingThing;
  now: ReadonlySignal<number>;
}

const MINUTE_MS = 60_000;

/** A machine, a person, an account or a memory that waits. */
export function ThingCard({ desk, panel, thing, now }: ThingCardProps) {
  const { key, title, detail, sinceMs, place, accept, refuse } = thing;
  const busy = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const card = useRef<HTMLLIElement>(null);
  const id = `inbox-${key}`;
  const decide = (choice: NonNullable<typeof accept>) => async () => {
    const next = neighbourOf(card.current);
    if (panel.triage.isKey) panel.triage.hold({ key, words: `${choice.label}: ${title}`, act: choice.act });
    else {
      busy.value = true;
      problem.value = await choice.act();
      busy.value = false;
    }
    if (problem.value === undefined) next?.focus();
  };
  return (
    <li ref={card}>
      <article class="panel-row thing" aria-labelledby={id} tabIndex={-1}>
        <h2 id={id}>
          <Icon name="shield" />
          {title}
        </h2>
        <Waits sinceMs={sinceMs} now={now} />
        <pre class="thing-detail">{showHidden(detail)}</pre>
        <div class="decide">
          {accept && (
            <button
              type="button"
              class="primary"
              data-decision="approve"
              disabled={busy.value}
              onClick={decide(accept)}
            >
              {accept.label}
            </button>
          )}
          {refuse && (
            <button type="button" data-decision="deny" disabled={busy.value} onClick={decide(refuse)}>
              {refuse.label}
            </button>
          )}
          <button
            type="button"
            class="quiet last"
            data-decision="open"
            onClick={() => {
              desk.workstreams.shown.value = place;
            }}
          >
            Open
          </button>
        </div>
        <p class="problem" role="alert">
          {problem.value}
        </p>
      </article>
    </li>
  );
}

function Waits({ sinceMs, now }: Pick<WaitingThing, 'sinceMs'> & Pick<ThingCardProps, 'now'>) {
  const minutes = Math.floor((now.value - sinceMs) / MINUTE_MS);
  return <p class="soft">{minutes < 1 ? 'asked just now' : `waits for ${toLength(minutes * MINUTE_MS)}`}</p>;
}
