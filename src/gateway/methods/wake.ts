import type { z } from 'zod';
import type { VoiceWake, wakeContracts } from '../../../protocol/methods/wake.ts';
import type { Handlers } from '../call.ts';
import { callerOf } from '../caller.ts';
import type { Broadcast } from '../connections/broadcast.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Store } from '../store/store.ts';
import { isListOf, isText, storedReader } from '../store/stored-value.ts';
import type { Heartbeats } from '../wake/heartbeats.ts';
import type { SystemEvents } from '../wake/system-events.ts';

interface WakeMethodDeps {
  systemEvents: Pick<SystemEvents, 'add'>;
  heartbeats: Pick<Heartbeats, 'wake' | 'last' | 'setEnabled'>;
  store: Pick<Store, 'db' | 'commit' | 'reportDamage'>;
  broadcast: Pick<Broadcast, 'publish'>;
}

const KEY = 'voicewake';
const USUAL = ['headgate', 'computer'];

export const wakeMethods = ({
  systemEvents,
  heartbeats,
  store,
  broadcast,
}: WakeMethodDeps): Handlers<keyof typeof wakeContracts> => ({
  wake: async ({ mode, text }, call) => {
    if (text.trim() === '') return { ok: false };
    const { principal: wakes, rights } = callerOf(call);
    await systemEvents.add(text.trim(), { rights, ...(mode === 'now' && { wakes }) });
    if (mode === 'now') heartbeats.wake(wakes);
    return { ok: true };
  },
  'last-heartbeat': () => heartbeats.last,
  'set-heartbeats': async ({ enabled }, call) => {
    await store.commit({ statements: call.audited({ enabled }) });
    heartbeats.setEnabled(enabled);
    return { ok: true, enabled };
  },
  'voicewake.get': () => read(store),
  'voicewake.set': async ({ triggers }, call) => {
    const words = [...new Set(triggers.map((word) => word.trim()).filter((word) => word !== ''))];
    const set = { triggers: words.length > 0 ? words : USUAL };
    const value = JSON.stringify(set.triggers);
    const upsert = build.insertInto('meta').values({ key: KEY, value });
    const row = upsert.onConflict((conflict) => conflict.column('key').doUpdateSet({ value }));
    await store.commit({ statements: [statementOf(row), ...call.audited(set)] });
    broadcast.publish('voicewake.changed', set);
    return set;
  },
});

async function read(store: Pick<Store, 'db' | 'reportDamage'>): Promise<z.infer<typeof VoiceWake>> {
  const row = await store.db.selectFrom('meta').select('value').where('key', '=', KEY).executeTakeFirst();
  const triggers = row && storedReader(store)(row.value, 'the list of wake words', isListOf(isText));
  return { triggers: triggers ?? USUAL };
}
