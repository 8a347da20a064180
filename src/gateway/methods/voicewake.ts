import type { z } from 'zod';
import type { VoiceWake, voicewakeContracts } from '../../../protocol/methods/voicewake.ts';
import type { Handlers } from '../call.ts';
import type { Broadcast } from '../connections/broadcast.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Store } from '../store/store.ts';

interface VoiceWakeMethodDeps {
  store: Pick<Store, 'db' | 'commit'>;
  broadcast: Pick<Broadcast, 'publish'>;
}

const KEY = 'voicewake';
const USUAL = ['headgate', 'computer'];

export const voicewakeMethods = ({
  store,
  broadcast,
}: VoiceWakeMethodDeps): Handlers<keyof typeof voicewakeContracts> => ({
  'voicewake.get': () => read(store),
  'voicewake.set': async ({ triggers }) => {
    const words = [...new Set(triggers.map((word) => word.trim()).filter((word) => word !== ''))];
    const set = { triggers: words.length > 0 ? words : USUAL };
    const value = JSON.stringify(set.triggers);
    const upsert = build.insertInto('meta').values({ key: KEY, value });
    const row = upsert.onConflict((conflict) => conflict.column('key').doUpdateSet({ value }));
    await store.commit({ statements: [statementOf(row)] });
    broadcast.publish('voicewake.changed', set);
    return set;
  },
});

async function read({ db }: Pick<Store, 'db'>): Promise<z.infer<typeof VoiceWake>> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', KEY).executeTakeFirst();
  return { triggers: row === undefined ? USUAL : JSON.parse(row.value) };
}
