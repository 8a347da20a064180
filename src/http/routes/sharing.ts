import { sharingEndpoints } from '../../../protocol/http/sharing.ts';
import { bind } from '../bind.ts';

export const sharingRoutes = [
  bind(sharingEndpoints.share, 'workstream.share', {
    params: ({ ws_id, visibility, user_id }) => ({
      wsId: ws_id,
      visibility: visibility ?? undefined,
      userId: user_id ?? undefined,
    }),
    reply: ({ wsId, userId, visibility }) => ({ ws_id: wsId, user_id: userId, visibility }),
  }),
];
