import type { usageContracts } from '../../../protocol/methods/usage.ts';
import type { Handlers } from '../call.ts';
import type { Store } from '../store/store.ts';
import { readUsage } from '../usage/usage-rows.ts';

export const usageMethods = ({ store }: { store: Pick<Store, 'db'> }): Handlers<keyof typeof usageContracts> => ({
  'usage.get': async ({ by = 'day', from, to, wsId }) => ({ rows: await readUsage(store, by, { from, to, wsId }) }),
});
