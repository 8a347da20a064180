import type { StoredBackground } from '../../background/background-records.ts';
import type { EventLog } from '../../events/event-log.ts';
import type { Store } from '../../store/store.ts';
import { readOwnBudget } from '../../usage/budget-rows.ts';
import type { Budgets } from '../../usage/budgets.ts';

interface RereadDeps {
  store: Pick<Store, 'db' | 'takeLogs'>;
  events: Pick<EventLog, 'resync'>;
  budgets: Pick<Budgets, 'apply'>;
  background: { records: Pick<StoredBackground, 'lookAgain'> };
}

/** Reads again what this daemon has in memory of a workstream that it loads, because another machine may have had it meanwhile. */
export async function readAgain(wsId: string, { store, events, budgets, background }: RereadDeps): Promise<void> {
  if (!store.takeLogs) return; // no other daemon can use the store
  await Promise.all([
    store.takeLogs([wsId]).then(() => events.resync([wsId])),
    readOwnBudget(store, wsId).then((limit) => budgets.apply(wsId, limit)),
  ]);
  background.records.lookAgain(wsId);
}
