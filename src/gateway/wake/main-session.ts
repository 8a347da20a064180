import { isRecord } from '../../../protocol/is-record.ts';
import type { ReadTaint } from '../../agent/run/approval/taint.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { MainEventTable } from '../store/schema/cron-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, tookEffect } from '../store/store.ts';
import { isText, type ReadStored, storedReader } from '../store/stored-value.ts';
import type { Heartbeats } from './heartbeats.ts';
import type { NewSystemEvent, SystemEvents } from './system-events.ts';

/** How jobs reach the main session, which is with the active daemon. */
export interface MainSession {
  /**
   * Gives it an event, and a turn if the event wants one. Stored, together with `also`, when it resolves; rejects with
   * UnitRefused when `also` is refused. A worker leaves the event for the active daemon.
   */
  tell(text: string, from: NewSystemEvent): Promise<void>;
  /** Queues the events that workers have left. */
  takeLeft(): Promise<void>;
}

interface MainSessionDeps {
  store: Pick<Store, 'db' | 'commit' | 'machine' | 'reportDamage'>;
  systemEvents: Pick<SystemEvents, 'add'>;
  heartbeats: Pick<Heartbeats, 'wake'>;
  ids: Pick<Ids, 'id'>;
  clock: Pick<Clock, 'now'>;
}

export const createMainSession = (deps: MainSessionDeps): MainSession =>
  deps.store.machine === null ? ofActive(deps) : ofWorker(deps);

function ofActive({ store, systemEvents, heartbeats }: MainSessionDeps): MainSession {
  const read = storedReader(store);
  let taking: Promise<unknown> = Promise.resolve();

  async function tell(text: string, from: NewSystemEvent): Promise<void> {
    await systemEvents.add(text, from);
    if (from.wakes !== undefined) heartbeats.wake(from.wakes);
  }

  async function takeAll(): Promise<void> {
    const left = store.db.selectFrom('main_events').selectAll().orderBy('created_ms').orderBy('event_id');
    for (const row of await left.execute()) await tookEffect(tell(row.text, fromOf(row, read)));
  }

  return {
    tell,
    takeLeft() {
      // One at a time, so that none is read by two.
      const taken = taking.then(takeAll);
      taking = taken.catch(() => undefined); // whoever asked gets the error
      return taken;
    },
  };
}

/** Its deletion is committed with it, so that it is queued once. */
const fromOf = ({ event_id, rights, taint_json, wakes }: MainEventTable, read: ReadStored): NewSystemEvent => ({
  rights,
  taint: taint_json === null ? undefined : (read(taint_json, 'an event for the main session', isTaint) ?? UNKNOWN),
  ...(wakes !== null && { wakes }),
  also: [statementOf(build.deleteFrom('main_events').where('event_id', '=', event_id), 1)],
});

const isTaint = (value: unknown): value is ReadTaint => isRecord(value) && isText(value.kind);

/** Nobody knows what it was made from. */
const UNKNOWN: ReadTaint = { kind: 'summary' };

const ofWorker = ({ store, ids, clock }: MainSessionDeps): MainSession => ({
  async tell(text, { rights, taint, wakes, also = [] }) {
    const row: MainEventTable = {
      event_id: ids.id('event'),
      text,
      rights,
      taint_json: taint ? JSON.stringify(taint) : null,
      wakes: wakes ?? null,
      created_ms: clock.now(),
    };
    const leave: Statement = statementOf(build.insertInto('main_events').values(row), 1);
    await store.commit({ statements: [...also, leave], durable: true });
  },
  takeLeft: async () => undefined,
});
