import { GatewayError } from '../../../../protocol/errors.ts';
import { channelHookEndpoints } from '../../../../protocol/http/channels/channel-hook.ts';
import type { ChannelHook, FindHook } from '../../../gateway/channels/channel-hook.ts';
import { type Exchange, json, type Respond } from '../../exchange.ts';
import type { Guarded } from '../../guard.ts';
import { readBytes } from '../../input/body.ts';
import type { AdmitBody } from '../../input/large-bodies.ts';

interface ChannelHookDeps {
  findHook: FindHook;
  admitBody: AdmitBody;
  respond: Respond;
}

/** Chat services sign the bytes of a body, so these endpoints hand them to the channel as they arrived. */
export function channelHookRoutes({ findHook, admitBody, respond }: ChannelHookDeps): Guarded[] {
  const { verify, receive } = channelHookEndpoints;
  return [
    {
      endpoint: verify,
      async work(exchange) {
        const hook = await hookOf(exchange, findHook);
        const challenge = hook.verify?.(new URLSearchParams(exchange.query));
        if (challenge === undefined) throw new GatewayError('FORBIDDEN', 'The verification is not right');
        respond(exchange, { status: 200, contentType: 'text/plain; charset=utf-8', headers: ANSWER, body: challenge });
      },
    },
    {
      endpoint: receive,
      async work(exchange) {
        const { req, res } = exchange;
        const hook = await hookOf(exchange, findHook);
        admitBody(req, res);
        const body = await readBytes(req, hook.maxBytes);
        if (!(await hook.receive({ headers: req.headers, body })))
          throw new GatewayError('FORBIDDEN', 'The signature is not right');
        respond(exchange, json(200, { status: 'ok' }));
      },
    },
  ];
}

/** A browser must not take the challenge, which comes from the request, for a page. */
const ANSWER = { 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' };

async function hookOf({ fields }: Exchange, findHook: FindHook): Promise<ChannelHook> {
  const hook = await findHook(fields.channel ?? '');
  if (!hook) throw new GatewayError('NOT_FOUND', 'This channel is not set up for calls');
  return hook;
}
