import type { verdictContracts } from '../../../../protocol/methods/admin/verdict.ts';
import type { Handlers } from '../../call.ts';
import { listVerdicts } from '../../judge/verdict-rows.ts';
import { viewerOf } from '../../sharing/perception.ts';
import type { Store } from '../../store/store.ts';

export const verdictMethods = ({ store }: { store: Pick<Store, 'db'> }): Handlers<keyof typeof verdictContracts> => ({
  'verdict.list': ({ limit = USUAL_VERDICTS, offset = 0, ...filter }, call) =>
    listVerdicts(store.db, { ...filter, limit, offset, viewer: viewerOf(call) }),
});

const USUAL_VERDICTS = 100;
