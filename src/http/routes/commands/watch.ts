import { watchEndpoints } from '../../../../protocol/http/commands/watch.ts';
import { bind } from '../../bind.ts';

export const watchRoutes = [
  bind(watchEndpoints.list, 'watch.list', {
    params: ({ ws_id }) => ({ wsId: ws_id, here: true }),
    reply: ({ watches }) => ({ watches }),
  }),
  bind(watchEndpoints.cancel, 'watch.cancel', {
    params: ({ watch_id }) => ({ watchId: watch_id, here: true }),
    fieldNames: { watchId: 'watch_id' },
    reply: ({ watch }) => ({ status: 'ok' as const, watch_id: watch.watch_id }),
  }),
  bind(watchEndpoints.all, 'watch.admin.list', {
    params: ({ ws_id, limit }) => ({ wsId: ws_id, limit }),
    reply: ({ watches }) => ({ watches }),
  }),
];
