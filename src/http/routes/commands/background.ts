import { backgroundEndpoints } from '../../../../protocol/http/commands/background.ts';
import { bind } from '../../bind.ts';

export const backgroundRoutes = [
  bind(backgroundEndpoints.list, 'background.list', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ commands }) => ({ commands }),
  }),
  bind(backgroundEndpoints.output, 'background.output', {
    params: ({ ws_id, command_id, offset, limit }) => ({ wsId: ws_id, commandId: command_id, offset, limit }),
    fieldNames: { commandId: 'command_id' },
    reply: ({ command, text, offset, totalBytes }) => ({ command, text, offset, total_bytes: totalBytes }),
  }),
  bind(backgroundEndpoints.kill, 'background.kill', {
    params: ({ ws_id, command_id }) => ({ wsId: ws_id, commandId: command_id }),
    fieldNames: { commandId: 'command_id' },
    reply: ({ killed, command }) => ({ status: 'ok' as const, killed, command }),
  }),
];
