import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const PATH = '/v1/api/channels/{channel}/webhook';
const Channel = z.object({ channel: z.string() });
const UNKNOWN = { 404: 'This channel is not set up for calls' } as const;

/** Where chat services call the daemon (HTTP.md, "Calls of chat services"). */
export const channelHookEndpoints = {
  verify: endpoint({
    verb: 'get',
    path: PATH,
    summary: 'A chat service verifies the address: the answer is `hub.challenge` if `hub.verify_token` is right.',
    scope: 'public',
    request: () => Channel,
    reply: () => z.string(),
    answers: 'text',
    errors: { 403: 'The token is wrong', ...UNKNOWN },
  }),
  receive: endpoint({
    verb: 'post',
    path: PATH,
    summary: 'A chat service delivers messages, signed by a secret of the channel. 200: they are stored.',
    scope: 'public',
    bodyBytes: 3 * 1024 * 1024,
    request: () => Channel,
    reply: () => z.object({ status: z.literal('ok') }),
    errors: { 403: 'The signature is wrong', 413: 'Request body too large', ...UNKNOWN },
  }),
};
