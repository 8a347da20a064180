import type { DaemonStore } from '../../gateway/store/daemon-store.ts';
import { UPSERT_META } from '../../gateway/store/store-identity.ts';

/** A text for all daemons of a store; undefined if no other one can use it. */
export const sharedText = ({ shared, db, commit }: DaemonStore, key: string) =>
  shared && {
    async read(): Promise<string | undefined> {
      const row = await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst();
      return row?.value;
    },
    async write(text: string): Promise<void> {
      await commit({ statements: [{ sql: UPSERT_META, parameters: [key, text] }] });
    },
  };
