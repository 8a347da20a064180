import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { DAEMON } from '../sharing/perception.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, UnitRefused } from '../store/store.ts';
import type { Always, AlwaysEnd, AlwaysRules } from './always.ts';
import { toAlwaysColumns } from './always.ts';
import type { Workstream } from './workstream.ts';
import type { Workstreams } from './workstreams.ts';

interface AlwaysEndsDeps {
  workstreams: Pick<Workstreams, 'list'>;
  always: AlwaysRules;
  store: Pick<Store, 'commit'>;
  clock: Clock;
  log: Log;
}

/** No timer is longer, because the wall clock may jump and machines sleep. */
const MAX_NAP_MS = 60_000;
const RETRY_MS = 1_000;

/**
 * Announces the end of auto-approve in loaded workstreams, until aborted. An ended auto-approve has no effect even
 * before.
 */
export async function announceAlwaysEnds(deps: AlwaysEndsDeps, signal: AbortSignal): Promise<void> {
  const { workstreams, always: rules, clock, log } = deps;
  while (!signal.aborted) {
    const { changed } = rules; // read first, so that a later change ends the wait
    let retry = false;
    for (const workstream of workstreams.list(DAEMON)) {
      await endWhereOver(workstream, deps).catch((err: unknown) => {
        retry = true;
        log.warn({ err, wsId: workstream.data.wsId }, 'the end of auto-approve could not be stored; trying again');
      });
    }
    const given = workstreams.list(DAEMON).flatMap(({ data }) => data.always ?? []);
    const wakers = [signal, changed, ...given.flatMap(({ by }) => rules.endOf(by) ?? [])];
    const nextMs = Math.min(...given.map(({ untilMs }) => untilMs ?? Number.POSITIVE_INFINITY));
    const napMs = retry ? RETRY_MS : Math.max(0, Math.min(MAX_NAP_MS, nextMs - clock.now()));
    await clock.sleep(napMs, retry ? signal : AbortSignal.any(wakers)).catch(() => undefined); // woken early
  }
}

async function endWhereOver({ data }: Workstream, { always: rules, store }: AlwaysEndsDeps): Promise<void> {
  const { always, wsId } = data;
  const why = always && rules.whyOver(always);
  if (!why) return;
  const events = [data.settingsEvent(toAlwaysColumns(undefined)), alwaysEnded(why)];
  try {
    await store.commit({ statements: [removeAlways(wsId, always)], events: { wsId, events } });
  } catch (error) {
    if (!(error instanceof UnitRefused)) throw error; // refused: it was granted again or revoked just before
  }
  if (data.always === always) data.always = undefined;
}

/** Refused when another one is in force by now. */
const removeAlways = (wsId: string, { by, untilMs }: Always): Statement =>
  statementOf(
    build
      .updateTable('workstreams')
      .set(toAlwaysColumns(undefined))
      .where('ws_id', '=', wsId)
      .where('always_by', '=', by)
      .where('always_until_ms', untilMs === null ? 'is' : '=', untilMs),
    1,
  );

/** The notice for people when auto-approve has ended. */
export const alwaysEnded = (why: AlwaysEnd) => ({ type: 'info' as const, message: `${WHY[why]} ${FROM_NOW_ON}` });

const WHY: Record<AlwaysEnd, string> = {
  time: 'Auto-approve has expired.',
  giver:
    'Auto-approve has ended: the credential of the person who turned it on was revoked or has expired, or this person may not decide any more.',
  conversation: 'Auto-approve has ended with the conversation it was turned on in.',
};
const FROM_NOW_ON = 'Tool calls that need approval ask again.';
