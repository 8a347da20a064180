import { systemTimers } from '../../../../protocol/client/timers.ts';
import type { App, Desk } from '../app.ts';
import type { AskedApproval } from './inbox.ts';
import { Triage } from './triage.ts';
import { type WaitingThing, WaitingThings } from './waiting-things.ts';

/** What the inbox shows besides its questions. */
export interface InboxPanel {
  triage: Triage;
  things: WaitingThings;
}

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
