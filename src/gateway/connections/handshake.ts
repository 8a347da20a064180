import { z } from 'zod';
import type { ClosingName } from '../../../protocol/closings.ts';
import { ConnectParams } from '../../../protocol/connect.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { RequestFrame } from '../../../protocol/frames.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { parse } from '../../../protocol/parse.ts';
import type { Log } from '../../log.ts';
import { whenThere } from '../../timing/when-there.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { Principal } from '../auth/principal.ts';
import type { NodeDoor } from '../nodes/node-door.ts';
import type { UpgradeToken } from './credentials.ts';
import { readJson } from './json-text.ts';

export type HandshakeOutcome =
  /** `leave` releases what an unpaired node holds besides its connection. */
  | { kind: 'accepted'; id: string; params: ConnectParams; principal: Principal; leave?: () => void }
  /** Without an answer if there was no valid request. */
  | { kind: 'refused'; answer?: { id: string; error: GatewayError }; closing: ClosingName };

interface HandshakeContext {
  authenticator: Pick<Authenticator, 'authenticate'>;
  /** The token of the upgrade request; used when the first frame has none. */
  upgrade: UpgradeToken;
  nodes: NodeDoor;
  address: string;
  hasOrigin: boolean;
  log: Pick<Log, 'error'>;
}

/**
 * Checks the first frame of a connection. Returns a promise only if the credential cannot be checked at once. Never
 * throws: an unforeseen error refuses the client.
 */
export function shakeHands(text: string | undefined, context: HandshakeContext): Outcome {
  const failed = (error: unknown): HandshakeOutcome => {
    context.log.error({ err: error }, 'a handshake failed');
    return { kind: 'refused', closing: 'handshake_failed' };
  };
  try {
    const outcome = examine(text, context);
    return outcome instanceof Promise ? outcome.catch(failed) : outcome;
  } catch (error) {
    return failed(error);
  }
}

type Outcome = HandshakeOutcome | Promise<HandshakeOutcome>;

/** The order of the checks is part of the protocol. */
function examine(text: string | undefined, context: HandshakeContext): Outcome {
  const json = readJson(text);
  if (json.kind === 'unreadable') return { kind: 'refused', closing: 'no_handshake' };
  const frame = RequestFrame.safeParse(json.kind === 'read' ? json.value : undefined);
  if (!frame.success) return { kind: 'refused', closing: 'invalid_handshake' };
  const { id, method } = frame.data;
  const refuse = (error: GatewayError, closing: ClosingName) =>
    ({ kind: 'refused', answer: { id, error }, closing }) as const;

  if (method !== 'connect') {
    const message = 'invalid handshake: first request must be connect';
    return refuse(new GatewayError('INVALID_REQUEST', message), 'invalid_handshake');
  }
  const params = paramsOf(frame.data.params);
  // First, because other versions have other params, and errors about those would be misleading.
  if (isOtherProtocol(params, frame.data.params)) {
    const details = { expectedProtocol: LIMITS.protocolVersion };
    const error = new GatewayError('INVALID_REQUEST', 'protocol mismatch', { details });
    return refuse(error, 'protocol_mismatch');
  }
  if (params instanceof GatewayError) return refuse(params, 'invalid_handshake');
  const own = params.auth?.token;
  const { token, via }: UpgradeToken = own === undefined ? context.upgrade : { token: own, via: 'bearer' };
  if (params.client.mode === 'node') {
    // Checked whatever the credential may do: a client that calls itself a node never gets more rights than that node.
    const { address, hasOrigin } = context;
    const admission = context.nodes.admit({ client: params.client, token, address, hasOrigin });
    if (admission.kind === 'refused') return refuse(admission.error, admission.closing);
    return { ...admission, kind: 'accepted', id, params };
  }
  return whenThere(context.authenticator.authenticate(token, via), (principal): HandshakeOutcome => {
    if (!principal) return refuse(new GatewayError('UNAUTHORIZED', 'unauthorized'), 'unauthorized');
    return { kind: 'accepted', id, params, principal };
  });
}

/** Only the version range; all other fields are ignored. */
const ProtocolRange = z.object({
  minProtocol: ConnectParams.shape.minProtocol,
  maxProtocol: ConnectParams.shape.maxProtocol,
});

/** Whether the client has a valid version range that excludes ours. A range can be valid in params that are not. */
function isOtherProtocol(params: ConnectParams | GatewayError, raw: unknown): boolean {
  const range = params instanceof GatewayError ? ProtocolRange.safeParse(raw).data : params;
  const { protocolVersion } = LIMITS;
  return range !== undefined && (range.maxProtocol < protocolVersion || range.minProtocol > protocolVersion);
}

function paramsOf(value: unknown): ConnectParams | GatewayError {
  try {
    return parse(ConnectParams, value === undefined ? {} : value, 'connect params');
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}
