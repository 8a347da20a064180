import { GatewayError } from '../../../protocol/errors.ts';
import { RequestFrame } from '../../../protocol/frames.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { ConnectParams } from '../../../protocol/methods/connect.ts';
import { parse } from '../../../protocol/parse.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { Principal } from '../call.ts';
import { readJson } from './json-text.ts';

/** Why a socket is closed, as its client reads it. */
export interface Closing {
  code: number;
  reason: string;
}

export type HandshakeOutcome =
  | { kind: 'accepted'; id: string; params: ConnectParams; principal: Principal }
  /** Without an answer where there is no request to answer. */
  | { kind: 'refused'; answer?: { id: string; error: GatewayError }; closing: Closing };

interface HandshakeContext {
  authenticator: Pick<Authenticator, 'authenticate'>;
  /** What the upgrade request carried; counts when the client gives no token in its first frame. */
  upgradeToken: string | undefined;
}

const INVALID: Closing = { code: 1008, reason: 'invalid handshake' };

/** Judges the first frame of a connection. The order of the checks is part of the protocol. */
export async function shakeHands(
  text: string | undefined,
  { authenticator, upgradeToken }: HandshakeContext,
): Promise<HandshakeOutcome> {
  const json = readJson(text);
  if (json.kind === 'unreadable') return { kind: 'refused', closing: { code: 1000, reason: '' } };
  const frame = RequestFrame.safeParse(json.kind === 'read' ? json.value : undefined);
  if (!frame.success) return { kind: 'refused', closing: INVALID };
  const { id, method } = frame.data;
  const refuse = (error: GatewayError, closing: Closing) =>
    ({ kind: 'refused', answer: { id, error }, closing }) as const;

  if (method !== 'connect') {
    const message = 'invalid handshake: first request must be connect';
    return refuse(new GatewayError('INVALID_REQUEST', message), INVALID);
  }
  const params = paramsOf(frame.data.params);
  if (params instanceof GatewayError) return refuse(params, INVALID);
  const { protocolVersion } = LIMITS;
  if (params.maxProtocol < protocolVersion || params.minProtocol > protocolVersion) {
    const details = { expectedProtocol: protocolVersion };
    const error = new GatewayError('INVALID_REQUEST', 'protocol mismatch', { details });
    return refuse(error, { code: 1002, reason: 'protocol mismatch' });
  }
  const principal = await authenticator.authenticate(params.auth?.token ?? upgradeToken);
  if (!principal) return refuse(new GatewayError('UNAUTHORIZED', 'unauthorized'), UNAUTHORIZED);
  return { kind: 'accepted', id, params, principal };
}

export const UNAUTHORIZED: Closing = { code: 1008, reason: 'unauthorized' };

function paramsOf(value: unknown): ConnectParams | GatewayError {
  try {
    return parse(ConnectParams, value === undefined ? {} : value, 'connect params');
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}
