import type { Signal } from '@preact/signals';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import type { App, Desk } from '../app.ts';
import type { Arrival } from '../consents/arrival.ts';
import type { AskedApproval, Inbox } from './inbox.ts';
import { Triage } from './triage.ts';
import { type WaitingThing, WaitingThings } from './waiting-things.ts';

/** What the inbox shows besides its questions. */
export interface InboxPanel {
  triage: Triage;
  things: WaitingThings;
}

/** So many are drawn at once: each measures how much of its calls fits. */
export const DRAWN_AT_ONCE = 20;

const opened = new WeakMap<Desk, InboxPanel>();

/** That of a desk, made when it is first shown. */
export function inboxPanelOf(app: Pick<App, 'rights'>, desk: Desk): InboxPanel {
  const panel = opened.get(desk) ?? { triage: new Triage(systemTimers), things: new WaitingThings(desk, app.rights) };
  opened.set(desk, panel);
  return panel;
}

export type Entry = { key: string; atMs: number } & ({ asked: AskedApproval } | { thing: WaitingThing });

/** Everything that waits, the oldest first, without what is being decided. */
export function toEntries(
  questions: readonly AskedApproval[],
  things: readonly WaitingThing[],
  heldKey: string | undefined,
): Entry[] {
  const all: Entry[] = [
    ...questions.map((asked) => ({ key: asked.approvalId, atMs: asked.askedAtMs, asked })),
    ...things.map((thing) => ({ key: thing.key, atMs: thing.sinceMs, thing })),
  ];
  return all.filter(({ key }) => key !== heldKey).toSorted((a, b) => a.atMs - b.atMs);
}

/** A notification leads to its entry. */
interface Way {
  arrival: Pick<Arrival, 'question' | 'endQuestion'>;
  /** How many entries are drawn. */
  drawn: Signal<number>;
  /** Returns false while the card is not drawn. */
  focus(key: string): boolean;
}

/** Called after each time that the entries were drawn. An entry far below is drawn first, and then gets the focus. */
export function goToAsked({ arrival, drawn, focus }: Way, entries: readonly Entry[]): void {
  const id = arrival.question.peek();
  if (id === undefined) return;
  const needed = entries.findIndex(({ key }) => key === id) + 1;
  if (needed > drawn.peek()) drawn.value = needed;
  else if (id === '' || focus(id)) arrival.endQuestion();
}

/** What is read may be older than the notification, so it is read again before the entry counts as decided. */
export async function readAsked(
  arrival: Way['arrival'],
  { inbox, things }: { inbox: Pick<Inbox, 'read' | 'reading' | 'waiting'>; things: ReadThings },
): Promise<void> {
  const id = arrival.question.peek();
  if (id === undefined) return;
  await Promise.all([inbox.read(), things.read()]);
  const isRead = [inbox.reading, ...things.readings].every(
    ({ isReading, isWaiting, problem }) => !isReading.peek() && !isWaiting.peek() && problem.peek() === undefined,
  );
  const keys = toEntries(inbox.waiting.peek() ?? [], things.all.peek(), undefined).map(({ key }) => key);
  if (isRead && !keys.includes(id) && arrival.question.peek() === id) arrival.endQuestion();
}

type ReadThings = Pick<WaitingThings, 'read' | 'readings' | 'all'>;
