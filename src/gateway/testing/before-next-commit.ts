import type { Store } from '../store/store.ts';

/** Does something between the reading and the next commit of others, such as a change that they meet. */
export function beforeNextCommit(store: Pick<Store, 'commit'>, work: () => Promise<unknown>): void {
  const commit = store.commit.bind(store);
  store.commit = async (unit) => {
    store.commit = commit;
    await work();
    return commit(unit);
  };
}
