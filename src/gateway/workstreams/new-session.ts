import { readJobName } from '../cron/job-session.ts';
import type { Store } from '../store/store.ts';
import { kindOfKey, MAIN } from './session-keys.ts';

type NewSession = { sessionKey: string; generatedName?: string; alias?: string };

/** What a session is made with that is asked for by this key and not there yet; undefined: none can be made. */
export async function nameNewSession(key: string, store: Pick<Store, 'db'>): Promise<NewSession | undefined> {
  if (key === MAIN) return { sessionKey: MAIN };
  if (kindOfKey(key) === 'alias') return { sessionKey: key, alias: key };
  const jobName = await readJobName(store, key);
  return jobName === undefined ? undefined : { sessionKey: key, generatedName: jobName };
}
